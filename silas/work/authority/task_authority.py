"""Who may do what inside one task: its plan token, its grants, and tokens for single calls."""

from collections.abc import Sequence

from silas.approval import (
    ApprovalVerifier,
    Verdict,
)
from silas.plans import WorkItem
from silas.plans.binding import PlanBinding
from silas.tools import FILE_TOOL_NAMES, ValidatedCall
from silas.tools.pending_call import PendingCall
from silas.tools.refusals import OUTSIDE_PLAN
from silas.work.authority.call_tokens import CallTokens
from silas.work.authority.grant_uses import GrantCoverage, RunGrants
from silas.work.authority.plan_approval import check_plan
from silas.work.models import AskCalls, CallQuestion, UntrustedArgument, doubts_of

PLAN_TOOLS = frozenset({"shell_exec", "python_exec", *FILE_TOOL_NAMES})
"""What a plan without grants authorises: sandboxed work on a private copy, no more. What of it
reaches the owner's files is decided when it is applied (`silas/work/changes/held_rules.py`).
"""

WORKER_TOOLS = frozenset({"delegate"})
"""What a plan that names a worker authorises besides: others do the same kind of work, each call of
theirs approved by itself.
"""


class TaskAuthority:
    """Answers the tool door's question: is exactly this call approved?

    Nothing is remembered as allowed: each answer re-checks the signed token against the item as it
    is now, and what the token binds against what is there now, so a plan, path, skill or limit
    changed while it runs authorises nothing more.
    """

    def __init__(
        self,
        item: WorkItem,
        approval: ApprovalVerifier,
        binding: PlanBinding,
        copied: tuple[int, int] | None,
        grants: RunGrants,
        ask: AskCalls,
    ) -> None:
        """Wire the authority of one attempt; `copied` is the directory that the work copied."""
        self._item = item
        self._approval = approval
        self._binding = binding
        self._copied = copied
        self._grants = grants
        self._ask = ask
        self._tokens = CallTokens(approval, item.id)

    async def authorise(self, call: ValidatedCall) -> Verdict:
        """Whether a signed approval covers these validated arguments; spends single-call tokens."""
        if self._tokens.holds(call):
            return await self.authorise_alone(call)
        covered = self._grants.covering(call)
        if _beside_the_plan(call, covered):
            return self._decide_uncovered(call, covered.reason)
        verdict = await check_plan(self._item, self._approval)
        verdict = verdict and await self._check_binding()
        return verdict._replace(use=covered.use) if verdict else verdict

    async def authorise_alone(self, call: ValidatedCall) -> Verdict:
        """Whether the owner approved this very call, beside the plan; spends that approval."""
        verdict = await self._check_binding()
        if not verdict:
            return verdict
        covered = self._grants.covering(call)
        if not self._tokens.holds(call) and _beside_the_plan(call, covered):
            return self._decide_uncovered(call, covered.reason)
        verdict = await self._tokens.spend(call)
        return verdict._replace(use=covered.use) if verdict else verdict

    def _decide_uncovered(self, call: ValidatedCall, reason: str) -> Verdict:
        """A call beside the plan is asked about, unless the plan says what may be called and
        nobody but the model, or a text from outside, asked for this (decision D84).
        """
        derived = self._grants.provenance.derive(call.tool_name, call.args)
        if self._grants and (derived.unproved_leaves or not derived.leaves):
            what = derived.unproved_leaves[0].path if derived.unproved_leaves else "wish"
            return Verdict(
                False,
                f"The approved plan leaves this call out ({reason}), and its {what} is neither the "
                "owner's nor the plan's. Nobody was asked; do without it.",
                OUTSIDE_PLAN,
            )
        return Verdict(False, reason, "E_APPROVAL_NOT_COVERED")

    async def ask(self, asked: Sequence[PendingCall]) -> list[bool]:
        """Ask the owner about calls; a yes becomes a token for exactly these arguments.

        Nobody is asked where the plan itself may not go on.
        """
        if not await self._check_binding():
            return [False for _ in asked]
        questions = [CallQuestion(*one, doubts=self._doubts(one.call)) for one in asked]
        decisions = await self._ask(self._item, questions)
        return [
            await self._tokens.keep(one.call, decision)
            for one, decision in zip(asked, decisions, strict=True)
        ]

    def _doubts(self, call: ValidatedCall) -> tuple[UntrustedArgument, ...]:
        return doubts_of(self._grants.provenance, call)

    async def _check_binding(self) -> Verdict:
        return await self._binding.check(self._item, self._copied)


def _beside_the_plan(call: ValidatedCall, covered: GrantCoverage) -> bool:
    """Whether the plan covers a call neither by a grant nor as sandboxed work."""
    if call.tool_name in WORKER_TOOLS:
        return False
    return call.tool_name not in PLAN_TOOLS and not covered.use
