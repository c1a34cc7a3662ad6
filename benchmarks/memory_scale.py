"""What a question costs among 100,000 and a million memories of one scope, and what keeping costs.

The words are drawn as words are in a language: the n-th as often as 1/n. Sessions have 40 memories.
Questions are sentences of the memories themselves, common words and rare ones together.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from statistics import median

from silas.clock import SystemClock
from silas.db import Database
from silas.memory import MemoryItem, MemoryType, NoVectors
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.types import TaintLevel

_VOCABULARY = 50_000
_WORDS = 18  # of a memory
_SESSION = 40  # memories
_BATCH = 2_000
_QUESTIONS = 200
_START = datetime(2024, 1, 1, tzinfo=UTC)


class Speech:
    """Sentences whose words are as common and as rare as those of a language."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        spelling = random.Random(0)
        self._words = [
            "".join(spelling.choices("abdeghiklmnoprstuvw", k=spelling.randint(3, 9)))
            for _ in range(_VOCABULARY)
        ]
        self._shares = list(accumulate(1 / (rank + 3) for rank in range(_VOCABULARY)))

    def sentence(self, words: int = _WORDS) -> str:
        """So many words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._shares, k=words))

    def question(self, sentence: str) -> str:
        """A question about a sentence: some of its words, in another order."""
        return " ".join(self._random.sample(sentence.split(), 6)) + "?"


def a_memory(number: int, text: str) -> MemoryItem:
    """One of many."""
    moment = _START + timedelta(minutes=number)
    return MemoryItem(
        memory_id=f"m{number}",
        content=text,
        memory_type=MemoryType.episode,
        taint=TaintLevel.owner,
        created_at=moment,
        updated_at=moment,
        session_id=f"s{number // _SESSION}",
        sources=("channel:web",),
    )


async def fill(store: SqlMemoryStore, items: int, speech: Speech) -> list[tuple[str, str]]:
    """Keep so many memories; returns some of them, as id and question."""
    asked: list[tuple[str, str]] = []
    every = max(1, items // _QUESTIONS)
    for start in range(0, items, _BATCH):
        batch = [a_memory(n, speech.sentence()) for n in range(start, min(start + _BATCH, items))]
        await store.store_many(batch)
        chosen = (item for item in batch if int(item.memory_id[1:]) % every == 0)
        asked += [(item.memory_id, speech.question(item.content)) for item in chosen]
    return asked


def measure(items: int = 100_000) -> dict[str, float]:
    """Median milliseconds of a question, share found, and microseconds of keeping a memory."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_measure(items, Path(directory)))


async def _measure(items: int, directory: Path) -> dict[str, float]:
    clock, speech = SystemClock(), Speech(1)
    database = Database(directory / "silas.db", clock)
    database.migrate("silas.memory")
    try:
        store = SqlMemoryStore(database, clock)
        retriever = HybridRetriever(store, NoVectors(), len, clock)
        started = time.perf_counter()
        asked = await fill(store, items, speech)
        filled = time.perf_counter() - started
        words: list[float] = []
        whole: list[float] = []
        first = 0
        for name, question in asked:
            started = time.perf_counter()
            await store.search_keyword(question, 10)
            words.append(time.perf_counter() - started)
            started = time.perf_counter()
            found = await retriever.recall(question, "owner", 10)
            whole.append(time.perf_counter() - started)
            first += name in {each.item.memory_id for each in found}
        single = await _one_by_one(store, items, speech)
    finally:
        database.close()
    return {
        f"a keyword query among {items:,}, ms": median(words) * 1e3,
        f"recall by all channels among {items:,}, ms": median(whole) * 1e3,
        "share of questions whose memory is among the first ten": first / len(asked),
        "keeping a memory, many at once, us": filled / items * 1e6,
        "keeping a memory, one transaction each, us": median(single) * 1e6,
    }


async def _one_by_one(store: SqlMemoryStore, begin: int, speech: Speech) -> list[float]:
    spent: list[float] = []
    for number in range(begin, begin + 500):
        item = a_memory(number, speech.sentence())
        started = time.perf_counter()
        await store.store_raw(item)
        spent.append(time.perf_counter() - started)
    return spent


def main(sizes: Sequence[str]) -> int:
    """Print the figures for each size."""
    for size in sizes or ("100000",):
        for figure, value in measure(int(size)).items():
            print(f"  {figure:56} {value:12,.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
