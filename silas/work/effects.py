"""Effects that must not be repeated without the owner: calls of tools that do not repeat safely.

A resumed item begins a new attempt, whose calls have steps, and so idempotency keys, of their own.
For what stays inside the private copy that is harmless: the new attempt begins on a fresh one. For
all else the journal is asked here, before anything begins (decision B4).
"""

from silas.plans import WorkItem
from silas.tools import SANDBOX_SCOPE, ToolRegistry
from silas.tools.outcomes import OutcomeRecord, OutcomeStatus, OutcomeStore
from silas.work.authority.grant_uses import under_grant


class Effects:
    """What an item has done outside its private copy, as far as the journal knows."""

    def __init__(self, outcomes: OutcomeStore, registry: ToolRegistry) -> None:
        self._outcomes = outcomes
        self._registry = registry

    def refuse(self, item: WorkItem) -> str:
        """Why this item may not begin; empty where it may.

        A call of unknown outcome blocks its work under every approval, until the owner has said
        what became of it. A call that happened blocks only the work that was interrupted after it:
        a new approval of the plan approves its effects anew.
        """
        calls = self._outward(self._outcomes.calls_of(item.id), item)
        unknown = self.list_unknown(item)
        if unknown:
            return (
                f"Whether its earlier call of {unknown[0].tool_name} took effect is unknown. See "
                "what happened, and say so: `silas calls`."
            )
        if item.attempts == 0 or item.approval_token is None:
            return ""
        since = item.approval_token.issued_at
        happened = [
            call
            for call in calls
            if call.status is OutcomeStatus.succeeded
            and call.attempted_at >= since
            and not under_grant(item, call)
        ]
        if happened:
            return (
                f"It was interrupted after its call of {happened[0].tool_name} took effect, and "
                "going on could repeat that. Approve the plan again if that is what you want."
            )
        return ""

    def list_unknown(self, item: WorkItem) -> list[OutcomeRecord]:
        """The calls of an item that only the owner can settle, the oldest first."""
        calls = self._outward(self._outcomes.calls_of(item.id), item)
        return [call for call in calls if call.status is OutcomeStatus.unknown]

    def _outward(self, calls: list[OutcomeRecord], item: WorkItem) -> list[OutcomeRecord]:
        return [call for call in calls if not self._is_repeatable(call, item)]

    def _is_repeatable(self, call: OutcomeRecord, item: WorkItem) -> bool:
        known = self._registry.get(call.tool_name)
        if known is None:
            return False  # a tool that is gone cannot vouch
        contained = set(known.scopes) == {SANDBOX_SCOPE} and not _reaches(item)
        return known.tool.idempotent or contained


def _reaches(item: WorkItem) -> bool:
    """Whether commands of this plan, sandboxed as they are, can reach a host."""
    return bool(item.network)
