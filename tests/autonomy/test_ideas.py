"""What is suggested is found in what happened, by rules that a table can state."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from silas.autonomy.ideas import repeated_ideas
from silas.clock import Clock
from silas.db import Database
from silas.goals.models import GoalState
from silas.goals.store import SqlGoalStore
from silas.home.database import migrate
from silas.plans import WorkItem, WorkItemStatus, WorkItemType
from silas.plans.store import SqlWorkItemStore
from silas.services.review import ideas_from
from silas.testing import MockClock, a_plan

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
VIENNA = ZoneInfo("Europe/Vienna")


def done(days: float, **changed: Any) -> WorkItem:
    """Work of so many days ago."""
    given = {
        "title": "Run the tests",
        "type": WorkItemType.task,
        "status": WorkItemStatus.done,
        "created_at": NOW - timedelta(days=days),
    }
    return a_plan(**{**given, **changed})


def asked(item: WorkItem) -> str:
    """How such work is asked for."""
    return f"{item.title} in {item.workspace}"


THREE = (1, 2, 4)


def test_what_was_asked_for_on_three_days_could_come_by_itself() -> None:
    items = [done(days, workspace="/work/a") for days in THREE]
    (idea,) = repeated_ideas(items, set(), asked, VIENNA, NOW)
    assert idea.words == "Every day at 13:00: Run the tests in /work/a"
    assert idea.rationale == "You asked for it on 3 of the last 7 days."


@pytest.mark.parametrize(
    "items",
    [
        [done(1), done(1.1), done(2)],
        [done(1), done(2), done(8)],
        [done(1), done(2), done(3, title="Tidy")],
        [done(days, status=WorkItemStatus.failed) for days in THREE],
        [done(days, spawned_by="goal-a") for days in THREE],
        [done(days, parent="project-a") for days in THREE],
        [done(days, follow_up_of="task-a") for days in THREE],
        [done(days, workspace=f"/work/{days}") for days in THREE],
    ],
    ids=[
        "two days",
        "too long ago",
        "another",
        "failed",
        "of a goal",
        "of a project",
        "went on",
        "elsewhere",
    ],
)
def test_anything_less_is_no_habit(items: list[WorkItem]) -> None:
    assert repeated_ideas(items, set(), asked, VIENNA, NOW) == []


def test_what_comes_by_itself_already_is_not_suggested() -> None:
    items = [done(days) for days in THREE]
    assert repeated_ideas(items, {"run the tests"}, asked, VIENNA, NOW) == []


def test_what_cannot_be_asked_for_in_words_is_not_suggested() -> None:
    assert repeated_ideas([done(days) for days in THREE], set(), lambda _: "", VIENNA, NOW) == []


async def test_a_goal_that_paused_by_itself_is_looked_into_and_one_that_was_paused_is_not(
    tmp_path: Path,
) -> None:
    clock: Clock = MockClock()
    db = Database(tmp_path / "silas.db", clock)
    migrate(db, ("silas.plans", "silas.goals"))
    items, goals = SqlWorkItemStore(db, clock), SqlGoalStore(db)
    for name in ("goal-a", "goal-b", "goal-c"):
        await items.save(a_plan(id=name, title=f"Watch {name}", type=WorkItemType.goal))
        goals.save_approved(name, "* * * * *", clock.now())
    goals.stands("goal-a", GoalState.paused, "it failed 5 times in a row")
    goals.stands("goal-b", GoalState.paused)
    found = await ideas_from(items, db, lambda _: "owner", asked, VIENNA)(clock.now())
    assert [(one.words, one.rationale) for one in found] == [
        ("Find out why 'Watch goal-a' keeps failing", "It is paused: it failed 5 times in a row")
    ]
    assert await ideas_from(items, db, lambda _: "other", asked, VIENNA)(clock.now()) == found
    db.close()
