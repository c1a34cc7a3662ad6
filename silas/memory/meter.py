"""How often a minute memory is asked and changed for a scope (spec 18.5).

What is asked or changed for an agent counts; what the owner does himself, and deletions, do not.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from silas.audit.refusals import LIMIT_EXCEEDED, RefusalRecord
from silas.clock import Clock
from silas.errors import MemoryRefused
from silas.language import tr_later
from silas.memory.models import MemoryItem, RankedMemory
from silas.memory.port import MemoryOperations, MemoryRetriever, OpBasis, Query
from silas.token_buckets import TokenBuckets
from silas.types import OWNER

TOO_MANY: Final = "E_MEM_OPERATIONS_A_MINUTE"
"""The code of what is over the limit."""

_TOO_MANY: Final = tr_later(
    "Memory was used as often as it may be within a minute; try again in a minute."
)


class MemoryMeter:
    """Counts operations; one serves a whole Silas.

    Args:
        per_minute: Operations a minute of one scope; 0 allows none.
        clock: Only its monotonic time counts.
        refusals: Where what is over the limit is recorded.
    """

    def __init__(self, per_minute: int, clock: Clock, refusals: RefusalRecord) -> None:
        self._scopes = TokenBuckets(per_minute, clock)
        self._refusals = refusals

    def count(self, scope_id: str) -> None:
        """Take note of one operation; one that is refused has an entry of its own.

        Raises:
            MemoryRefused: `E_MEM_OPERATIONS_A_MINUTE`: it is over the limit.
        """
        if not self._scopes.take(scope_id):
            raise MemoryRefused(_TOO_MANY, code=TOO_MANY)

    async def count_search(self, scope_id: str) -> None:
        """Take note of one search, and record it where it is refused. Raises as `count` does."""
        try:
            self.count(scope_id)
        except MemoryRefused:
            await self._refusals.note(LIMIT_EXCEEDED, "searches of memory", scope_id)
            raise


class MeteredOperations:
    """`MemoryOperations`, counted; what is taken back may always go."""

    def __init__(self, operations: MemoryOperations, meter: MemoryMeter) -> None:
        self._operations = operations
        self._meter = meter

    async def apply(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        """See `MemoryOperations.apply`."""
        if op.get("op") != "delete":
            self._meter.count(basis.scope_id)
        return await self._operations.apply(op, basis)


class MeteredRetriever:
    """`MemoryRetriever`, where what an agent asks for is counted.

    What Silas itself recalls for a message is not: messages have a limit of their own.
    """

    def __init__(self, retriever: MemoryRetriever, meter: MemoryMeter) -> None:
        self._retriever = retriever
        self._meter = meter

    async def retrieve(
        self, query: Query, scope_id: str | None = None, session_id: str | None = None
    ) -> list[MemoryItem]:
        """See `MemoryRetriever.retrieve`. Raises `MemoryRefused` beyond the limit."""
        await self._meter.count_search(OWNER if scope_id is None else scope_id)
        return await self._retriever.retrieve(query, scope_id, session_id)

    async def recall(self, text: str, scope_id: str, limit: int) -> list[RankedMemory]:
        """See `MemoryRetriever.recall`."""
        return await self._retriever.recall(text, scope_id, limit)

    async def search(self, text: str, scope_id: str, limit: int) -> list[RankedMemory]:
        """As `recall`, for a program that asks. Raises `MemoryRefused` beyond the limit."""
        await self._meter.count_search(scope_id)
        return await self._retriever.recall(text, scope_id, limit)


class MeteredSearch:
    """A search of memory that an agent makes with a tool, counted."""

    def __init__(
        self,
        search: Callable[[str, str, int, bool], Awaitable[Sequence[MemoryItem]]],
        meter: MemoryMeter,
    ) -> None:
        self._search = search
        self._meter = meter

    async def find(
        self, scope_id: str, query: str, most: int, everything: bool
    ) -> Sequence[MemoryItem]:
        """At most `most` memories that fit. Raises `MemoryRefused` beyond the limit."""
        await self._meter.count_search(scope_id)
        return await self._search(scope_id, query, most, everything)
