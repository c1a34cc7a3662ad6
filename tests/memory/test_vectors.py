"""Finding memories by what they mean: the index, and keeping it as the memories are (A16)."""

import asyncio
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.db import Database
from silas.errors import LLMError
from silas.memory import ReingestionTier
from silas.memory.bundle_rules import BundleFacts, BundleTrust
from silas.memory.embed import NoEmbedder
from silas.memory.embedding import SemanticSearch
from silas.memory.replacing import replace_memories
from silas.memory.store import SqlMemoryStore
from silas.memory.vectors import NumpyVectorIndex, Unembedded
from silas.testing import MockClock
from tests.memory.memories import NOW, a_memory
from tests.support.waits import SECONDS

DIM = 70  # no multiple of a word


class ByLetters:
    """An embedder that counts letters: texts with the same letters point the same way."""

    def __init__(self) -> None:
        self.name, self.dim = f"letters:{DIM}", DIM
        self.asked: list[str] = []
        self.broken = False

    async def embed(self, text: str) -> list[float]:
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        if self.broken:
            raise LLMError("The model is away.", code="E_LLM_EMBEDDING")
        self.asked += texts
        return [_letters(text) for text in texts]

    def fault(self) -> str:
        return ""


def _letters(text: str) -> list[float]:
    counts = [-0.5] * DIM
    for letter in text.lower():
        counts[ord(letter) % DIM] += 1.0
    return counts


class Place:
    """A store, an index over it and what searches both."""

    def __init__(self, directory: Path) -> None:
        self.clock, self.embedder = MockClock(), ByLetters()
        self.db = Database(directory / "silas.db", self.clock)
        self.db.migrate("silas.memory")
        self.store = SqlMemoryStore(self.db, self.clock)
        self.search = self.searching()

    def searching(self, model: str = "") -> SemanticSearch:
        """Another process's view of the same memories."""
        index = NumpyVectorIndex(self.db, model or self.embedder.name, DIM)
        return SemanticSearch(self.db, self.embedder, index, self.clock)

    async def keep(self, **contents: str) -> None:
        await self.store.store_many([a_memory(name, words) for name, words in contents.items()])

    async def near(self, text: str, limit: int = 3, scope: str = "owner") -> list[str]:
        return [name for name, _ in await self.search.search(scope, text, limit)]

    def vectors(self) -> int:
        with self.db.read() as tx:
            return int(tx.driver.execute("SELECT count(*) FROM memory_vectors").fetchone()[0])


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    made = Place(tmp_path)
    yield made
    made.db.close()


async def test_what_means_alike_is_found_best_first(place: Place) -> None:
    await place.keep(a="aaaa bbbb", b="aaab", c="zzzz")
    assert await place.search.catch_up() == 3
    found = await place.search.search("owner", "aaaa bbbb", 3)
    assert [name for name, _ in found] == ["a", "b", "c"]
    assert found[0][1] == pytest.approx(1.0)
    assert found == sorted(found, key=lambda each: -each[1])


async def test_a_memory_without_a_vector_is_not_found_by_meaning_yet(place: Place) -> None:
    await place.keep(a="aaaa")
    assert await place.near("aaaa") == []
    await place.search.catch_up()
    assert await place.near("aaaa") == ["a"]


async def test_what_came_later_is_added_and_nothing_is_embedded_twice(place: Place) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    await place.near("aaaa")
    place.embedder.asked.clear()
    await place.keep(b="aaab")
    assert await place.search.catch_up() == 1
    assert place.embedder.asked == ["aaab"]
    assert await place.near("aaab") == ["b", "a"]
    assert await place.search.catch_up() == 0


async def test_what_another_process_embedded_is_found_here(place: Place) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    assert await place.near("aaaa") == ["a"]
    await place.keep(b="bbbb")
    await place.searching().catch_up()
    assert await place.near("bbbb", 1) == ["b"]


@pytest.mark.parametrize("way", ["delete", "forget", "another process"])
async def test_forgetting_a_memory_forgets_its_vector(place: Place, way: str) -> None:
    await place.store.store_many(
        [a_memory("a", "aaaa", sources=("web x",)), a_memory("b", "aaab", sources=("web y",))]
    )
    await place.search.catch_up()
    assert await place.near("aaaa") == ["a", "b"]
    match way:
        case "delete":
            await place.store.delete("a")
        case "forget":
            await place.store.forget("web x")
        case _:
            other = Database(place.db.path, place.clock)
            await SqlMemoryStore(other, place.clock).delete("a")
            other.close()
    assert place.vectors() == 1
    assert await place.near("aaaa") == ["b"]


