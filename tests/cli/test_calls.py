"""`silas calls`, and what `silas status` says of work that does not go on by itself."""

import asyncio
import json
from collections.abc import Generator
from pathlib import Path

import pytest
from click.testing import CliRunner

from silas.clock import SystemClock
from silas.db import Database
from silas.home.database import migrate
from silas.main.app import cli
from silas.plans import WaitingPlan, WorkItem, WorkItemStatus
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.testing import a_plan
from silas.testing.tools import a_context
from silas.tools import CallFacts
from silas.tools.models import (
    validated_call,
)
from silas.tools.outcomes import SqlOutcomeStore

KEY = "k" * 64


@pytest.fixture
def db(here: Path) -> Generator[Database]:
    (found,) = here.rglob("silas.db")
    database = Database(found, SystemClock())
    migrate(database)
    yield database
    with database.write() as tx:  # the home is shared with other tests
        for table in ("tool_outcomes", "waiting_plans", "work_items", "person_queues"):
            tx.driver.execute(f"DELETE FROM {table}")
    database.close()


def kept(db: Database, status: WorkItemStatus, **plan: object) -> WorkItem:
    item = a_plan(**plan)
    item.status = status
    asyncio.run(SqlWorkItemStore(db, SystemClock()).save(item))
    return item


def broken_off(db: Database, item: WorkItem) -> SqlOutcomeStore:
    """A call with the network that a crash ended."""
    outcomes = SqlOutcomeStore(db, SystemClock())
    call = validated_call("shell_exec", "run", {"argv": ["upload", item.id]})
    outcomes.begin(KEY, call, a_context(task_id=item.id), CallFacts(), idempotent=False)
    outcomes.mark_unfinished_unknown()
    return outcomes


@pytest.mark.parametrize(("answer", "left"), [("happened", "succeeded"), ("not", "")])
def test_the_owner_says_what_became_of_a_call_and_the_record_keeps_it(
    db: Database, answer: str, left: str
) -> None:
    item = kept(db, WorkItemStatus.blocked, id=f"up-{answer}", network=["example.org"])
    outcomes = broken_off(db, item)
    run = CliRunner().invoke
    listed = json.loads(run(cli, ["calls", "list", "--json"]).stdout)
    assert [(call["key"], call["work_item"]) for call in listed] == [(KEY, item.id)]
    assert KEY[:12] in run(cli, ["calls", "list"]).stdout
    short = run(cli, ["calls", "settle", KEY[:4], answer])
    assert short.exit_code == 2
    assert "silas calls list" in short.output
    done = run(cli, ["calls", "settle", KEY[:12], answer])
    assert done.exit_code == 0, done.stderr
    assert item.id in done.stdout
    assert [call.status.value for call in outcomes.calls_of(item.id)] == ([left] if left else [])
    assert "No call waits" in run(cli, ["calls", "list"]).stdout
    assert item.id in run(cli, ["audit", "show"]).stdout


def test_the_status_says_how_unfinished_work_goes_on(db: Database) -> None:
    for status in (WorkItemStatus.paused, WorkItemStatus.running, WorkItemStatus.done):
        kept(db, status, id=f"item-{status.value}")
    waiting = SqlWaitingPlans(db, SystemClock())
    asyncio.run(waiting.put(WaitingPlan(a_plan(id="item-asked"), "why")))
    told = CliRunner().invoke(cli, ["status"]).stdout
    assert "asked      item-asked" in told
    assert "\npaused: stopped before it was done" in told
    assert "\nrunning: at work; where Silas was killed, `silas chat` goes on with it" in told
    assert "\nasked: a plan that waits for your answer" in told
    assert "\ndone:" not in told
    lines = json.loads(CliRunner().invoke(cli, ["status", "--json"]).stdout)
    assert {"id": "item-asked", "status": "asked"}.items() <= lines[-1].items()


def test_who_waits_for_a_person_is_listed_until_somebody_saw_to_it(db: Database) -> None:
    with db.write() as tx:
        row = ("desk-7", "desk", "no-refunds", "2026-01-02T03:04:05+00:00")
        tx.driver.execute("INSERT INTO person_queues VALUES (?, ?, ?, ?)", row)
    runner = CliRunner()
    assert "1 wait for a person: silas queue list" in runner.invoke(cli, ["status"]).output
    listed = runner.invoke(cli, ["queue", "list"])
    since = "Friday 2 January 2026, 03:04 (Etc/UTC, UTC+00:00)"
    assert listed.output == f"desk  desk-7  since {since}, by the rule no-refunds\n"
    told = json.loads(runner.invoke(cli, ["queue", "list", "--json"]).stdout)
    assert told == [
        {"connection_id": "desk-7", "queue": "desk", "gate": "no-refunds", "since": row[3]}
    ]
    assert runner.invoke(cli, ["queue", "done", "desk-7"]).exit_code == 0
    assert runner.invoke(cli, ["queue", "list"]).output == "Nobody waits for a person.\n"
    wrong = runner.invoke(cli, ["queue", "done", "desk-7"])
    assert wrong.exit_code != 0
    assert "waits in no queue" in wrong.output
