"""Killed anywhere in a turn: the message and the answer are not lost, and nothing is done twice."""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from silas.testing import Harness, MockClock, ScriptedChannel
from silas.types import OWNER
from tests.chaos.faults import Faults
from tests.chaos.kit import sample
from tests.stream.kit import everything

# what was about to be awaited when the process died never is
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited:RuntimeWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

SAID = "remember that my landlord is called Odile Renard"
ANSWER = "I keep this as a fact, in your words: my landlord is called Odile Renard"


class Outside(ScriptedChannel):
    """A channel whose other end remembers what arrived, whatever becomes of the process."""

    def __init__(self, heard: Path, faults: Faults) -> None:
        super().__init__()
        self._heard, self._faults = heard, faults

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        self._faults.point("send")
        with self._heard.open("a") as file:
            file.write(f"{text}\0")
        self._faults.point("send")


class Life(NamedTuple):
    """What a fault left, and what the next start made of it.

    Attributes:
        kinds: The kinds of the points that were passed.
        arrived: Whether the message was on record when the process died.
        heard: What the owner got before the fault, and after the restart.
        kept: How often the fact is remembered.
        chronicle: What the conversation holds after the restart.
    """

    kinds: tuple[str, ...]
    arrived: bool
    heard: tuple[list[str], list[str]]
    kept: int
    chronicle: list[str]


def texts(heard: Path) -> list[str]:
    """What arrived at the other end."""
    return heard.read_text().split("\0")[:-1] if heard.exists() else []


def lived(at: int) -> Life:
    """One turn with a fault at a point, a restart that tells, and one more that must be quiet."""
    with tempfile.TemporaryDirectory(prefix="silas-chaos-") as base:
        home, heard, clock = Path(base) / "home", Path(base) / "heard", MockClock()
        home.mkdir()
        asyncio.run(opened(home, clock))  # a Silas that is set up, as most are
        faults = Faults(at)

        async def turn() -> None:
            async with Harness(Outside(heard, faults), home=home, clock=clock) as h:
                await h.silas.ask(SAID)

        with faults.installed():
            faults.run(turn)
        before = texts(heard)
        arrived, chronicle, kept = asyncio.run(opened(home, clock, heard))
        after = texts(heard)[len(before) :]
        asyncio.run(opened(home, clock, heard))
        assert texts(heard) == [*before, *after]  # told once, and not at every start
        return Life(tuple(faults.seen), arrived, (before, after), kept, chronicle)


def on_record(home: Path) -> bool:
    """Whether a message lies there unanswered, by the rows themselves."""
    for path in home.rglob("silas.db"):
        with closing(sqlite3.connect(path)) as db:
            return bool(db.execute("SELECT count(*) FROM arrivals").fetchone()[0])
    return False


async def opened(
    home: Path, clock: MockClock, heard: Path | None = None
) -> tuple[bool, list[str], int]:
    """A process in which nothing goes wrong: what it found, and what stands then."""
    arrived = on_record(home)
    channel = ScriptedChannel() if heard is None else Outside(heard, Faults())

    async with Harness(channel, home=home, clock=clock) as h:
        entries = await h.ports["chronicle"].get_recent(OWNER, 50)
        stands = [item.content for item in entries]
        facts = [one for one in everything(h) if one.source_kind == "memory_op"]
        heard_raw = [one.content for one in everything(h) if one.source_kind == "conversation_raw"]
        once = any(line.startswith(f"[owner] {OWNER}: ") for line in stands)
        assert heard_raw == [SAID] * once  # in the raw lane as often as in the chronicle
        chain = await h.audit.verify_chain()
        assert chain.valid, chain.reason
    return arrived, stands, len(facts)


@pytest.mark.proves("S5.1-3-CHRONICLED")
def test_killed_anywhere_in_a_turn_neither_message_nor_answer_is_lost_or_doubled() -> None:
    whole = lived(0)
    assert whole.heard == ([ANSWER], [])
    assert whole.kept == 1
    assert {"db", "committed", "step", "send"} <= set(whole.kinds)
    told = set[str]()
    last = len(whole.kinds)
    sends = [n for n, kind in enumerate(whole.kinds, 1) if kind == "send"]  # each and what follows
    for point in sorted(
        {*sample(last, 40), *(min(n + more, last) for n in sends for more in (0, 1))}
    ):
        life = lived(point)
        before, after = life.heard
        said = [line for line in life.chronicle if line.endswith(SAID)]
        if not life.arrived:  # it ended before the message was there, or after all was done
            assert (before, after, life.kept, said) in (
                ([], [], 0, []),
                ([ANSWER], [], 1, [f"[owner] {OWNER}: {SAID}"]),
            )
            continue
        assert len(after) == 1
        assert len(said) == 1
        assert life.kept <= 1
        told.add(after[0].partition(" I ")[0].partition(" while ")[0])
        if before:  # it was sent, so it was kept before
            assert after[0].endswith(ANSWER)
            assert f"Silas: {ANSWER}" in life.chronicle
        else:
            assert SAID in after[0] or after[0].endswith(ANSWER)
    assert len(told) == 2  # both kinds of interruption were met


async def test_an_answer_is_kept_before_it_is_sent() -> None:
    kept: list[list[str]] = []

    class Looking(ScriptedChannel):
        async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
            entries = await h.ports["chronicle"].get_recent(OWNER, 5)
            kept.append([item.content for item in entries])
            kept.append([left.answer for left in h.ports["arrivals"].list_left()])

    async with Harness(Looking()) as h:
        await h.silas.ask(SAID)
        assert h.ports["arrivals"].list_left() == []
    assert kept == [[f"[owner] {OWNER}: {SAID}", f"Silas: {ANSWER}"], [ANSWER]]
