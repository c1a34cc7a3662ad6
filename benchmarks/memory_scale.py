"""What a question costs among 100,000 memories of one scope, and what keeping one costs.

The words are drawn as words are in a language: the n-th as often as 1/n. Sessions have 40 memories.
Questions are words of a memory in another order, common ones and rare ones, and its memory must be
among the first ten. `python -m benchmarks.memory_scale 1000000` takes other numbers. Vectors come
from a stand-in that adds up one random vector for each word: the index is measured, not a model.
"""

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from silas.clock import SystemClock
from silas.db import Database
from silas.memory import MemoryItem, MemoryType, NoVectors
from silas.memory.embedding import SemanticSearch
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.memory.vectors import NumpyVectorIndex
from silas.types import TaintLevel

_VOCABULARY = 50_000
_WORDS = 18  # of a memory
_ASKED = 6  # of them in a question
_SESSION = 40  # memories
_BATCH = 2_000
_QUESTIONS = 200
_DIM = 384
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

    def sentence(self) -> str:
        """So many words as a memory has."""
        return " ".join(self._random.choices(self._words, cum_weights=self._shares, k=_WORDS))

    def question(self, sentence: str) -> str:
        """Some words of a sentence, in another order."""
        return " ".join(self._random.sample(sentence.split(), _ASKED)) + "?"


class WordSums:
    """Stands in for a model: the vector of a text is the sum of its words' own random ones."""

    name = "word-sums"
    dim = _DIM

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    async def embed(self, text: str) -> list[float]:
        """One vector."""
        return (await self.embed_batch([text]))[0]

    async def embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """One for each."""
        return [self._sum(text).tolist() for text in texts]

    def fault(self) -> str:
        """None."""
        return ""

    def _sum(self, text: str) -> Any:
        import numpy as np

        words = text.rstrip("?").split()
        for word in words:
            if word not in self._known:
                seed = int.from_bytes(word.encode(), "big")
                self._known[word] = np.random.default_rng(seed).standard_normal(_DIM, np.float32)
        return sum(self._known[word] for word in words)


class Asked(NamedTuple):
    """A memory, and a question about it."""

    memory_id: str
    question: str


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


async def fill(
    store: SqlMemoryStore, items: int, speech: Speech, questions: int = _QUESTIONS
) -> list[Asked]:
    """Keep so many memories; returns questions about some of them."""
    asked: list[Asked] = []
    every = max(1, items // questions)
    for start in range(0, items, _BATCH):
        batch = [a_memory(n, speech.sentence()) for n in range(start, min(start + _BATCH, items))]
        await store.store_many(batch)
        asked += [
            Asked(item.memory_id, speech.question(item.content))
            for item in batch
            if int(item.memory_id[1:]) % every == 0
        ]
    return asked


def measure(
    items: int = 100_000, questions: int = _QUESTIONS, *, vectors: bool = True
) -> dict[str, float]:
    """Medians of questions, and what it costs to keep a memory."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_measure(items, questions, Path(directory), vectors))


async def _measure(items: int, questions: int, directory: Path, vectors: bool) -> dict[str, float]:
    clock, speech = SystemClock(), Speech(1)
    database = Database(directory / "silas.db", clock)
    database.migrate("silas.memory")
    try:
        store = SqlMemoryStore(database, clock)
        started = time.process_time()
        asked = await fill(store, items, speech, questions)
        figures = {"keeping a memory, many at once, us (CPU)": _since(started) / items * 1e6}
        words = HybridRetriever(store, NoVectors(), len, clock)
        figures |= await _timed(
            f"a keyword query among {items:,}",
            asked,
            lambda question: store.search_keyword(question, 10),
        )
        figures |= await _timed(
            f"recall by words among {items:,}",
            asked,
            lambda question: words.recall(question, "owner", 10),
        )
        plain = f"one OR of all words among {items:,}"
        figures |= await _timed(plain, asked[::10], lambda question: _plain(database, question))
        figures["found among the first ten, by words"] = await _share(words, asked)
        figures["keeping four records of a turn, us"] = await _four_by_four(
            store, items, questions, speech
        )
        if vectors:
            figures |= await _with_vectors(database, store, asked, items)
    finally:
        database.close()
    return figures


async def _plain(database: Database, question: str) -> Sequence[object]:
    """What full-text search costs that is handed every word of a question."""
    every = " OR ".join(f'"{word}"' for word in question.rstrip("?").split())
    with database.read() as tx:
        return tx.driver.execute(
            "SELECT i.* FROM memory_words AS w JOIN memory_items AS i ON i.place = w.rowid "
            "WHERE memory_words MATCH ? ORDER BY bm25(memory_words) LIMIT 10",
            (every,),
        ).fetchall()


async def _with_vectors(
    database: Database, store: SqlMemoryStore, asked: Sequence[Asked], items: int
) -> dict[str, float]:
    clock, embedder = SystemClock(), WordSums()
    index = NumpyVectorIndex(database, embedder.name, embedder.dim)
    search = SemanticSearch(database, embedder, index, clock)
    await search.catch_up()
    await search.search("owner", asked[0].question, 10)  # loads the index
    hybrid = HybridRetriever(store, search, len, clock)
    figures = await _timed(
        f"recall by words and vectors among {items:,}",
        asked,
        lambda question: hybrid.recall(question, "owner", 10),
    )
    figures["found among the first ten, by words and vectors"] = await _share(hybrid, asked)
    return figures


async def _timed(
    name: str, asked: Sequence[Asked], ask: Callable[[str], Awaitable[object]]
) -> dict[str, float]:
    walls: list[float] = []
    spent: list[float] = []
    for each in asked:
        wall, cpu = time.perf_counter(), time.process_time()
        assert await ask(each.question)
        walls.append(time.perf_counter() - wall)
        spent.append(_since(cpu))
    return {f"{name}, ms": median(walls) * 1e3, f"{name}, ms (CPU)": median(spent) * 1e3}


async def _share(retriever: HybridRetriever, asked: Sequence[Asked]) -> float:
    right = 0
    for each in asked:
        found = await retriever.recall(each.question, "owner", 10)
        right += each.memory_id in {ranked.item.memory_id for ranked in found}
    assert right > len(asked) // 2
    return right / len(asked)


async def _four_by_four(store: SqlMemoryStore, begin: int, times: int, speech: Speech) -> float:
    spent: list[float] = []
    for number in range(begin, begin + 4 * times, 4):
        raw = {"reingestion_tier": "low_reingestion"}
        four = [
            MemoryItem.model_validate({**dict(a_memory(n, speech.sentence())), **raw})
            for n in range(number, number + 4)
        ]
        started = time.perf_counter()
        await store.store_many(four)
        spent.append(time.perf_counter() - started)
    return median(spent) * 1e6


def _since(started: float) -> float:
    return time.process_time() - started


def main(sizes: Sequence[str]) -> int:
    """Print the figures for each size; of a million without vectors, whose making takes long."""
    for size in sizes or ("100000",):
        for figure, value in measure(int(size), vectors=int(size) <= 200_000).items():
            print(f"  {figure:56} {value:12,.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
