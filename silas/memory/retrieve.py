"""Finding memories by every channel there is, merged into one list (spec 4.2.1, 6.3)."""

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from silas.clock import Clock
from silas.memory.models import MemoryItem, Ranked, ReingestionTier
from silas.memory.port import Query, Vectors
from silas.memory.rank import is_valid
from silas.memory.store import SqlMemoryStore
from silas.types import OWNER

_FUSED = 60  # of reciprocal rank fusion: how slowly a rank's worth falls
_DEEP = 4  # each channel is asked for so many times the limit: a lower rank in both counts, too
_RECENT = timedelta(days=7)  # a temporal query that names no time looks back so far


class HybridRetriever:
    """`MemoryRetriever` over the store's words and somebody's vectors."""

    def __init__(
        self,
        store: SqlMemoryStore,
        vectors: Vectors,
        count_tokens: Callable[[str], int],
        clock: Clock,
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._count = count_tokens
        self._clock = clock

    async def retrieve(
        self, query: Query, scope_id: str | None = None, session_id: str | None = None
    ) -> list[MemoryItem]:
        """See `MemoryRetriever.retrieve`; a strategy that nobody knows finds nothing."""
        scope = OWNER if scope_id is None else scope_id
        found = await self._by_strategy(query, scope, session_id)
        fitting = self._within(found, query.max_results, query.max_tokens)
        await self._store.count_access([item.memory_id for item in fitting], scope)
        return fitting

    async def recall(self, text: str, scope_id: str, limit: int) -> list[Ranked]:
        """See `MemoryRetriever.recall`."""
        found = (await self._hybrid(text, scope_id, limit))[:limit]
        await self._store.count_access([each.item.memory_id for each in found], scope_id)
        return found

    async def _by_strategy(
        self, query: Query, scope_id: str, session_id: str | None
    ) -> Sequence[MemoryItem]:
        most = query.max_results
        match query.strategy:
            case "keyword":
                return [found.item for found in self._store.ranked(query.query, most, scope_id)]
            case "semantic":
                return [found.item for found in await self._hybrid(query.query, scope_id, most)]
            case "session":
                return await self._of_session(query, scope_id, session_id)
            case "temporal":
                now = self._clock.now()
                return await self._store.search_temporal(now - _RECENT, now, most, scope_id)
            case _:
                return []

    async def _of_session(
        self, query: Query, scope_id: str, session_id: str | None
    ) -> Sequence[MemoryItem]:
        """The session's memories, those first that fit the question, then the newest."""
        if session_id is None:
            return []
        newest = (await self._store.search_session(session_id, scope_id))[::-1]
        fitting = await self._store.search_keyword(query.query, len(newest), scope_id)
        first = [item for item in fitting if item.session_id == session_id]
        return list({item.memory_id: item for item in (*first, *newest)}.values())

    async def _hybrid(self, text: str, scope_id: str, limit: int) -> list[Ranked]:
        by_words = self._store.ranked(text, limit * _DEEP, scope_id)
        by_meaning = await self._vectors.search(scope_id, text, limit * _DEEP)
        items = {found.item.memory_id: found.item for found in by_words}
        for memory_id, _ in by_meaning:
            if memory_id not in items:
                item = await self._store.get(memory_id, scope_id)
                if item is not None and self._recallable(item):
                    items[memory_id] = item
        if not by_meaning:
            return by_words
        fused = _fuse([found.item.memory_id for found in by_words], [m for m, _ in by_meaning])
        found = [Ranked(items[name], score) for name, score in fused if name in items]
        best = found[0].relevance if found else 1.0
        return [Ranked(item, score / best) for item, score in found]

    def _recallable(self, item: MemoryItem) -> bool:
        """An index of vectors may lag behind: what left the active lane is not brought back."""
        active = item.reingestion_tier is ReingestionTier.active
        return active and is_valid(item, self._clock.now())

    def _within(self, items: Iterable[MemoryItem], most: int, max_tokens: int) -> list[MemoryItem]:
        """The first of them, as many as there may be and as fit together."""
        fitting: list[MemoryItem] = []
        left = max_tokens
        for item in items:
            tokens = self._count(item.content)
            if len(fitting) < most and tokens <= left:
                fitting.append(item)
                left -= tokens
        return fitting


def _fuse(*rankings: Sequence[str]) -> list[tuple[str, float]]:
    """Reciprocal rank fusion: what stands high in several rankings stands highest."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking):
            scores[name] = scores.get(name, 0.0) + 1 / (_FUSED + rank)
    return sorted(scores.items(), key=lambda scored: -scored[1])
