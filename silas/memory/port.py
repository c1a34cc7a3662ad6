"""What remembering is asked for, as ports (spec 4.2 to 4.2.3)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from silas.memory.forgotten import ForgottenEntry
from silas.memory.models import MemoryItem, RankedMemory
from silas.types import OWNER, TaintLevel


class Query(Protocol):
    """A request for memories, as an agent makes it (spec 3.2 `MemoryQuery`)."""

    @property
    def strategy(self) -> str:
        """`keyword`, `semantic`, `temporal` or `session`."""
        ...

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


class MemoryStore(Protocol):
    """Keeps memories; no call ever sees another scope's (spec 4.2)."""

    async def store(self, item: MemoryItem) -> str:
        """Keep a memory; returns its id. One that is there under this id is an error."""
        ...

    async def store_many(self, items: Sequence[MemoryItem]) -> None:
        """Keep several memories, each in the lane of its tier, all of them or none."""
        ...

    async def get(self, memory_id: str, scope_id: str = OWNER) -> MemoryItem | None:
        """The memory of this id, if this scope has it."""
        ...

    async def update(self, memory_id: str, *, scope_id: str = OWNER, **changes: Any) -> None:
        """Change fields of a memory; `updated_at` follows. Unknown fields and ids are errors."""
        ...

    async def delete(self, memory_id: str, scope_id: str = OWNER) -> None:
        """Forget one memory, and every index entry of it."""
        ...

    async def search_keyword(
        self, query: str, limit: int, scope_id: str = OWNER
    ) -> list[MemoryItem]:
        """Active memories whose words fit a question in natural language, best first."""
        ...

    async def search_session(self, session_id: str, scope_id: str = OWNER) -> list[MemoryItem]:
        """Every active memory of a session, oldest first."""
        ...

    async def search_temporal(
        self, since: datetime, until: datetime, limit: int, scope_id: str = OWNER
    ) -> list[MemoryItem]:
        """Active memories made, or valid, in a window of time, newest first."""
        ...

    async def store_raw(self, item: MemoryItem) -> str:
        """Keep a record as it came in the `low_reingestion` lane, whatever its tier says."""
        ...

    async def search_raw(self, query: str, limit: int, scope_id: str = OWNER) -> list[MemoryItem]:
        """Raw records whose words fit, best first."""
        ...

    async def rules(self, scope_id: str = OWNER) -> list[MemoryItem]:
        """What the owner has laid down: verified and constitutional preferences, oldest first."""
        ...

    async def forget(self, source: str, scope_id: str = OWNER) -> int:
        """Delete everything that came from a source, both lanes, derived memories included.

        A source matches exactly, or as a prefix that ends at a boundary: `tool:web_fetch`,
        `tool:web_fetch https://example.org`. Returns how many were deleted. `forgotten_since` tells
        of it from then on.
        """
        ...

    async def forget_again(self, source: str, scope_id: str = OWNER) -> int:
        """Delete what was made of a source that another process forgot meanwhile; tells nobody."""
        ...

    def forgotten_since(self, last: int, scope_id: str = OWNER) -> ForgottenEntry:
        """Sources that were forgotten, in whatever process, after the forgetting of this number;
        one memory by itself as `memory:ID`.
        """
        ...


class MemoryRetriever(Protocol):
    """Finds memories by one strategy or by all of them together (spec 4.2.1, 6.3)."""

    async def retrieve(
        self, query: Query, scope_id: str | None = None, session_id: str | None = None
    ) -> list[MemoryItem]:
        """What an agent asked for, by its strategy, within its limits. No scope: the owner's."""
        ...

    async def recall(self, text: str, scope_id: str, limit: int) -> list[RankedMemory]:
        """What fits this text by all channels there are, best first, each with its relevance."""
        ...


class Vectors(Protocol):
    """Finds memories by what they mean (decision A16)."""

    async def search(self, scope_id: str, text: str, limit: int) -> list[tuple[str, float]]:
        """Ids of this scope's active memories nearest in meaning, with their score, best first."""
        ...

    async def likeness(
        self, scope_id: str, text: str, memory_ids: Sequence[str]
    ) -> dict[str, float]:
        """How near these memories are in meaning: the score of those that have one, by id."""
        ...


class NoVectors:
    """No embedding model is configured: nothing is found by meaning, only by words."""

    async def search(self, scope_id: str, text: str, limit: int) -> list[tuple[str, float]]:
        """Nothing."""
        return []

    async def likeness(
        self, scope_id: str, text: str, memory_ids: Sequence[str]
    ) -> dict[str, float]:
        """Nothing."""
        return {}


class OpBasis(NamedTuple):
    """What a memory operation rests on.

    Attributes:
        scope_id, session_id: Whose, and in which conversation.
        taint: The least trusted text of the turn that asks for it.
        sources: Where that text came from.
        owners_words: The content stands word for word in a message that the owner signed.
        owner_asks: The turn itself is the owner's, by his signature.
    """

    scope_id: str
    session_id: str
    taint: TaintLevel
    sources: tuple[str, ...]
    owners_words: bool
    owner_asks: bool


class MemoryOperations(Protocol):
    """Carries out what an agent wants to remember, as far as the rules of trust let it."""

    async def apply(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        """Store, update, delete or link, after the gates let it pass (spec 3.2 `MemoryOp`).

        Returns:
            The id of the memory that was made or changed.

        Raises:
            MemoryRefused: The rules of trust forbid it; one sentence says which.
        """
        ...


def as_sources(source: str, derived: Sequence[str] = ()) -> tuple[str, ...]:
    """A source and those it rests on, each once, in order."""
    return tuple(dict.fromkeys(name for name in (source, *derived) if name))
