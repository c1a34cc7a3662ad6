"""What runs and what waits for the owner, told by titles."""

from collections.abc import Generator
from pathlib import Path

import pytest

from silas.db import Database
from silas.plans import WaitingPlan, WorkItemStatus
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.services.activity.under_way import UnderWay
from silas.testing import MockClock
from silas.testing.builders import a_plan
from silas.work.changes.held_store import HeldStore


@pytest.fixture
def db(tmp_path: Path) -> Generator[Database]:
    database = Database(tmp_path / "silas.db", MockClock())
    database.migrate("silas.plans")
    yield database
    database.close()


async def test_what_runs_and_what_waits_is_told_but_no_task_of_a_project(
    db: Database, tmp_path: Path
) -> None:
    store, waiting = SqlWorkItemStore(db, MockClock()), SqlWaitingPlans(db, MockClock())
    told = UnderWay(store, waiting, HeldStore(tmp_path / "held"))
    assert await told.words() == "Nothing runs, and nothing waits for you."
    running = a_plan(title="Back up").model_copy(update={"status": WorkItemStatus.running})
    await store.save(running)
    await store.save(running.model_copy(update={"id": "task-part", "parent": "task-example"}))
    await store.save(
        a_plan(id="task-done", title="Done").model_copy(update={"status": WorkItemStatus.done})
    )
    for number in range(11):
        item = a_plan(id=f"task-{number:02}", title=f"Copy {number}")
        await waiting.put(WaitingPlan(item, "because"))
    lines = (await told.words()).splitlines()
    assert lines[:4] == ["Running:", "- “Back up”", "Waiting for your yes:", "- “Copy 0”"]
    assert lines[-2:] == ["- “Copy 9”", "1 more; “Work” shows them."]


async def test_a_title_hides_nothing(db: Database, tmp_path: Path) -> None:
    store, waiting = SqlWorkItemStore(db, MockClock()), SqlWaitingPlans(db, MockClock())
    await store.save(
        a_plan(title="Pay\u202elliB").model_copy(update={"status": WorkItemStatus.running})
    )
    await waiting.put(WaitingPlan(a_plan(id="task-b", title="Co\u200bpy"), "because"))
    lines = (await UnderWay(store, waiting, HeldStore(tmp_path / "held")).words()).splitlines()
    assert lines[1] == "- “Pay<U+202E>lliB”"
    assert lines[3] == "- “Co<U+200B>py”"
