"""Files that go from a named folder to a named one, asked for in words, under one narrowed yes."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from silas.cards import Card, PlanCard
from silas.goals.models import GoalState, Outcome
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.cockpit.house import House, a_house, proof
from tests.goals.kit import START, yes
from tests.journeys.test_moved_every_morning import a_morning

SAID = "every morning at seven, move pdf files from Downloads to Documents/Invoices"
FRIDAY = datetime(2026, 11, 27, 22, 59, tzinfo=UTC)
MAY = "what may you do without asking?"


async def left_of(cockpit: House) -> str:
    """What of the yes is left, the same on the page and in words."""
    (row,) = (await cockpit.get("/ahead"))["alone"]
    told = (await cockpit.harness.silas.ask(MAY)).text
    assert f"- “{row['title']}”: {row['does']} {row['left']}." in told
    return str(row["left"])


async def test_a_yes_for_two_named_folders_is_counted_narrowed_used_up_and_over(
    tmp_path: Path,
) -> None:
    (source := tmp_path / "Downloads").mkdir()
    answers: list[str] = []

    def answer(card: Card[Any]) -> Any:
        return yes(card) if (answers.pop(0) if answers else "yes") == "yes" else card.safe

    def comes(name: str) -> None:
        (source / name).write_bytes(b"%PDF-1.4")

    channel, clock = ScriptedChannel(answer), MockClock(START)
    async with a_house(channel, clock=clock) as cockpit:
        silas = cockpit.harness.silas
        reply = await silas.ask(SAID, workspace=tmp_path)
        assert reply.plan is not None, reply.text
        goal = reply.plan.id
        (card,) = channel.cards
        assert isinstance(card, PlanCard)
        assert "`Downloads/*.pdf`" in card.effect
        await silas.narrow(goal, uses=15, until=FRIDAY)
        end = "until Friday 27 November 2026, 23:59"
        for number, name in enumerate(("rent.pdf", "WATER.PDF"), 1):
            comes(name)
            moved = await a_morning(cockpit, clock, goal)
            assert moved.outcome is Outcome.fixed, (moved, channel.texts)
            assert await left_of(cockpit) == f"used {number} of 15, {end}"
        # narrowed on the page to one more; the work after that has a card, and a no is one
        body = {"uses": 1, "proof": proof()}
        assert (await cockpit.client.post(f"/goals/{goal}/narrow", json=body)).is_success
        comes("light.pdf")
        cycle = await a_morning(cockpit, clock, goal)
        over = (await cockpit.get("/ahead"))["asking"][0]["why"]
        assert "every use " in over or "its time is over" in over, over
        assert cycle.outcome is Outcome.fixed, cycle
        answers[:] = ["no"]
        comes("phone.pdf")
        declined = await a_morning(cockpit, clock, goal)
        assert declined.outcome is Outcome.declined
        assert (source / "phone.pdf").exists()
        # Friday is over; it asked once, and waits with it until the files were moved by somebody
        assert clock.now() > FRIDAY
        assert (await cockpit.get("/ahead"))["alone"] == []
        assert (await a_morning(cockpit, clock, goal)).outcome is Outcome.asked
        assert len(channel.cards) == 2
        (source / "phone.pdf").unlink()
        assert (await a_morning(cockpit, clock, goal)).outcome is Outcome.healthy
        comes("tax.pdf")
        assert (await a_morning(cockpit, clock, goal)).outcome is Outcome.fixed
        assert len(channel.cards) == 3  # a yes to this work alone
        assert "Nothing." in (await silas.ask(MAY)).text
    found = sorted(path.name for path in (tmp_path / "Documents" / "Invoices").iterdir())
    assert found == ["WATER.PDF", "light.pdf", "rent.pdf", "tax.pdf"]


async def test_files_that_come_every_morning_are_moved_every_morning_until_it_is_taken_back(
    tmp_path: Path,
) -> None:
    (source := tmp_path / "Downloads").mkdir()
    channel, clock = ScriptedChannel(yes), MockClock(START)
    async with a_house(channel, clock=clock) as cockpit:
        silas = cockpit.harness.silas
        reply = await silas.ask(SAID, workspace=tmp_path)
        assert reply.plan is not None, reply.text
        goal = reply.plan.id
        for number in range(8):
            (source / f"{number}.pdf").write_bytes(b"%PDF-1.4")
            moved = await a_morning(cockpit, clock, goal)
            assert (moved.outcome, moved.missed) == (Outcome.fixed, 0), (number, moved)
            assert cockpit.parts.goals().get(goal).state is GoalState.active
            assert (await left_of(cockpit)).startswith(f"used {number + 1} of 20, until ")
        assert "Taken back" in (await silas.ask(f"take back the approval of {goal}")).text
        (source / "tax.pdf").write_bytes(b"%PDF-1.4")
        assert (await a_morning(cockpit, clock, goal)).outcome is Outcome.refused
        assert cockpit.parts.goals().get(goal).state is GoalState.paused
        assert (source / "tax.pdf").exists()
    assert len(channel.cards) == 1
    assert len(list((tmp_path / "Documents" / "Invoices").iterdir())) == 8
