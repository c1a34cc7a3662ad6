"""The owner's word on calls whose outcome nobody knows (decision B4)."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from silas.audit import Audit
from silas.plans import WorkItemStatus, WorkItemStore
from silas.tools import DuplicateKey, ToolResult
from silas.tools.outcomes import OutcomeRecord, OutcomeStatus, OutcomeStore
from silas.work.effects import Effects

_SHORTEST_KEY = 8  # characters of a key that name a call


class OpenCall(NamedTuple):
    """A call that only the owner can settle, and the title of its work item."""

    call: OutcomeRecord
    title: str


class OutcomeResolver:
    """Lists calls of unknown outcome and records what the owner says became of them.

    Args:
        together: Opens the transaction in which an answer and its audit entry are written.
    """

    def __init__(
        self,
        effects: Effects,
        outcomes: OutcomeStore,
        store: WorkItemStore,
        audit: Audit,
        together: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._effects = effects
        self._outcomes = outcomes
        self._store = store
        self._audit = audit
        self._together = together

    async def open(self) -> list[OpenCall]:
        """Every call that waits for the owner's word, by work item."""
        items = [i for status in WorkItemStatus for i in await self._store.list_by_status(status)]
        return [OpenCall(call, i.title) for i in items for call in self._effects.list_unknown(i)]

    async def settle(self, key: str, *, happened: bool) -> OutcomeRecord:
        """Record that a call took effect, or that it did not and may be made again.

        Args:
            key: The beginning of its key, eight characters or more.
            happened: What the owner found.

        Raises:
            DuplicateKey: E_TOOL_NO_ATTEMPT, no such call waits, or several do; nothing recorded.
        """
        found = [call for call, _ in await self.open() if call.key.startswith(key)]
        if len(found) != 1 or len(key) < _SHORTEST_KEY:
            raise DuplicateKey(
                f"No single call {key!r} waits for your word; `silas calls list` has the keys.",
                code="E_TOOL_NO_ATTEMPT",
            )
        (call,) = found
        said = ToolResult(ok=True, return_value="The owner says that this call took effect.")
        status, result = (
            (OutcomeStatus.succeeded, said) if happened else (OutcomeStatus.attempted, None)
        )
        with self._together():
            self._outcomes.resolve(call.key, status, result)
            self._audit.log_now(
                "tool_call.settled",
                work_item_id=call.task_id,
                tool=call.tool_name,
                digest=call.digest,
                happened=happened,
            )
        return call
