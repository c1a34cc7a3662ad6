"""Who may do what in a turn: nothing that changes anything; a look-up where the owner says so."""

from collections.abc import Awaitable, Callable, Sequence

from silas.approval import ApprovalDecision, ApprovalVerdict, ApprovalVerifier, Verdict
from silas.tools import ToolRegistry, ValidatedCall
from silas.tools.pending_call import PendingCall
from silas.tools.provenance import Provenance
from silas.work.authority.call_tokens import CallTokens
from silas.work.models import CallQuestion, doubts_of

AskLookUps = Callable[[Sequence[CallQuestion]], Awaitable[Sequence[ApprovalDecision]]]
"""Shows one card for the look-ups that an answer needs, and brings the decisions back."""


class TurnAuthority:
    """The authority of one role in one turn.

    What changes something needs a plan (spec 7.1, 7.2) and is refused unasked, because a turn has
    none and a text that was read in it may want it badly. A look-up that would carry words of such
    a text out of the machine is asked about.

    Args:
        registry: Says of a call whether it only looks something up.
        ask: Asks the owner.
    """

    def __init__(
        self,
        task_id: str,
        approval: ApprovalVerifier,
        registry: ToolRegistry,
        provenance: Provenance,
        ask: AskLookUps,
    ) -> None:
        self._tokens = CallTokens(approval, task_id)
        self._registry = registry
        self._provenance = provenance
        self._ask = ask

    async def authorise(self, call: ValidatedCall) -> Verdict:
        """Whether the owner allowed this very look-up; spends that."""
        if not self._looks_up(call):
            words = f"a turn has no approval for {call.tool_name}; what acts needs a plan"
            return Verdict(False, words, "E_APPROVAL_MISSING")
        return await self._tokens.spend(call)

    async def ask(self, asked: Sequence[PendingCall]) -> list[bool]:
        """Ask about the look-ups among the calls; everything else is a no."""
        questions = [
            CallQuestion(*one, doubts=doubts_of(self._provenance, one.call))
            for one in asked
            if self._looks_up(one.call)
        ]
        decisions = await self._ask(questions) if questions else ()
        answered = {
            question.call.digest: decision
            for question, decision in zip(questions, decisions, strict=True)
        }
        return [
            one.call.digest in answered
            and await self._tokens.keep(one.call, answered[one.call.digest])
            for one in asked
        ]

    def _looks_up(self, call: ValidatedCall) -> bool:
        known = self._registry.get(call.tool_name)
        if known is None or known.tool.requires_authority:
            return False
        try:
            return not known.tool.facts(call.action, call.args).state_changing
        except Exception:  # a tool may be anybody's code; what it cannot say it does not only read
            return False


async def nobody(questions: Sequence[CallQuestion]) -> list[ApprovalDecision]:
    """Where nobody may be asked: every answer is a no."""
    return [ApprovalDecision(verdict=ApprovalVerdict.declined) for _ in questions]
