"""Work of a goal asks its owner: the question outlives the process, however that ends (5.2.3)."""

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from silas.goals.models import Cycle, Outcome
from silas.goals.service import Goals
from silas.plans import WorkItemStatus
from silas.stream.session import Session
from silas.testing import MockClock, plan_text
from tests.goals.kit import HALF_AN_HOUR, START, WATCHED, until
from tests.projects.test_questions import ASKS, BLUE, NIGHT, PIPES, Asleep, house
from tests.stream.kit import soon
from tests.work.kit import DONE

GOAL = {"id": WATCHED, "type": "goal", "title": "Paint", "cycle": "work", "verify": None}


def _text() -> str:
    fields: dict[str, Any] = {**GOAL, "schedule": "*/30 * * * *", "body": "Paint it."}
    return plan_text(**fields)


def _ended(silas: Session) -> list[Cycle]:
    goals = silas.unasked.goals()
    assert isinstance(goals, Goals)
    return [one for one in goals.store.history(WATCHED, 10) if one.ended_at is not None]


@pytest.mark.parametrize("ends", ["in order", "killed"])
async def test_a_question_of_a_cycle_is_asked_again_and_the_cycle_goes_on(
    ends: str, tmp_path: Path
) -> None:
    home, left, clock, channel = tmp_path / "home", tmp_path / "left", MockClock(START), Asleep()
    home.mkdir()
    async with house(channel, ASKS, home=home, clock=clock) as h:
        await soon(h.silas.run(_text()))
        clock.advance(HALF_AN_HOUR)
        await soon(channel.asked.wait())
        assert h.silas.executor.asked_later() == (WATCHED,)
        (name,) = h.store.asking()
        shutil.copytree(home, left, ignore=PIPES)  # what a process that is killed now leaves
    after = Asleep()
    home = left if ends == "killed" else home
    async with house(after, ASKS, DONE, home=home, clock=clock) as h:
        await soon(after.asked.wait())
        assert h.store.asking() == {name}
        after.answer.set_result(BLUE)
        result = await soon(h.silas.wait(name))
        assert result is not None
        assert result.status is WorkItemStatus.done, result
        await until(lambda: bool(_ended(h.silas)))
        assert [cycle.outcome for cycle in _ended(h.silas)] == [Outcome.done]
    assert [card.intent.split("'")[1] for card in after.cards] == ["Paint"]


async def test_an_answer_in_the_morning_counts_for_the_cycle_that_asked() -> None:
    clock, channel = MockClock(START), Asleep()
    async with house(channel, ASKS, DONE, clock=clock) as h:
        await soon(h.silas.run(_text()))
        clock.advance(HALF_AN_HOUR)
        await soon(channel.asked.wait())
        (name,) = h.store.asking()
        card, item = channel.cards[-1], await h.store.get(name)
        assert card.kept
        assert item is not None
        # the yes to the goal holds for weeks, its question a day at most
        assert card.timeout_seconds == 24 * 3600 - item.budget.max_wall_time_seconds
        clock.advance(NIGHT)
        await asyncio.sleep(0)
        channel.answer.set_result(BLUE)
        await until(lambda: bool(_ended(h.silas)))
        assert [cycle.outcome for cycle in _ended(h.silas)][:1] == [Outcome.done]


async def test_while_work_of_a_goal_asks_every_list_says_so_and_what_comes_due_is_one_cycle() -> (
    None
):
    clock, channel = MockClock(START), Asleep()
    async with house(channel, ASKS, DONE, clock=clock) as h:
        await soon(h.silas.run(_text()))
        clock.advance(HALF_AN_HOUR)
        await soon(channel.asked.wait())
        (name,) = h.store.asking()
        waits = "“Paint” waits for your answer to what its work asks; "
        found = await h.silas.ahead(1)
        assert [one for one in found.asks if one.startswith(waits)]
        assert [one.due for one in found.coming] == [START + timedelta(minutes=50)]
        assert (await h.silas.ask(f"how does goal {WATCHED} stand?")).text.startswith(waits)
        clock.advance(NIGHT)
        await asyncio.sleep(0)
        assert h.store.asking() == {name}  # no second cycle beside it
        channel.answer.set_result(BLUE)
        await until(lambda: bool(_ended(h.silas)))
        (cycle,) = _ended(h.silas)
        assert (cycle.outcome, cycle.missed) == (Outcome.done, NIGHT // HALF_AN_HOUR)
        found = await h.silas.ahead(1)
        (row,) = found.coming
        assert timedelta(0) < row.due - clock.now() <= timedelta(seconds=HALF_AN_HOUR)
        assert not [one for one in found.asks if one.startswith(waits)]


async def test_while_a_cycle_waits_its_goal_runs_next_at_the_moment_after_it() -> None:
    clock, channel = MockClock(START), Asleep()
    async with house(channel, ASKS, clock=clock) as h:
        await soon(h.silas.run(_text()))
        (before,) = (await h.silas.ahead(1)).coming
        clock.advance(HALF_AN_HOUR)
        await soon(channel.asked.wait())
        (row,) = (await h.silas.ahead(1)).coming
        assert row.due - before.due == timedelta(seconds=HALF_AN_HOUR)
