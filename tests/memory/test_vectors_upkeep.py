"""Vectors are made after a write or a question, and nothing looks for work where there is none."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from silas.db import Database
from silas.memory.store import SqlMemoryStore
from tests.memory.memories import a_memory
from tests.memory.test_vectors import Place
from tests.support.waits import SECONDS


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    made = Place(tmp_path)
    yield made
    made.db.close()


@asynccontextmanager
async def _kept_up(place: Place) -> AsyncGenerator[None]:
    task = asyncio.create_task(place.search.keep_up())
    try:
        async with asyncio.timeout(SECONDS):
            yield
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0)


async def test_new_memories_are_embedded_in_the_background(place: Place) -> None:
    async with _kept_up(place):
        await place.keep(a="aaaa")
        while not await place.near("aaaa"):
            place.clock.advance(10)
            await asyncio.sleep(0)
        place.embedder.broken = True
        await place.keep(b="bbbb")
        for _ in range(20):
            place.clock.advance(10)
            await asyncio.sleep(0)
        place.embedder.broken = False
        while place.vectors() < 2:
            place.clock.advance(100)
            await asyncio.sleep(0)


async def test_where_nothing_is_written_or_asked_nothing_is_looked_for(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept, sleep = [0.0], place.clock.sleep

    async def counted(seconds: float) -> None:
        slept.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr(place.clock, "sleep", counted)
    await place.keep(a="aaaa")
    async with _kept_up(place):
        await _until(lambda: len(slept) == 2)  # its own write is looked at once more
        assert place.vectors() == 1
        for _ in range(50):
            place.clock.advance(60)
            await asyncio.sleep(0)
        assert len(slept) == 2
        await place.keep(b="bbbb")
        await _until(lambda: len(slept) == 3)
        place.clock.advance(slept[-1])
        await _until(lambda: place.vectors() == 2)


async def test_what_another_process_wrote_is_embedded_after_the_next_question(
    place: Place, tmp_path: Path
) -> None:
    other = Database(tmp_path / "silas.db", place.clock)
    try:
        async with _kept_up(place):
            await asyncio.sleep(0)
            await SqlMemoryStore(other, place.clock).store_many([a_memory("a", "aaaa")])
            assert await place.near("aaaa") == []
            while place.vectors() < 1:
                place.clock.advance(5)
                await asyncio.sleep(0)
            assert await place.near("aaaa") == ["a"]
    finally:
        other.close()