async def test_forgetting_nearly_everything_leaves_the_rest_found(place: Place) -> None:
    for start in range(0, 900, 100):
        await place.store.store_many(
            [
                a_memory(f"m{n}", "a" * (n % 9 + 1) + "b", sources=("web",))
                for n in range(start, start + 100)
            ]
        )
    await place.keep(last="zzzz")
    await place.search.catch_up()
    assert "last" not in await place.near("aaaa")
    assert await place.store.forget("web") == 900
    assert await place.near("aaaa") == ["last"]


async def test_new_words_lose_the_old_vector_at_once_and_are_embedded_again(place: Place) -> None:
    await place.keep(a="aaaa", b="bbbb")
    await place.search.catch_up()
    assert await place.near("aaaa", 1) == ["a"]
    await place.store.update("a", content="zzzz")
    assert await place.near("aaaa") == ["b"]
    assert await place.search.reembed() == 1
    assert await place.near("zzzz", 1) == ["a"]
    assert len(await place.near("zzzz", 10)) == 2


async def test_a_change_of_anything_else_keeps_the_vector(place: Place) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    await place.store.update("a", semantic_tags=("x",))
    assert place.vectors() == 1
    assert await place.search.reembed() == 0


async def test_words_that_changed_while_they_were_embedded_get_no_stale_vector(
    place: Place,
) -> None:
    await place.keep(a="aaaa")
    index = NumpyVectorIndex(place.db, "m", DIM)
    (old,), _ = index.missing(0, 1 << 60, 10)
    await place.store.update("a", content="zzzz")
    assert index.put([(old, _letters("aaaa"))]) == 0
    assert place.vectors() == 0


async def test_another_scopes_memories_are_never_found_by_meaning(place: Place) -> None:
    await place.store.store_many([a_memory("a", "aaaa"), a_memory("a", "aaaa", scope_id="guest")])
    await place.search.catch_up()
    await place.store.delete("a")
    assert await place.near("aaaa") == []
    assert await place.near("aaaa", scope="guest") == ["a"]
    assert await place.near("aaaa", scope="nobody") == []
    assert await place.search.likeness("owner", "aaaa", ["a"]) == {}
    assert set(await place.search.likeness("guest", "aaaa", ["a", "b"])) == {"a"}


async def test_how_near_some_memories_are_is_told_with_one_vector_of_the_question(
    place: Place,
) -> None:
    await place.keep(a="aaaa", b="aabb", c="cccc")
    await place.search.catch_up()
    await place.keep(new="aaaa")
    place.embedder.asked.clear()
    found = dict(await place.search.search("owner", "aaaa", 3))
    told = await place.search.likeness("owner", "aaaa", ["c", "a", "new", "none"])
    assert told == pytest.approx({name: found[name] for name in ("a", "c")})
    assert place.embedder.asked == ["aaaa"]
    assert await place.search.likeness("owner", "aaaa", []) == {}


async def test_no_memory_is_near_where_no_vector_can_be_had(place: Place) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    place.embedder.broken = True
    assert await place.search.likeness("owner", "aaaa", ["a"]) == {}


async def test_the_raw_lane_is_not_embedded(place: Place) -> None:
    await place.store.store_raw(a_memory("a", "aaaa"))
    assert await place.search.catch_up() == 0
    assert await place.search.reembed() == 0


async def test_what_moves_to_the_raw_lane_is_not_found_any_more(place: Place) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    await place.store.update("a", reingestion_tier=ReingestionTier.low_reingestion)
    assert await place.near("aaaa") == []


async def test_vectors_of_another_model_are_never_compared(place: Place) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    other = place.searching("another:70")
    assert await other.search("owner", "aaaa", 3) == []
    assert await other.reembed() == 1
    assert [name for name, _ in await other.search("owner", "aaaa", 3)] == ["a"]
    assert await place.searching().search("owner", "aaaa", 3) == []
    assert place.vectors() == 1


async def test_without_a_model_words_alone_are_found_and_it_is_left_alone_for_a_while(
    place: Place,
) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    place.embedder.broken = True
    assert await place.near("aaaa") == []
    place.embedder.broken = False
    assert await place.near("aaaa") == []
    place.clock.advance(61)
    assert await place.near("aaaa") == ["a"]


