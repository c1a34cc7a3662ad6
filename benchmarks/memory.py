"""How well memories are found by questions: recall of evidence over LoCoMo's conversations.

Each conversation is a store of its own, made through the store's public door: one memory a turn,
with who spoke, what was said, what a picture showed, when, and in which session. Each question goes
to the retriever as it is. Recall at k is the share of a question's evidence turns among the first
k memories found; a figure is the mean over all questions that have evidence, whatever their kind.
Answers are never read. The ranking's constants were chosen on conversations 26 and 30 alone.

Beside them stands the plain channel: SQLite's own `bm25()` over the same index, asked for any word
of the question. `--long` asks about the generated conversations of `benchmarks.long_talks` instead,
and `--joined` about all of LoCoMo in one store with eight turns a memory: long texts in natural
language.

Where `make embeddings` has put a sentence model beside the code, the same is told of meaning alone
and of both together; `--words` leaves that out.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from silas.clock import SystemClock
from silas.db import Database
from silas.memory import MemoryItem, MemoryType, NoVectors, Vectors
from silas.memory.embed import Embedder, FastEmbedder
from silas.memory.embedding import SemanticSearch
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.memory.terms import quote_term, words
from silas.memory.vectors import NumpyVectorIndex
from silas.types import TaintLevel

LOCOMO = Path(__file__).parents[2] / "shared" / "cases" / "locomo"
MINILM = Path(__file__).parents[1] / ".venv" / "minilm"
KS = (5, 10)
WORDS = "words"
PLAIN = "plain"


class Question(NamedTuple):
    """A question, its kind, and the turns that hold what it asks for."""

    text: str
    kind: str
    evidence: frozenset[str]


class Conversation(NamedTuple):
    """One conversation as memories, and what is asked about it."""

    name: str
    items: list[MemoryItem]
    questions: list[Question]


class Asked(NamedTuple):
    """How one question fared in one channel: the recall at each k, and the seconds it took."""

    channel: str
    kind: str
    recall: tuple[float, ...]
    seconds: float


class Outcome(NamedTuple):
    """One conversation: its questions, and what indexing a memory costs."""

    name: str
    asked: list[Asked]
    memories: int
    index_seconds: float


def conversations(names: Sequence[str] = ()) -> list[Conversation]:
    """Those that lie beside the checkout, or the named ones of them."""
    files = sorted(LOCOMO.glob("*.json"))
    return [_read(file) for file in files if not names or file.stem in names]


def _read(file: Path) -> Conversation:
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    turns: list[dict[str, Any]] = data["turns"]
    items: list[MemoryItem] = []
    for number, turn in enumerate(turns):
        moment = datetime.strptime(turn["date"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        beside = {n: turns[n]["id"] for n in (number - 1, number + 1) if 0 <= n < len(turns)}
        same = {n: name for n, name in beside.items() if turns[n]["session"] == turn["session"]}
        shown = f" [{turn['caption']}]" if turn["caption"] else ""
        items.append(
            MemoryItem(
                memory_id=turn["id"],
                content=f"{turn['speaker']}: {turn['text']}{shown}",
                memory_type=MemoryType.episode,
                taint=TaintLevel.owner,
                created_at=moment,
                updated_at=moment,
                session_id=f"session-{turn['session']}",
                temporal_prev=same.get(number - 1),
                temporal_next=same.get(number + 1),
                source_kind="conversation_raw",
            )
        )
    questions = [
        Question(asked["question"], asked["category"], frozenset(asked["evidence"]))
        for asked in data["questions"]
        if asked["evidence"]
    ]
    return Conversation(file.stem, items, questions)


Find = Callable[[str], Awaitable[list[str]]]
"""The ids that a channel finds for a question, best first."""


async def run(
    conversation: Conversation, directory: Path, embedder: Embedder | None = None
) -> Outcome:
    """Keep a conversation, and ask everything about it in every channel there is."""
    clock = SystemClock()
    database = Database(directory / f"{conversation.name}.db", clock)
    database.migrate("silas.memory")
    try:
        store = SqlMemoryStore(database, clock)
        started = time.perf_counter()
        for item in conversation.items:
            await store.store(item)
        index_seconds = time.perf_counter() - started
        asked = [
            await _ask(channel, find, question)
            for channel, find in (await _channels(database, store, embedder)).items()
            for question in conversation.questions
        ]
    finally:
        database.close()
    return Outcome(conversation.name, asked, len(conversation.items), index_seconds)


async def _channels(
    database: Database, store: SqlMemoryStore, embedder: Embedder | None
) -> dict[str, Find]:
    clock = SystemClock()

    def recall(vectors: Vectors) -> Find:
        retriever = HybridRetriever(store, vectors, len, clock)

        async def find(text: str) -> list[str]:
            found = await retriever.recall(text, "owner", max(KS))
            return [each.item.memory_id for each in found]

        return find

    async def plain(text: str) -> list[str]:
        return plainly(database, text, max(KS))

    found_by = {WORDS: recall(NoVectors()), PLAIN: plain}
    if embedder is None:
        return found_by
    index = NumpyVectorIndex(database, embedder.name, embedder.dim)
    search = SemanticSearch(database, embedder, index, clock)
    await search.catch_up()

    async def by_meaning(text: str) -> list[str]:
        return [name for name, _ in await search.search("owner", text, max(KS))]

    return {**found_by, "meaning": by_meaning, "both": recall(search)}


def plainly(database: Database, text: str, limit: int) -> list[str]:
    """What SQLite's own ranking finds for any of a text's words, best first."""
    with database.read() as tx:
        rows = tx.driver.execute(
            "SELECT memory_id FROM memory_words JOIN memory_items ON place = memory_words.rowid "
            "WHERE memory_words MATCH ? ORDER BY bm25(memory_words) LIMIT ?",
            (" OR ".join(quote_term(word) for word in words(text)), limit),
        ).fetchall()
    return [name for (name,) in rows]


async def _ask(channel: str, find: Find, question: Question) -> Asked:
    started = time.perf_counter()
    ids = await find(question.text)
    seconds = time.perf_counter() - started
    recall = tuple(len(question.evidence & set(ids[:k])) / len(question.evidence) for k in KS)
    return Asked(channel, question.kind, recall, seconds)


def the_model() -> Embedder | None:
    """The sentence model beside the code, if it is there."""
    if not (MINILM / "model.onnx").is_file() or find_spec("fastembed") is None:
        return None
    return FastEmbedder("all-MiniLM-L6-v2", 384, MINILM, MINILM, download=False)


def outcomes(
    conversation_store: Sequence[Conversation], embedder: Embedder | None = None
) -> list[Outcome]:
    """Every conversation in a database of its own."""
    with tempfile.TemporaryDirectory() as directory:
        return [asyncio.run(run(each, Path(directory), embedder)) for each in conversation_store]


def _line(name: str, asked: Sequence[Asked], channels: Sequence[str]) -> str:
    cells: list[str] = []
    for channel in channels:
        here = [each for each in asked if each.channel == channel]
        cells += [f"{mean(each.recall[n] for each in here):.3f}" for n in range(len(KS))]
    return f"{name:14} {len(asked) // len(channels):9}  {'  '.join(cells)}"


def _asked_for(arguments: Sequence[str]) -> list[Conversation]:
    from benchmarks import long_talks  # it is made of what is here

    if "--long" in arguments:
        return [long_talks.generated(number) for number in range(12)]
    conversation_store = conversations([name for name in arguments if not name.startswith("--")])
    return long_talks.joined(conversation_store) if "--joined" in arguments else conversation_store


def main(arguments: Sequence[str]) -> int:
    """Print the figures; where the conversations are not there, say so and succeed."""
    if "--long" not in arguments and not LOCOMO.is_dir():
        print(f"skipped: LoCoMo's conversations are not at {LOCOMO}")
        return 0
    embedder = None if "--words" in arguments else the_model()
    done = outcomes(_asked_for(arguments), embedder)
    asked = [each for outcome in done for each in outcome.asked]
    channels = list(dict.fromkeys(each.channel for each in asked))
    print(
        f"{'':14} questions  " + "".join(f"{f'{each} @{KS[0]}, @{KS[1]}':14}" for each in channels)
    )
    for outcome in done:
        print(_line(outcome.name, outcome.asked, channels))
    for kind in sorted({each.kind for each in asked}):
        print(_line(kind, [each for each in asked if each.kind == kind], channels))
    print(_line("all", asked, channels))
    memories = sum(outcome.memories for outcome in done)
    spent = sum(outcome.index_seconds for outcome in done)
    print(f"storing and indexing words: {spent / memories * 1e6:.0f} us a memory of {memories}")
    for channel in channels:
        took = median(each.seconds for each in asked if each.channel == channel)
        print(f"a question by {channel}: {took * 1e3:.2f} ms (median)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
