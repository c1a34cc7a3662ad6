"""Common words are not read to their end, and the old is found all the same (decision A17)."""

from pathlib import Path

import pytest

from silas.memory import postings as holders
from silas.memory.store import SqlMemoryStore
from tests.memory.memories import a_memory, a_store, ids

COMMON = 40


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As among a million memories: of most words only the newest holders are read."""
    for name, value in (("_FEWEST", 3), ("_MOST", 5), ("_BUDGET", 12)):
        monkeypatch.setattr(holders, name, value)


async def fill(store: SqlMemoryStore, *, oldest: str) -> None:
    await store.store(a_memory("oldest", oldest))
    for number in range(COMMON):
        await store.store(a_memory(f"d{number}", "the dog barked"))
        await store.store(a_memory(f"c{number}", "the cats slept"))


async def test_a_common_word_counts_in_an_old_memory_that_a_rare_one_brought(tmp_path: Path):
    with a_store(tmp_path) as store:
        await fill(store, oldest="a zebra and some dogs")
        await store.store(a_memory("newer", "a zebra alone"))
        assert ids(await store.search_keyword("the zebra and the dog", 2)) == ["oldest", "newer"]


async def test_two_common_words_find_the_old_memory_that_holds_both(tmp_path: Path):
    with a_store(tmp_path) as store:
        await fill(store, oldest="the cat chased a dog")
        assert ids(await store.search_keyword("Which dog was chased by a cat?", 1)) == ["oldest"]
        assert ids(await store.search_keyword("dog, cat", 1)) == ["oldest"]


async def test_signs_without_blanks_count_in_an_old_memory_too(tmp_path: Path):
    with a_store(tmp_path) as store:
        await store.store(a_memory("oldest", "昨日東京で鯨を見た"))
        for number in range(COMMON):
            await store.store(a_memory(f"t{number}", "今日も東京にいる"))
        await store.store(a_memory("newer", "鯨を見たい"))
        assert ids(await store.search_keyword("東京で鯨を", 1)) == ["oldest"]


async def test_how_many_hold_a_word_is_told_by_the_newest_that_do(tmp_path: Path):
    with a_store(tmp_path) as store:
        await fill(store, oldest="nothing of that kind")
        for number in range(4):
            await store.store(a_memory(f"z{number}", f"zebra {number}"))
        assert ids(await store.search_keyword("a dog or a zebra", 4))[0].startswith("z")


async def test_of_the_rarest_word_more_is_read_than_of_the_others(tmp_path: Path):
    with a_store(tmp_path) as store:
        for number in range(COMMON):
            await store.store(a_memory(f"d{number}", "the dog barked"))
            await store.store(a_memory(f"c{number}", "the cats slept"))
            if number % 10 == 0:
                await store.store(a_memory(f"z{number}", f"zebra {number}"))
        found = ids(await store.search_keyword("zebra, dog, cats, slept", 4))
        assert found == ["z30", "z20", "z10", "z0"]
