"""Searching what Silas remembers: for tools, subscriptions, the cockpit and commands (3.8, 6.1)."""

from collections.abc import Sequence
from datetime import UTC, datetime

from silas.clock import Clock
from silas.context import FoundMemory
from silas.memory import MemoryItem, MemoryRetriever, MemoryStore, MemoryType
from silas.types import OWNER, whose

_SAID = frozenset({"conversation_raw", "tool_output_raw"})
"""Raw records of what people said and tools returned; not of what Silas made of it."""

_DEEPER = 4  # times as many raw records are looked at, because most are Silas's own words
_LOOKED_THROUGH = 500  # newest memories among which what was kept is looked for
_NOTED = frozenset({MemoryType.fact, MemoryType.preference})
_SUBSCRIBED = 5  # memories that a subscription shows
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class MemorySearch:
    """Finds memories by words, by meaning where an embedder is configured, and by their age.

    Args:
        retriever: Ranks what fits.
        store: What is remembered.
        clock: Until when memories count as newest.
        raw_in_reach: Whether raw records may come back by such a question at all.
    """

    def __init__(
        self, retriever: MemoryRetriever, store: MemoryStore, clock: Clock, *, raw_in_reach: bool
    ) -> None:
        self._retriever = retriever
        self._store = store
        self._clock = clock
        self._raw_in_reach = raw_in_reach

    async def find(
        self, scope_id: str, query: str, most: int, everything: bool = False
    ) -> list[MemoryItem]:
        """At most `most` memories that fit, best first; what was ever said, too, if `everything`.

        An empty query is for the newest of what was kept: facts and preferences.
        Raw records come back in no other way than by such a question (spec 3.8, 6.1).
        """
        if not query.strip():
            newest = await self.newest(_LOOKED_THROUGH, scope_id)
            return [one for one in newest if one.memory_type in _NOTED][:most]
        found = [one.item for one in await self._retriever.recall(query, scope_id, most)]
        if everything and self._raw_in_reach:
            raw = await self._store.search_raw(query, most * _DEEPER, scope_id)
            found += [one for one in raw if one.source_kind in _SAID]
        return list({one.content: one for one in found}.values())[:most]

    async def newest(self, most: int, scope_id: str = OWNER) -> list[MemoryItem]:
        """At most `most` active memories, the newest first."""
        return await self._store.search_temporal(_BEGINNING, self._clock.now(), most, scope_id)

    async def search_subscription(self, address: str, query: str) -> Sequence[FoundMemory]:
        """What a subscription of the context shows."""
        found = await self._retriever.recall(query, whose(address), _SUBSCRIBED)
        return [FoundMemory(one.memory_id, one.content, one.taint, one.sources) for one, _ in found]
