"""What a turn needs of memory, and the memory that remembers nothing (spec 4.2)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from silas.types import TaintLevel


class Query(Protocol):
    """A request for memories, as an agent makes it (spec 3.2 `MemoryQuery`)."""

    @property
    def query(self) -> str:
        """What to look for."""
        ...

    @property
    def max_results(self) -> int:
        """At most so many."""
        ...

    @property
    def max_tokens(self) -> int:
        """At most so many tokens together."""
        ...


class Remembered(NamedTuple):
    """One memory that was found.

    Attributes:
        id: Names it.
        text: What is remembered.
        taint: How far it is trusted: as far as where it came from.
    """

    id: str
    text: str
    taint: TaintLevel


class Memory(Protocol):
    """What outlasts a conversation."""

    async def store_raw(self, text: str, kind: str, taint: TaintLevel) -> None:
        """Keep a record as it came, in the lane that is seldom looked at (spec 5.1, 3.5)."""
        ...

    async def recall(self, text: str, scope: str, limit: int) -> list[str]:
        """What is remembered and fits this text, best first."""
        ...

    async def run_queries(self, queries: Sequence[Query], scope: str) -> list[str]:
        """What an agent asked for."""
        ...

    async def search(self, query: str, scope: str, limit: int) -> Sequence[Remembered]:
        """What is remembered and fits this query, best first, each with its trust."""
        ...

    async def apply_op(self, op: Mapping[str, Any], scope: str) -> None:
        """Store, update, delete or link, after the gates let it pass (spec 3.2 `MemoryOp`)."""
        ...


class NoMemory:
    """Remembers nothing and finds nothing. The memory store comes with a later version."""

    async def store_raw(self, text: str, kind: str, taint: TaintLevel) -> None:
        """Dropped."""

    async def recall(self, text: str, scope: str, limit: int) -> list[str]:
        """Nothing is remembered."""
        return []

    async def run_queries(self, queries: Sequence[Query], scope: str) -> list[str]:
        """Nothing is remembered."""
        return []

    async def search(self, query: str, scope: str, limit: int) -> Sequence[Remembered]:
        """Nothing is remembered."""
        return ()

    async def apply_op(self, op: Mapping[str, Any], scope: str) -> None:
        """Dropped."""
