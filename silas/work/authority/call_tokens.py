"""Approvals of single calls: asked for one by one, good for exactly those arguments, once."""

from silas.approval import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    ApprovalVerifier,
    Verdict,
)
from silas.errors import ApprovalError
from silas.tools import ValidatedCall, call_subject


class CallTokens:
    """The approvals of single calls within one task, by the digest of the call."""

    def __init__(self, approval: ApprovalVerifier, task_id: str) -> None:
        self._approval = approval
        self._task_id = task_id
        self._held: dict[str, ApprovalToken] = {}

    def holds(self, call: ValidatedCall) -> bool:
        """Whether this very call was approved and not made since."""
        return call.digest in self._held

    async def keep(self, call: ValidatedCall, decision: ApprovalDecision) -> bool:
        """Sign the owner's decision; whether it was a yes that could be signed."""
        if decision.verdict is not ApprovalVerdict.approved:
            return False
        subject = call_subject(call, self._task_id)
        try:
            self._held[call.digest] = await self._approval.issue_token(
                subject, decision, scope=ApprovalScope.tool_type
            )
        except ApprovalError:
            return False
        return True

    async def spend(self, call: ValidatedCall) -> Verdict:
        """Use up the approval of this call; whether there was one and it holds."""
        token = self._held.pop(call.digest, None)
        if token is None:
            return Verdict(False, "it has to be looked at by itself", "E_APPROVAL_NOT_COVERED")
        return await self._approval.verify(token, call_subject(call, self._task_id))
