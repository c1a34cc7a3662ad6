"""Finding memories by words, session, time and meaning, merged into one list (spec 6.3)."""

from collections.abc import Generator, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from silas.errors import DatabaseError
from silas.memory import NoVectors, Vectors
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.testing import MockClock
from tests.memory.memories import NOW, a_memory, a_store, ids


class Asked(NamedTuple):
    strategy: str
    query: str
    max_results: int = 5
    max_tokens: int = 2_000


class Nearest:
    """Vectors that always find the same."""

    def __init__(self, *found: tuple[str, float]) -> None:
        self.found = list(found)

    async def search(self, scope_id: str, text: str, limit: int) -> list[tuple[str, float]]:
        return self.found[:limit]

    async def likeness(
        self, scope_id: str, text: str, memory_ids: Sequence[str]
    ) -> dict[str, float]:
        return {name: score for name, score in self.found if name in memory_ids}


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqlMemoryStore]:
    with a_store(tmp_path) as opened:
        yield opened


def a_retriever(store: SqlMemoryStore, vectors: Vectors | None = None) -> HybridRetriever:
    return HybridRetriever(store, vectors or NoVectors(), len, MockClock())


async def test_each_strategy_finds_its_own(store: SqlMemoryStore):
    await store.store(a_memory("word", "the harbour in Lisbon", session_id="s"))
    await store.store(a_memory("same", "we spoke of food", session_id="s"))
    await store.store(a_memory("else", "the harbour in Porto", session_id="t"))
    await store.store(a_memory("old", "long ago", created_at=NOW - timedelta(days=400)))
    retriever = a_retriever(store, Nearest(("same", 0.9)))

    async def found(strategy: str, query: str, session: str | None = None) -> list[str]:
        return ids(await retriever.retrieve(Asked(strategy, query), "owner", session))

    assert await found("keyword", "harbour in Lisbon?") == ["word", "same", "else"]
    assert await found("session", "harbour", "s") == ["word", "same"]
    assert await found("session", "harbour") == []
    assert set(await found("semantic", "harbour")) == {"word", "same", "else"}
    assert "old" not in await found("temporal", "lately")
    assert await found("astrology", "harbour") == []
    assert await a_retriever(store).retrieve(Asked("keyword", "harbour")) != []


async def test_an_answer_is_found_by_the_question_before_it(store: SqlMemoryStore):
    said = [
        ("hello", "s", "Nice to see you!"),
        ("ask", "s", "Did you bring anything back from Lisbon?"),
        ("answer", "s", "Yes, two tiles and a cork bag."),
        ("elsewhere", "t", "Yes, the blue ones."),
    ]
    for name, session, text in said:
        await store.store(a_memory(name, text, session_id=session))
    found = await a_retriever(store).recall("What came from Lisbon?", "owner", 5)
    assert [each.item.memory_id for each in found] == ["answer", "ask", "hello"]
    assert ids(await store.search_keyword("What came from Lisbon?", 5)) == ["ask"]


async def test_neighbours_are_those_that_a_memory_names(store: SqlMemoryStore):
    await store.store(a_memory("late", "It was closed.", temporal_prev="early"))
    await store.store(a_memory("between", "Something else."))
    await store.store(a_memory("early", "Did you visit the museum?", temporal_next="late"))
    found = await a_retriever(store).recall("the museum", "owner", 5)
    assert [each.item.memory_id for each in found] == ["early", "late"]


async def test_results_stay_within_their_number_and_their_tokens(store: SqlMemoryStore):
    for number in range(4):
        await store.store(a_memory(f"m{number}", "harbour " + "x" * 10 * number))
    retriever = a_retriever(store)
    assert len(await retriever.retrieve(Asked("keyword", "harbour", max_results=2))) == 2
    fitting = await retriever.retrieve(Asked("keyword", "harbour", max_tokens=30))
    assert sum(len(item.content) for item in fitting) <= 30
    assert fitting != []
    assert await retriever.retrieve(Asked("keyword", "harbour", max_results=0)) == []
    assert await retriever.retrieve(Asked("keyword", "harbour", max_tokens=0)) == []


async def test_what_fits_by_words_and_by_meaning_comes_first(store: SqlMemoryStore):
    for name in ("words", "both", "meaning"):
        text = "something else" if name == "meaning" else "the harbour"
        await store.store(a_memory(name, text))
    found = await a_retriever(store, Nearest(("both", 0.9), ("meaning", 0.8))).recall(
        "harbour", "owner", 3
    )
    assert [each.item.memory_id for each in found] == ["both", "words", "meaning"]
    assert found[0].relevance == 1.0
    assert all(0 <= each.relevance <= 1 for each in found)


async def test_vectors_bring_nothing_that_is_not_there_or_not_valid_or_not_ours(
    store: SqlMemoryStore,
):
    await store.store(a_memory("theirs", "the harbour", scope_id="guest"))
    await store.store(a_memory("past", "the harbour", valid_until=NOW))
    await store.store_raw(a_memory("raw", "the harbour"))
    stale = Nearest(("gone", 0.9), ("theirs", 0.8), ("past", 0.7), ("raw", 0.6))
    assert await a_retriever(store, stale).recall("harbour", "owner", 5) == []


async def test_what_was_brought_is_counted_and_nothing_else(store: SqlMemoryStore):
    for name in ("a", "b"):
        await store.store(a_memory(name, "the harbour"))
    await a_retriever(store).recall("harbour", "owner", 1)
    await a_retriever(store).retrieve(Asked("keyword", "harbour", max_results=1))
    counts = [item.access_count for item in await store.search_keyword("harbour", 2)]
    assert sorted(counts) == [0, 2]


async def test_what_was_found_is_given_though_it_cannot_be_counted(
    store: SqlMemoryStore, monkeypatch: pytest.MonkeyPatch
):
    async def locked(memory_ids: Iterable[str], scope_id: str = "owner") -> None:
        raise DatabaseError("The database is locked.")

    await store.store(a_memory("m", "the harbour"))
    monkeypatch.setattr(store, "count_access", locked)
    found = await a_retriever(store).recall("harbour", "owner", 1)
    assert [each.item.memory_id for each in found] == ["m"]


async def test_a_session_as_long_as_a_life_is_not_read_whole(store: SqlMemoryStore):
    items = [
        a_memory(f"m{n}", f"day {n}", session_id="s", created_at=NOW + timedelta(minutes=n))
        for n in range(300)
    ]
    await store.store_many(items)
    found = await a_retriever(store).retrieve(Asked("session", "day 7", 3), "owner", "s")
    assert ids(found)[0] == "m7"
    found = await a_retriever(store).retrieve(Asked("session", "elephants", 2), "owner", "s")
    assert ids(found) == ["m299", "m298"]
    assert len(await store.newest_of_session("s", 40)) == 40
    assert await store.newest_of_session("s", -1) == []
