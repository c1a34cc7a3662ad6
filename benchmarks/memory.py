"""How well memories are found by questions: recall of evidence over LoCoMo's conversations.

Each conversation is a store of its own, made through the store's public door: one memory a turn,
with who spoke, what was said, what a picture showed, when, and in which session. Each question goes
to the retriever as it is. Recall at k is the share of a question's evidence turns among the first
k memories found; a figure is the mean over all questions that have evidence, whatever their kind.
Answers are never read. The ranking's constants were chosen on conversations 26 and 30 alone.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from silas.clock import SystemClock
from silas.db import Database
from silas.memory import MemoryItem, MemoryType, NoVectors
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.types import TaintLevel

LOCOMO = Path(__file__).parents[2] / "shared" / "cases" / "locomo"
KS = (5, 10)


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
    """How one question fared: the recall at each k, and the seconds it took."""

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


async def run(conversation: Conversation, directory: Path) -> Outcome:
    """Keep a conversation, and ask everything about it."""
    clock = SystemClock()
    database = Database(directory / f"{conversation.name}.db", clock)
    database.migrate("silas.memory")
    try:
        store = SqlMemoryStore(database, clock)
        retriever = HybridRetriever(store, NoVectors(), len, clock)
        started = time.perf_counter()
        for item in conversation.items:
            await store.store(item)
        index_seconds = time.perf_counter() - started
        asked = [await _ask(retriever, question) for question in conversation.questions]
    finally:
        database.close()
    return Outcome(conversation.name, asked, len(conversation.items), index_seconds)


async def _ask(retriever: HybridRetriever, question: Question) -> Asked:
    started = time.perf_counter()
    found = await retriever.recall(question.text, "owner", max(KS))
    seconds = time.perf_counter() - started
    ids = [each.item.memory_id for each in found]
    recall = tuple(len(question.evidence & set(ids[:k])) / len(question.evidence) for k in KS)
    return Asked(question.kind, recall, seconds)


def outcomes(names: Sequence[str] = ()) -> list[Outcome]:
    """Every conversation in a database of its own."""
    with tempfile.TemporaryDirectory() as directory:
        return [asyncio.run(run(each, Path(directory))) for each in conversations(names)]


def _recall(asked: Sequence[Asked]) -> str:
    return "  ".join(f"{mean(each.recall[n] for each in asked):.3f}" for n in range(len(KS)))


def main(names: Sequence[str]) -> int:
    """Print the figures; where the conversations are not there, say so and succeed."""
    if not LOCOMO.is_dir():
        print(f"skipped: LoCoMo's conversations are not at {LOCOMO}")
        return 0
    done = outcomes(names)
    asked = [each for outcome in done for each in outcome.asked]
    print(f"{'':14} questions  recall@{KS[0]}  @{KS[1]}")
    for outcome in done:
        print(f"{outcome.name:14} {len(outcome.asked):9}  {_recall(outcome.asked)}")
    for kind in sorted({each.kind for each in asked}):
        of_kind = [each for each in asked if each.kind == kind]
        print(f"{kind:14} {len(of_kind):9}  {_recall(of_kind)}")
    print(f"{'all':14} {len(asked):9}  {_recall(asked)}")
    memories = sum(outcome.memories for outcome in done)
    spent = sum(outcome.index_seconds for outcome in done)
    print(f"storing and indexing: {spent / memories * 1e6:.0f} us a memory, {memories} memories")
    print(f"a question: {median(each.seconds for each in asked) * 1e3:.2f} ms (median)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
