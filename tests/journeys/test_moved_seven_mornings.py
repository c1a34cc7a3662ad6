"""Files that are moved from folder to folder every morning, over a week (5.2.3)."""

from pathlib import Path
from typing import Any

from silas.cards import Card
from silas.goals.models import GoalState, Outcome
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.cockpit.house import a_house
from tests.goals.kit import START, yes
from tests.journeys.test_moved_every_morning import a_morning

SAID = "every morning at seven, move pdf files from Downloads to Documents/Invoices"


async def test_a_week_of_mornings_moves_what_is_there_and_is_quiet_otherwise(
    tmp_path: Path,
) -> None:
    (source := tmp_path / "Downloads").mkdir()
    (target := tmp_path / "Documents" / "Invoices").mkdir(parents=True)
    (source / "song.mp3").write_bytes(b"a song")
    (target / "taken.pdf").write_bytes(b"before")
    mornings = [("first.pdf",), (), ("taken.pdf",), (), (), ("a.pdf", "b.PDF"), ()]

    def answer(card: Card[Any]) -> Any:
        return yes(card)

    channel, clock = ScriptedChannel(answer), MockClock(START)
    async with a_house(channel, clock=clock) as cockpit:
        reply = await cockpit.harness.silas.ask(SAID, workspace=tmp_path)
        assert reply.plan is not None, reply.text
        goal = reply.plan.id
        for number, names in enumerate(mornings):
            for name in names:
                (source / name).write_bytes(f"{number}".encode())
            told = len(channel.sent)
            cycle = await a_morning(cockpit, clock, goal)
            expected = Outcome.fixed if names else Outcome.healthy
            assert cycle.outcome is expected, (number, cycle)
            assert (len(channel.sent) > told) == bool(names)
        assert cockpit.parts.goals().get(goal).state is GoalState.active
    found = {path.name: path.read_bytes() for path in target.iterdir()}
    assert found == {
        "first.pdf": b"0",
        "taken.pdf": b"before",
        "taken (2).pdf": b"2",
        "a.pdf": b"5",
        "b.PDF": b"5",
    }
    assert [path.name for path in source.iterdir()] == ["song.mp3"]
    assert len(channel.cards) == 1
