"""Every form of a schedule in a whole Silas, the budget of a day, and goals that only report."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from silas.goals.models import GoalState, Outcome
from silas.goals.service import GIVES_UP
from silas.plans import WorkItem
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from silas.work.checks.goal_checks import GoalChecks
from tests.goals.kit import START, TITLE, WATCHED, Watched, after, cycles, goal_text, house, yes
from tests.support.waits import SECONDS

DAY = 24 * 3600


async def test_an_always_on_goal_goes_on_after_a_pause_through_a_restart_until_it_is_paused(
    tmp_path: Path,
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    text = goal_text(schedule="always_on", agent="ephemeral")
    async with house(channel, clock, watched, tmp_path) as h:
        result = await h.silas.run(text)
        assert "run first on Tuesday 24 November 2026, 09:15 (Europe/Vienna" in result.summary
        for number in (1, 2, 3):
            await after(watched, clock, 5 * 60, number)
    async with house(channel, clock, watched, tmp_path):
        found = await after(watched, clock, 5 * 60, 4)
        assert [f"{cycle.due:%H:%M}" for cycle in found] == ["08:30", "08:25", "08:20", "08:15"]
        assert all(cycle.missed == 0 for cycle in found)
        found = await after(watched, clock, 6 * 3600, 5)
        assert found[0].missed == 0  # it has no moments of its own that could be missed
        watched.goals.pause(WATCHED)
        assert watched.goals.coming(WATCHED) == []
        watched.goals.resume(WATCHED)
        assert watched.goals.coming(WATCHED) == [clock.now() + timedelta(minutes=5)]


@pytest.mark.parametrize(
    ("schedule", "due"),
    [
        ("CRON_TZ=Asia/Kathmandu 0 15 * * *", "2026-11-24 09:15"),
        ("CRON_TZ=America/New_York 0 4 * * *", "2026-11-24 09:00"),
        ("0 10 * * *", "2026-11-24 09:00"),  # the owner's zone, Vienna
    ],
)
async def test_a_cron_goes_by_its_own_zone_and_else_by_the_owners(schedule: str, due: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(schedule=schedule))
        (first,) = await after(watched, clock, 2 * 3600, 1)
        second, _ = await after(watched, clock, DAY, 2)
    assert (f"{first.due:%F %H:%M}", first.missed) == (due, 0)
    assert second.due - first.due == timedelta(days=1)


async def test_a_goal_of_one_moment_runs_once_and_has_ended() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(schedule="2026-11-24T12:00+01:00"))
        (cycle,) = await after(watched, clock, DAY, 1)
        assert cycle.due == datetime(2026, 11, 24, 11, tzinfo=UTC)
        assert watched.goals.get(WATCHED).state is GoalState.ended
        assert watched.goals.coming(WATCHED) == []


async def test_a_goal_that_only_reports_tells_once_until_it_is_healthy_and_asks_nothing() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    text = goal_text(schedule="0 * * * *", on_failure="report", failure_context=None)
    async with house(channel, clock, watched) as h:
        await h.silas.run(text)
        outcomes = list[Outcome]()
        for number, good in enumerate((True, False, False, True, False), start=1):
            watched.good = good
            found = await after(watched, clock, 3600, number)
            outcomes.append(found[0].outcome)
        assert outcomes == [
            Outcome.healthy, Outcome.failed, Outcome.failed, Outcome.healthy, Outcome.failed
        ]  # fmt: skip
        told = [said for said in channel.texts if said.startswith(f"Goal “{TITLE}”: ")]
        assert told == [f"Goal “{TITLE}”: These checks of it fail: state."] * 2
        assert (len(channel.cards), watched.repaired) == (1, 0)
        assert await h.store.list_by_parent(WATCHED) == []


SANDBOX = "Checks run in a sandbox, which shows no processes, services or connections"


@pytest.mark.parametrize(
    ("run", "first", "hinted"),
    [
        ("./look", False, True),  # a program that nobody can read
        ("./look", True, False),  # it was healthy once, so it sees what it asks for
        ("grep -q look state", False, False),  # it looks at files, and that is all
    ],
)
async def test_a_goal_that_fails_from_its_first_cycle_on_is_told_what_no_check_sees(
    run: str, first: bool, hinted: bool
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    check = {"name": "state", "run": run, "expect": {"equals": "good"}}
    text = goal_text(on_failure="report", failure_context=None, verify=[check])
    async with house(channel, clock, watched) as h:
        await h.silas.run(text)
        for number, good in enumerate((first, False, True, False), start=1):
            watched.good = good
            await after(watched, clock, 3600, number)
    told = [said for said in channel.texts if said.startswith(f"Goal “{TITLE}”: ")]
    assert [SANDBOX in said for said in told] == [hinted, False]


async def used(h: Harness, task_id: str, **budget: Any) -> WorkItem:
    """Note what the task of a cycle used."""
    task = await h.store.get(task_id)
    assert task is not None
    task.budget_used = task.budget_used.model_copy(update=budget)
    await h.store.save(task)
    return task


@pytest.mark.parametrize(
    ("field", "much"), [("tokens", 4_001), ("cost_usd", 0.41), ("wall_time_seconds", 401.0)]
)
async def test_once_the_budget_of_a_day_is_used_no_work_starts_until_the_day_is_over(
    field: str, much: float
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    budget = {"max_tokens": 1_000, "max_cost_usd": 0.1, "max_wall_time_seconds": 100}
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(schedule="0 * * * *", budget=budget))
        watched.good = False
        (first,) = await after(watched, clock, 3600, 1)
        assert first.outcome is Outcome.fixed
        await used(h, first.task_id, **{field: much})
        found = cycles(watched)
        while len(found) < GIVES_UP + 2:  # it waits for room, however often, and does not give up
            watched.good = False
            (coming,) = watched.goals.coming(WATCHED)
            wait = (coming - clock.now()).total_seconds()
            found = await after(watched, clock, wait, len(found) + 1)
            assert found[0].outcome is Outcome.over_budget
        over = [said for said in channel.texts if "no room left within 5 times" in said]
        assert len(over) == 1
        assert (watched.repaired, len(channel.cards)) == (1, 1)
        assert "there is room again from Wednesday 25 November 2026, 10:10 (" in over[0]
        (coming,) = watched.goals.coming(WATCHED)
        many = len(found) + 1
        await after(watched, clock, (coming - clock.now()).total_seconds() + DAY, many)
        assert cycles(watched)[0].outcome is Outcome.fixed
        assert watched.repaired == 2


async def test_what_came_while_a_cycle_was_cut_off_by_a_crash_is_told_as_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    begun = asyncio.Event()

    async def never(*_: object) -> Any:
        begun.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        async with house(channel, clock, watched, tmp_path) as h:
            await h.silas.run(goal_text())
            patch.setattr(GoalChecks, "run", never)
            clock.advance(20 * 60)
            await asyncio.wait_for(begun.wait(), SECONDS)
    clock.advance(5 * 3600)
    async with house(channel, clock, watched, tmp_path):
        (cycle,) = await after(watched, clock, 0, 1)
        assert (f"{cycle.due:%H:%M}", cycle.outcome, cycle.missed) == ("08:30", Outcome.healthy, 10)
        assert [f"{moment:%H:%M}" for moment in watched.goals.coming(WATCHED)] == ["14:00"]


async def test_a_goal_that_was_paused_in_a_cycle_that_a_crash_cut_off_looks_at_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    begun = asyncio.Event()

    async def never(*_: object) -> Any:
        begun.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        async with house(channel, clock, watched, tmp_path) as h:
            await h.silas.run(goal_text())
            patch.setattr(GoalChecks, "run", never)
            clock.advance(20 * 60)
            await asyncio.wait_for(begun.wait(), SECONDS)
            watched.goals.pause(WATCHED)
    async with house(channel, clock, watched, tmp_path):
        (cycle,) = await after(watched, clock, 5 * 3600, 1)
        assert (cycle.outcome, watched.looks) == (Outcome.broken_off, 0)
        assert watched.goals.coming(WATCHED) == []
