"""Files that are moved every morning, as it is said: a morning without one is a quiet one."""

from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card
from silas.goals.models import Cycle, GoalState, Outcome
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.cockpit.house import House, a_house
from tests.goals.kit import START, until, yes

DAY = 24 * 3600


async def a_morning(cockpit: House, clock: MockClock, goal: str) -> Cycle:
    """The goal is due once."""
    store = cockpit.parts.goals().store

    def ended() -> list[Cycle]:
        return [one for one in store.history(goal, 100) if one.ended_at is not None]

    before = len(ended())
    clock.advance(DAY)
    await until(lambda: len(ended()) > before)
    return ended()[0]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("every morning move all pdf files to Papers", "a.pdf"),
        ("every morning at seven move all pdfs into Papers", "B.PDF"),
        ("jeden Morgen um sieben verschiebe alle *.pdf Dateien in Papers", "a.pdf"),
        ("verschiebe jeden Morgen um sieben alle pdf-Dateien nach Papers", "B.PDF"),
    ],
)
async def test_a_morning_without_a_file_is_quiet_and_one_with_a_file_moves_it(
    said: str, name: str, tmp_path: Path
) -> None:
    (folder := tmp_path / "Downloads").mkdir()
    (folder / "song.mp3").write_bytes(b"a song")

    def answer(card: Card[Any]) -> Any:
        return yes(card)

    channel, clock = ScriptedChannel(answer), MockClock(START)
    async with a_house(channel, clock=clock) as cockpit:
        reply = await cockpit.harness.silas.ask(said, workspace=folder)
        assert reply.plan is not None, reply.text
        goal = reply.plan.id
        await a_morning(cockpit, clock, goal)
        told = len(channel.sent)
        for _ in range(5):
            quiet = await a_morning(cockpit, clock, goal)
            assert (quiet.outcome, quiet.task_id) == (Outcome.healthy, ""), quiet
        assert len(channel.sent) == told
        assert cockpit.parts.goals().get(goal).state is GoalState.active
        (folder / name).write_bytes(b"%PDF-1.4")
        moved = await a_morning(cockpit, clock, goal)
        assert moved.outcome is Outcome.fixed, moved
        assert (folder / "Papers" / name).read_bytes() == b"%PDF-1.4"
        assert (folder / "song.mp3").exists()
        assert len(channel.cards) == 1
        quiet = await a_morning(cockpit, clock, goal)
        assert quiet.outcome is Outcome.healthy
        assert (folder / "Papers" / name).exists()
