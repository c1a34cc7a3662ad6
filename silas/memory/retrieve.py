"""Finding memories by every channel there is, merged into one list (spec 4.2.1, 6.3)."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

from silas.clock import Clock
from silas.errors import DatabaseError
from silas.memory.fuse import Scores, fuse_rankings, in_talk
from silas.memory.models import MemoryItem, RankedMemory, ReingestionTier
from silas.memory.port import Query, Vectors
from silas.memory.rank import TextMatches
from silas.memory.rows import is_valid
from silas.memory.store import SqlMemoryStore
from silas.memory.time_window import TimeWindow, window
from silas.types import OWNER

_DEPTH = 40  # results that each channel is asked for, at least: a lower one in both counts, too
_TIMELY = 0.3  # of the best score: what being of the time that a question names is worth
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
        fitting = self._limit_items(found, query.max_results, query.max_tokens)
        await self._count_access(fitting, scope)
        return fitting

    async def recall(self, text: str, scope_id: str, limit: int) -> list[RankedMemory]:
        """See `MemoryRetriever.recall`."""
        found = await self._hybrid(text, scope_id, limit) if limit > 0 else []
        if found:
            await self._count_access([each.item for each in found], scope_id)
        return found

    async def _count_access(self, items: Sequence[MemoryItem], scope_id: str) -> None:
        with suppress(DatabaseError):  # what was found is there to be had, counted or not
            await self._store.count_access([item.memory_id for item in items], scope_id)

    async def _by_strategy(
        self, query: Query, scope_id: str, session_id: str | None
    ) -> Sequence[MemoryItem]:
        most = query.max_results
        match query.strategy:
            case "keyword":
                found = _scores_of(self._store.fitting(query.query, most, scope_id))
                return [each.item for each in await self._items(found, scope_id, most)]
            case "semantic":
                return [each.item for each in await self._hybrid(query.query, scope_id, most)]
            case "session":
                return await self._of_session(query, scope_id, session_id)
            case "temporal":
                return await self._of_time(query, scope_id)
            case _:
                return []

    async def _of_session(
        self, query: Query, scope_id: str, session_id: str | None
    ) -> Sequence[MemoryItem]:
        """The session's memories, those first that fit the question, then the newest."""
        if session_id is None:
            return []
        wanted = max(_DEPTH, query.max_results)
        newest = await self._store.newest_of_session(session_id, wanted, scope_id)
        fitting = await self._store.search_keyword(query.query, wanted, scope_id)
        first = [item for item in fitting if item.session_id == session_id]
        return list({item.memory_id: item for item in (*first, *newest)}.values())

    async def _of_time(self, query: Query, scope_id: str) -> Sequence[MemoryItem]:
        """What was made or valid at the time asked for, what fits first, then the newest."""
        now = self._clock.now()
        since, until = window(query.query, now) or TimeWindow(now - _RECENT, now)
        wanted = max(_DEPTH, query.max_results)
        newest = await self._store.search_temporal(since, until, wanted, scope_id)
        fitting = await self._store.search_keyword(query.query, wanted, scope_id)
        first = [item for item in fitting if since <= item.created_at <= until]
        return list({item.memory_id: item for item in (*first, *newest)}.values())

    async def _hybrid(self, text: str, scope_id: str, limit: int) -> list[RankedMemory]:
        depth = max(_DEPTH, 2 * limit)
        by_meaning = await self._vectors.search(scope_id, text, depth)
        fitting = self._store.fitting(text, depth if by_meaning else limit, scope_id)
        by_words = _scores_of(fitting)
        found = by_words
        if by_meaning:
            names = list(dict.fromkeys(name for name, _ in (*by_words, *by_meaning)))
            talk = self._store.talk(names, scope_id)
            wanted = [turn.memory_id for turn in talk.turns.values()]
            near = in_talk(talk, await self._vectors.likeness(scope_id, text, wanted))
            found = fuse_rankings(by_words, fitting.covered, by_meaning, near, depth)
        return await self._items(await self._timely(found, text, scope_id), scope_id, limit)

    async def _timely(self, found: Scores, text: str, scope_id: str) -> Scores:
        """What was found, and above what fits as well what is of the time that the text names.

        A time in which very much was remembered tells nothing.
        """
        named = window(text, self._clock.now())
        if named is None:
            return found
        then = await self._store.search_temporal(*named, _DEPTH + 1, scope_id)
        if not then or len(then) > _DEPTH:
            return found
        scores = dict(found)
        lift = _TIMELY * (found[0][1] if found else 1.0)
        for item in then:
            scores[item.memory_id] = scores.get(item.memory_id, 0.0) + lift
        return sorted(scores.items(), key=lambda scored: -scored[1])

    async def _items(
        self, scored: Sequence[tuple[str, float]], scope_id: str, limit: int
    ) -> list[RankedMemory]:
        """The memories themselves, as many as are wanted and may be recalled."""
        scores = dict(scored)
        found: list[MemoryItem] = []
        names = list(scores)
        for start in range(0, len(names), max(limit, 1)):  # mostly the first of them are enough
            items = await self._store.get_many(names[start : start + limit], scope_id)
            found += [item for item in items if self._is_recallable(item)]
            if len(found) >= limit:
                break
        found = found[: max(limit, 0)]
        best = (scores[found[0].memory_id] if found else 0.0) or 1.0
        return [RankedMemory(item, scores[item.memory_id] / best) for item in found]

    def _is_recallable(self, item: MemoryItem) -> bool:
        """An index of vectors may lag behind: what left the active lane is not brought back."""
        active = item.reingestion_tier is ReingestionTier.active
        return active and is_valid(item, self._clock.now())

    def _limit_items(
        self, items: Iterable[MemoryItem], most: int, max_tokens: int
    ) -> list[MemoryItem]:
        """The first of them, as many as there may be and as fit together."""
        fitting: list[MemoryItem] = []
        left = max_tokens
        for item in items:
            tokens = self._count(item.content)
            if len(fitting) < most and tokens <= left:
                fitting.append(item)
                left -= tokens
        return fitting


def _scores_of(fitting: TextMatches) -> list[tuple[str, float]]:
    return [(each.memory_id, each.score) for each in fitting.found]
