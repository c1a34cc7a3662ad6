"""Who may do what inside one task: its plan token, and tokens for single calls (table C)."""

from silas.approval import (
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    ApprovalVerifier,
    Verdict,
)
from silas.errors import ApprovalError
from silas.plans import WorkItem, subject_of
from silas.plans.binding import PlanBinding
from silas.tools import RiskLevel, ValidatedCall, call_subject
from silas.work.models import AskCall

PLAN_TOOLS = frozenset({"shell_exec", "python_exec"})
"""What a plan without grants authorises: sandboxed work inside its own workspace, no more."""


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
        ask: AskCall,
    ) -> None:
        """Wire the authority of one attempt; `copied` is the directory that the work copied."""
        self._item = item
        self._approval = approval
        self._binding = binding
        self._copied = copied
        self._ask = ask
        self._held: dict[str, ApprovalToken] = {}

    async def authorise(self, call: ValidatedCall) -> Verdict:
        """Whether a signed approval covers these validated arguments; spends single-call tokens."""
        if call.digest in self._held:
            return await self.authorise_alone(call)
        if call.tool_name not in PLAN_TOOLS:
            return Verdict(
                False, f"the plan does not cover {call.tool_name}", "E_APPROVAL_NOT_COVERED"
            )
        if self._item.approval_token is None:
            return Verdict(False, "the plan is not approved", "E_APPROVAL_MISSING")
        verdict = await self._approval.check(self._item.approval_token, subject_of(self._item))
        return verdict and await self._bound()

    async def authorise_alone(self, call: ValidatedCall) -> Verdict:
        """Whether the owner approved this very call, beside the plan; spends that approval."""
        verdict = await self._bound()
        if not verdict:
            return verdict
        token = self._held.pop(call.digest, None)
        if token is None:
            return Verdict(False, "a gate asks for this call by itself", "E_APPROVAL_NOT_COVERED")
        return await self._approval.verify(token, call_subject(call, self._item.id))

    async def ask(self, call: ValidatedCall, risk: RiskLevel) -> bool:
        """Ask the owner about one call; a yes becomes a token for exactly these arguments.

        Nobody is asked where the plan itself may not go on.
        """
        if not await self._bound():
            return False
        decision = await self._ask(self._item, call, risk)
        if decision.verdict is not ApprovalVerdict.approved:
            return False
        try:
            self._held[call.digest] = await self._approval.issue_token(
                call_subject(call, self._item.id), decision, scope=ApprovalScope.tool_type
            )
        except ApprovalError:
            return False
        return True

    async def _bound(self) -> Verdict:
        return await self._binding.check(self._item, self._copied)