async def test_a_question_waits_three_seconds_for_its_vector_and_then_goes_by_words(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    asked = asyncio.Event()

    async def never(text: str) -> list[float]:
        asked.set()
        return await asyncio.Future[list[float]]()

    monkeypatch.setattr(place.embedder, "embed", never)
    question = asyncio.create_task(place.near("aaab"))
    async with asyncio.timeout(SECONDS):
        await asked.wait()
        place.clock.advance(2.9)
        await asyncio.sleep(0)
        assert not question.done()
        place.clock.advance(0.1)
        assert await question == []


async def test_a_model_that_fails_midway_loses_nothing(place: Place) -> None:
    await place.keep(a="aaaa")
    place.embedder.broken = True
    with pytest.raises(LLMError):
        await place.search.catch_up()
    place.embedder.broken = False
    assert await place.search.catch_up() == 1


async def test_nothing_is_asked_for_no_question(place: Place) -> None:
    await place.keep(a="aaaa")
    await place.search.catch_up()
    place.embedder.asked.clear()
    assert await place.near("  ") == []
    assert await place.near("aaaa", 0) == []
    assert place.embedder.asked == []


async def test_no_embedder_makes_no_vectors() -> None:
    assert await NoEmbedder().embed("a") == []
    assert await NoEmbedder().embed_batch(["a", "b"]) == [[], []]
    assert NoEmbedder().fault() == ""


async def test_a_vector_without_direction_is_found_last_and_breaks_nothing(place: Place) -> None:
    await place.keep(a="a", b="b")
    index = NumpyVectorIndex(place.db, "m", DIM)
    missing, _ = index.missing(0, 1 << 60, 10)
    assert index.put(list(zip(missing, [[0.0] * DIM, _letters("b")], strict=True))) == 2
    assert [name for name, _ in index.nearest("owner", _letters("b"), 2)] == ["b", "a"]


@pytest.mark.proves("A16-VECTORS")
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
@settings(max_examples=10, deadline=None)
def test_the_nearest_are_those_of_a_search_through_everything(seed: int, limit: int) -> None:
    from tempfile import TemporaryDirectory

    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((150, DIM)).astype(np.float32)
    wanted: Any = rng.standard_normal(DIM).astype(np.float32)
    with TemporaryDirectory() as directory:
        place = Place(Path(directory))
        items = [a_memory(f"m{n:03}", f"words {n}") for n in range(150)]
        asyncio.run(place.store.store_many(items))
        index = NumpyVectorIndex(place.db, "m", DIM)
        missing, onward = index.missing(0, 1 << 60, 1000)
        assert onward == 0
        index.put([(each, vector.tolist()) for each, vector in zip(missing, vectors, strict=True)])
        found = index.nearest("owner", wanted.tolist(), limit)
        place.db.close()
    cosines = vectors @ wanted / np.linalg.norm(vectors, axis=1) / np.linalg.norm(wanted)
    best = np.argsort(-cosines)[:limit]
    assert [name for name, _ in found] == [f"m{n:03}" for n in best]
    assert [score for _, score in found] == pytest.approx(cosines[best].tolist(), abs=1e-5)


def test_many_scopes_do_not_stay_in_memory(place: Place) -> None:
    names = [f"scope{n}" for n in range(70)]
    asyncio.run(place.store.store_many([a_memory("a", "aaaa", scope_id=name) for name in names]))
    index = NumpyVectorIndex(place.db, "m", DIM)
    missing, _ = index.missing(0, 1 << 60, 1000)
    index.put([(each, _letters(each.content)) for each in missing])
    for _ in range(2):
        for name in names:
            assert [found for found, _ in index.nearest(name, _letters("aaaa"), 1)] == ["a"]
    assert index.scopes_in_memory == 64


async def test_looking_for_missing_vectors_goes_window_by_window(place: Place) -> None:
    await place.keep(**{f"m{n}": "words" for n in range(7)})
    index = NumpyVectorIndex(place.db, "m", DIM)
    seen: list[Unembedded] = []
    after, rounds = 0, 0
    while True:
        found, after = index.missing(after, 1 << 60, 3)
        seen += found
        rounds += 1
        if not after:
            break
    assert (len(seen), rounds) == (7, 3)


async def test_what_a_replacement_leaves_as_it_is_keeps_its_vector(place: Place) -> None:
    await place.keep(a="aaaa", b="bbbb")
    await place.search.catch_up()
    assert await place.near("aaaa") == ["a", "b"]
    place.embedder.asked.clear()
    coming = [a_memory("a", "aaaa"), a_memory("b", "cccc"), a_memory("d", "dddd")]
    replace_memories(place.db, the_facts(3), [coming])
    assert place.vectors() == 1
    assert await place.near("aaaa") == ["a"]
    assert await place.search.reembed() == 2
    assert sorted(place.embedder.asked) == ["cccc", "dddd"]
    assert set(await place.near("cccc")) == {"a", "b", "d"}
    assert await place.near("cccc", limit=1) == ["b"]


def the_facts(count: int) -> BundleFacts:
    return BundleFacts("x", "replace", "owner", BundleTrust.yours, "", NOW, "0" * 64, count)
