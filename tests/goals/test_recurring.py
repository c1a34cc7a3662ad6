"""Work that recurs: a goal of `cycle: work` does its own work when it is due, and tells of it."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from silas.approval.revocation import revoke
from silas.cards import PlanCard
from silas.goals.models import GoalState, Outcome
from silas.plans import PlanError, PlanParser, WorkItemStatus, plan_hash, recurring_task, subject_of
from silas.plans.goals.limits import unable_goal
from silas.stream.goal_cycles import GoalCycles
from silas.testing import Harness, ScriptedChannel, ScriptedModel
from silas.testing.clock import MockClock
from silas.types import InteractionMode
from tests.goals.kit import START, WATCHED, Watched, after, cycles, goal_text, house, yes
from tests.stream.kit import entries_of, ran
from tests.support.waits import SECONDS
from tests.work.kit import sh

BODY = "Look after it.\n\n```sh\nrepair\n```"
DAY = 24 * 3600
NOW = datetime(2026, 11, 24, 9, 0, tzinfo=UTC)


def work_text(**changes: object) -> str:
    """A goal that does its own work each morning."""
    fields: dict[str, object] = {
        "title": "Tidy the state",
        "cycle": "work",
        "schedule": "0 10 * * *",
        "on_failure": "report",
        "failure_context": None,
        "body": BODY,
    }
    return goal_text(**{**fields, **changes})


async def test_one_yes_and_the_work_is_done_each_time_with_its_result() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    watched.good = False
    async with house(channel, clock, watched) as h:
        result = await h.silas.run(work_text())
        assert result.status is WorkItemStatus.healthy
        assert "first run was set for Tuesday 24 November 2026, 10:00" in result.summary
        (card,) = channel.cards
        assert isinstance(card, PlanCard)
        assert "By the clock, without asking each time: " in card.effect
        told = next(d for d in card.details if d.heading.startswith("When it runs"))
        assert "does the work below, without asking 20 times within 30 days" in told.lines[0]
        (first,) = await after(watched, clock, 50 * 60, 1)
        assert first.outcome is Outcome.done, first
        said = len(channel.texts)
        found = await after(watched, clock, DAY, 2)
        assert [cycle.outcome for cycle in found] == [Outcome.done, Outcome.done]
        told = [text.startswith("Tidy the state: ") for text in channel.texts[said:]]
        assert told.count(True) == 1  # the result of this time
        assert watched.repaired == 2
        assert len(channel.cards) == 1
        tasks = [await h.store.get(cycle.task_id) for cycle in found]
        uses = await entries_of(h, "approval.used")
        assert sorted(use["digest"] for use in uses) == sorted(plan_hash(t) for t in tasks if t)
        assert {t.title for t in tasks if t} == {"Tidy the state"}


async def test_work_that_recurs_is_not_said_to_have_read_what_its_checks_printed(
    tmp_path: Path,
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    executor = ScriptedModel([sh("echo good > state.txt"), ran()])
    check = {"name": "state", "run": "cat state.txt", "expect": {"contains": "good"}}
    models = {"executor": executor}
    async with Harness(channel, models=models, clock=clock, beside=watched.beside) as h:
        plan = work_text(
            body="Repair it.", workspace=str(tmp_path), writes=["state.txt"], verify=[check]
        )
        await h.silas.run(plan)
        (cycle,) = await after(watched, clock, 50 * 60, 1)
        result = await h.store.get_result(cycle.task_id)
    assert result is not None
    assert (result.summary, result.read_before) == ("Done and verified: state.", [])


async def test_with_a_condition_it_is_done_only_where_that_holds() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    watched.good = watched.repairs = False
    async with house(channel, clock, watched) as h:
        await h.silas.run(work_text(cycle="when"))
        said = len(channel.texts)
        (first,) = await after(watched, clock, 50 * 60, 1)
        assert (first.outcome, first.task_id) == (Outcome.healthy, "")
        assert first.words == "Nothing to tell, because not: state."
        assert (watched.repaired, len(channel.texts[said:])) == (0, 1)  # see the next test
        assert await entries_of(h, "approval.used") == []
        watched.good = True
        found = await after(watched, clock, DAY, 2)
        assert (found[0].outcome, watched.repaired) == (Outcome.done, 1)
        assert len(await entries_of(h, "approval.used")) == 1
        told = [text for text in channel.texts[said:] if text.startswith("Tidy the state: ")]
        assert len(told) == 1
        assert len(channel.cards) == 1


SANDBOX = "Checks run in a sandbox, which shows no processes, services or connections"


@pytest.mark.parametrize("cycle", ["when", "work"])
@pytest.mark.parametrize(
    ("run", "first", "hinted"),
    [
        ("./look", False, True),  # a program that nobody can read
        ("./look", True, False),  # it held once, so it sees what it asks for
        ("grep -q look state", False, False),  # it looks at files, and that is all
    ],
)
async def test_a_check_of_recurring_work_that_fails_at_first_says_what_no_check_sees(
    cycle: str, run: str, first: bool, hinted: bool
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    watched.repairs = False
    check = {"name": "state", "run": run, "expect": {"equals": "good"}}
    budget = {"max_attempts": 1, "max_planner_calls": 0}
    async with house(channel, clock, watched) as h:
        await h.silas.run(work_text(cycle=cycle, verify=[check], budget=budget))
        for number, good in enumerate((first, False, False), start=1):
            watched.good = good
            (coming,) = watched.goals.coming(WATCHED)
            await after(watched, clock, (coming - clock.now()).total_seconds(), number)
    told = [said for said in channel.texts if said.startswith("Goal “Tidy the state”: ")]
    assert [SANDBOX in said for said in told] == [True] * hinted
    if hinted and cycle == "when":
        nothing = "Goal “Tidy the state”: Nothing to tell, because not: state. Checks"
        assert told[0].startswith(nothing)


async def test_what_was_missed_is_done_once() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(work_text())
        (cycle,) = await after(watched, clock, 5 * DAY, 1)
        assert (cycle.outcome, cycle.missed, watched.repaired) == (Outcome.done, 4, 1)


async def test_work_that_keeps_failing_pauses_and_says_so_once() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    watched.good = watched.repairs = False
    async with house(channel, clock, watched) as h:
        await h.silas.run(work_text(budget={"max_attempts": 1, "max_planner_calls": 0}))
        for ended in range(1, 6):
            (coming,) = watched.goals.coming(WATCHED)
            await after(watched, clock, (coming - clock.now()).total_seconds(), ended)
        assert {cycle.outcome for cycle in cycles(watched)} == {Outcome.not_done}
        assert watched.goals.get(WATCHED).state is GoalState.paused
        paused = [text for text in channel.texts if "It is paused" in text]
        assert len(paused) == 1
        assert "5 cycles in a row did not do their work" in paused[0]


async def test_a_used_up_approval_asks_and_an_approval_taken_back_pauses() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(work_text())
        for ended in range(1, 22):
            await after(watched, clock, DAY, ended)
        assert len(channel.cards) == 2  # the 21st time has a card of its own
        assert watched.repaired == 21
        goal = await h.store.get(WATCHED)
        assert goal is not None
        assert goal.approval_token is not None
        assert await revoke(goal.approval_token, watched.parts.nonces, h.audit)
        (last, *_) = await after(watched, clock, DAY, 22)
        assert (last.outcome, watched.repaired) == (Outcome.refused, 21)
        assert watched.goals.get(WATCHED).state is GoalState.paused


async def test_killed_once_its_use_is_spent_a_slot_has_one_task_and_one_use(tmp_path: Path) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    watched.good = False
    begun = asyncio.Event()

    async def never(*_: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    with pytest.MonkeyPatch.context() as patch:
        async with house(channel, clock, watched, tmp_path) as h:
            await h.silas.run(work_text())
            patch.setattr(GoalCycles, "_wait_for_work", never)
            clock.advance(50 * 60)
            await asyncio.wait_for(begun.wait(), SECONDS)
    async with house(channel, clock, watched, tmp_path) as h:
        (cycle,) = await after(watched, clock, 0, 1)
        assert cycle.outcome is Outcome.done, cycle
        assert len(await entries_of(h, "approval.used")) == 1
        assert watched.repaired == 1


def test_the_task_of_a_slot_is_bound_by_the_goal_and_by_nothing_else() -> None:
    goal = PlanParser().parse(work_text())
    task = recurring_task(goal, "slot-1", NOW)
    policy = subject_of(goal).policy
    assert subject_of(task).policy == policy != ""
    assert recurring_task(goal, "slot-1", NOW).id == task.id
    assert recurring_task(goal, "slot-2", NOW).id != task.id
    changes: tuple[dict[str, Any], ...] = (
        {"body": BODY + "\nrm -r ."},
        {"title": "Other"},
        {"writes": ["a"]},
        {"workspace": "/tmp/other"},
        {"network": ["example.org"]},
        {"tools": [{"name": "shell_exec"}]},
        {"verify": []},
        {"budget": goal.budget.model_copy(update={"max_tokens": 10**6})},
        {"cycle": None},
        {"cycle": "when"},
        {"schedule": "* * * * *"},
        {"id": "task-mine"},
        {"parent": None},
        {"interaction_mode": InteractionMode.act_and_report},
        {"worker": "w"},
        {"on_failure": "other"},
    )
    for change in changes:
        changed = task.model_copy(update=change)
        assert subject_of(changed).policy != policy, change


def test_a_goal_without_cycle_keeps_its_bytes() -> None:
    plain = PlanParser().parse(goal_text())
    assert b'"cycle"' not in subject_of(plain).canonical
    assert b'"cycle":"work"' in subject_of(PlanParser().parse(work_text())).canonical


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"body": " "}, "no briefing"),
        ({"schedule": "always_on", "agent": "ephemeral"}, "without a pause"),
        ({"on_failure": "spawn_task"}, "nothing follows a failing check"),
        ({"failure_context": "again"}, "nothing follows a failing check"),
        ({"schedule": None}, "never runs"),
        ({"cycle": "when", "verify": []}, "no condition"),
    ],
)
def test_what_could_not_run_is_said_before_anything_is_signed(
    changes: dict[str, object], says: str
) -> None:
    assert says in unable_goal(PlanParser().parse(work_text(**changes)))


def test_only_a_goal_has_a_cycle() -> None:
    text = work_text(type="task", schedule=None)
    with pytest.raises(PlanError, match="only a goal has"):
        PlanParser().parse(text)
