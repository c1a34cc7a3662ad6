"""One damaged row is set aside and named; nothing else waits for it, however Silas is opened."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from silas.clock import SystemClock
from silas.config import SilasConfig, load_config
from silas.config.place import ConfigPlace
from silas.db import Database
from silas.jobs.models import Job
from silas.jobs.store import SqlJobStore
from silas.memory.models import MemoryItem, MemoryType, TrustLevel
from silas.memory.store import SqlMemoryStore
from silas.plans import WaitingPlan, WorkItemStatus
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.services.work import open_work
from silas.stream.session import Session
from silas.testing import ScriptedChannel, a_plan
from silas.testing.tools import a_context
from silas.tools import CallFacts
from silas.tools.models import validated_call
from silas.tools.outcomes import SqlOutcomeStore
from silas.types import OWNER, TaintLevel
from silas.wiring.build import Silas
from silas.wiring.cockpit import cockpit_of
from silas.wiring.parts import Parts
from tests.stream.kit import saying_yes, soon
from tests.support.command import environment, run, silas
from tests.support.plans import a_workspace, writing_plan

DAMAGES: dict[str, Any] = {
    "no JSON": "{",
    "no object": "[1]",
    "bytes": b"\xff\xfe\x00",
    "a number": 7,
}


class Place(NamedTuple):
    """A table, which of its rows, and the columns that are damaged."""

    table: str
    where: str
    columns: tuple[str, ...]


PLACES = {
    "work that is under way": Place("work_items", "id = 'task-open'", ("budget",)),
    "work whose plan was edited": Place("work_items", "id = 'task-open'", ("plan_hash",)),
    "work that is done": Place("work_items", "id = 'task-done'", ("verify", "created_at")),
    "a result": Place("work_item_results", "work_item_id = 'task-done'", ("result",)),
    "a question": Place("waiting_plans", "1", ("plan",)),
    "a question's words": Place("waiting_plans", "1", ("plan_hash", "rationale")),
    "a call that broke off": Place("tool_outcomes", "task_id = 'task-open'", ("attempted_at",)),
    "a call": Place("tool_outcomes", "task_id = 'task-done'", ("attempted_at", "result")),
    "a message that arrived": Place("arrivals", "1", ("arrived_at", "text")),
    "an entry of the conversation": Place("chronicle", "1", ("item",)),
    "a personality": Place("persona_state", "1", ("mood_json", "updated_at")),
    "a suggestion": Place("suggestions", "1", ("proposal",)),
    "a setting that was proposed": Place("autonomy_proposals", "1", ("proposal",)),
    "who waits for a person": Place("person_queues", "1", ("since",)),
    "what was said on a page": Place("web_transcript", "1", ("body",)),
    "a job": Place("jobs", "kind = 'goal'", ("due", "attempts")),
    "a goal": Place("goals", "1", ("approved_at", "schedule")),
    "a goal's cycle": Place("goal_cycles", "1", ("began_at", "outcome")),
    "a reminder": Place("reminders", "id = 'rem-1'", ("zone", "due")),
    "a standing rule": Place("memory_items", "memory_id = 'rule-1'", ("taint", "content")),
    "a memory": Place("memory_items", "memory_id <> 'rule-1'", ("created_at", "sources")),
    "a file that is followed": Place("followed_files", "1", ("sub",)),
}
"""What an opening reads."""

TOGETHER = (
    (
        "work that is under way",
        "a result",
        "a question",
        "a message that arrived",
        "a suggestion",
        "what was said on a page",
        "a goal",
        "a standing rule",
    ),
    (
        "work whose plan was edited",
        "a call",
        "a question's words",
        "an entry of the conversation",
        "a setting that was proposed",
        "a goal's cycle",
        "a memory",
        "a file that is followed",
    ),
    (
        "work that is done",
        "a call that broke off",
        "a personality",
        "who waits for a person",
        "a job",
        "a reminder",
    ),
)
"""Places that are damaged in one home: none of these rows is looked for because of another of them,
so what is left out for one damage hides nobody else's.
"""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which there is one of everything."""
    home = tmp_path_factory.mktemp("full") / "home"
    env = environment(home)
    home.mkdir()
    assert run(silas("init"), env).code == 0
    asyncio.run(filled(home))
    return home


async def filled(home: Path) -> None:
    work = a_workspace(home.parent / "work")
    channel = ScriptedChannel(saying_yes)
    async with Silas.open(config_of(home), channel=channel) as opened:
        await soon(opened.ask("hello"))
        result = await soon(opened.run(writing_plan(work, id="task-done")))
        assert result.status is WorkItemStatus.done, result.summary
        item = a_plan(id="task-open")
        await soon(opened.runs.proposer.propose(item, channel, OWNER, "why"))
        item.status, item.attempts = WorkItemStatus.running, 1
        await opened.store.save(item)
    database = Database(home / "data" / "silas.db", SystemClock())
    with closing(database):
        clock = SystemClock()
        await SqlWaitingPlans(database, clock).put(WaitingPlan(a_plan(id="task-asked"), "why"))
        await SqlMemoryStore(database, clock).store(_rule(clock.now()))
        call = validated_call("shell_exec", "run", {"argv": ["true"]})
        context = a_context(task_id="task-open")
        SqlOutcomeStore(database, clock).begin(
            "k" * 64, call, context, CallFacts(), idempotent=False
        )
        with database.write() as tx:
            for statement in _ROWS:
                tx.driver.execute(statement)


def _rule(now: datetime) -> MemoryItem:
    return MemoryItem(
        memory_id="rule-1",
        content="Answer in metres.",
        memory_type=MemoryType.preference,
        trust_level=TrustLevel.verified,
        taint=TaintLevel.owner,
        created_at=now,
        updated_at=now,
        source_kind="memory_op",
        sources=("channel:cli",),
    )


_ROWS = (
    "INSERT INTO arrivals VALUES ('msg-1', 'owner', 'cli', 'owner', 'hello',"
    " '2026-01-02T00:00:00+00:00', 1, '', '')",
    "INSERT INTO suggestions VALUES (1, 's-1', 'owner', 'key', '{}', NULL, '2026-01-02', NULL)",
    "INSERT INTO autonomy_proposals"
    " VALUES (1, 'p-1', 'owner', 'family', '{}', 1, NULL, '2026-01-02', NULL)",
    "INSERT INTO person_queues VALUES ('somebody', 'support', 'gate', '2026-01-02T00:00:00+00:00')",
    "INSERT INTO web_transcript (id, body) VALUES ('said-1', '{}')",
    "INSERT INTO goals VALUES"
    " ('goal-1', '*/30 * * * *', 'active', '', 0, 0, '2026-01-02T00:00:00+00:00')",
    "INSERT INTO goal_cycles VALUES ('goal-1', '2026-01-02T00:00:00', '2026-01-02T00:00:00+00:00',"
    " 'healthy', '', 0, '', '2026-01-02T00:00:00+00:00', '2026-01-02T00:00:00+00:00')",
    "INSERT INTO jobs VALUES ('job-1', 'goal', 'goal-1', '2026-01-02T00:00:00', 'goals',"
    " '2026-01-02T00:00:00.000000+00:00', 'UTC', 'waiting', 0, 1000, '', '')",
    *(
        "INSERT INTO reminders VALUES"
        f" ('rem-{number}', 'tea', 'here', 'UTC', '2126-01-02T00:00:00', '',"
        " '2126-01-02T00:00:00+00:00', 'waiting', '2026-01-02T00:00:00+00:00', '')"
        for number in (1, 2)
    ),
    "INSERT INTO followed_files VALUES ('owner', 'a', '/', '{}', 1)",
    "INSERT OR REPLACE INTO persona_state"
    " VALUES ('owner', '{}', '{}', '{}', 'a', 'b', '{}', '{}', '2026-01-02')",
)


def config_of(home: Path) -> SilasConfig:
    return load_config(environ=environment(home))


def damaged_home(full: Path, tmp_path: Path, damage: Any, *places: Place) -> Path:
    """The same home with a damage in every one of these columns."""
    home = tmp_path / "home"
    shutil.copytree(full, home, ignore=shutil.ignore_patterns("*.sock"))
    with closing(sqlite3.connect(home / "data" / "silas.db")) as db:
        for place in places:
            changes = ", ".join(f"{column} = ?" for column in place.columns)
            changed = db.execute(
                f"UPDATE {place.table} SET {changes} WHERE {place.where}",
                [damage] * len(place.columns),
            )
            assert changed.rowcount > 0, place
        db.commit()
    return home


async def through_every_door(home: Path) -> tuple[list[str], list[str]]:
    """Ask, chat, the cockpit's pages, and what `status` and `doctor` look at; what was told."""
    config, told, rows = config_of(home), list[str](), list[str]()

    @asynccontextmanager
    async def pages(parts: Parts, session: Session) -> AsyncGenerator[None]:
        rooms = cockpit_of(parts, session, ConfigPlace(home / "config.yaml", {}), {})
        listed = await rooms.work.rows()
        rows.extend(row.id for row in listed)
        for row in listed:
            if row.id == "task-open":
                await rooms.work.one(row.id)
        yield

    channel = ScriptedChannel()
    async with Silas.open(config, channel=channel, resume=False, beside=pages) as opened:  # ask
        assert (await soon(opened.ask("hello"))).outcome == "answered"
    told += [text for _, text in channel.sent]
    channel = ScriptedChannel()
    async with Silas.open(config, channel=channel, beside=pages) as opened:  # chat, start
        await soon(opened.listen())
        await soon(opened.wait_for_work())
        assert (await soon(opened.ask("what can you do?"))).outcome == "answered"
    told += [text for _, text in channel.sent]
    async with open_work(config) as service:
        await service.items()
        await service.questions()
        told += [f"status: {one.words}" for one in service.list_damaged()]
        service.people.waiting()
    return told, rows


def test_every_place_is_damaged_with_some_of_the_others() -> None:
    assert sorted(place for places in TOGETHER for place in places) == sorted(PLACES)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("places", TOGETHER, ids=lambda places: places[0])
async def test_a_damaged_row_stops_nothing_and_is_named(
    full: Path, tmp_path: Path, places: tuple[str, ...], damage: str
) -> None:
    home = damaged_home(full, tmp_path, DAMAGES[damage], *(PLACES[place] for place in places))
    told, _ = await through_every_door(home)
    named = [text for text in told if text.startswith("status: ")]
    unnamed = {one for one in places if f"`{PLACES[one].table}`" not in " ".join(named)}
    assert not unnamed, named


_NOTED = "SELECT place, key, content FROM damaged_rows WHERE place = 'work_items'"


async def test_the_owner_is_told_once_and_the_row_is_kept(full: Path, tmp_path: Path) -> None:
    home = damaged_home(full, tmp_path, "{", PLACES["work that is under way"])
    told, _ = await through_every_door(home)
    named = [text for text in told if "task-open in `work_items`" in text]
    assert len([text for text in named if not text.startswith("status: ")]) == 1
    with closing(sqlite3.connect(home / "data" / "silas.db")) as db:
        (kept,) = db.execute("SELECT budget FROM work_items WHERE id = 'task-open'").fetchone()
        noted = db.execute(_NOTED).fetchall()
    assert kept == "{"
    assert noted == [("work_items", "task-open", "")]  # what is forgotten there is not kept here


@pytest.mark.parametrize("damage", DAMAGES)
async def test_jobs_go_on_beside_a_damaged_one_and_lists_without_it(
    full: Path, tmp_path: Path, damage: str
) -> None:
    home = damaged_home(full, tmp_path, DAMAGES[damage], PLACES["a job"])
    with closing(Database(home / "data" / "silas.db", SystemClock())) as database:
        jobs, due = SqlJobStore(database), datetime(2026, 1, 3, tzinfo=UTC)
        kept = jobs.put(Job("reminder", "rem-2", "slot", "reminders", due))
        assert jobs.next_due(["goal", "reminder"], None) == due
        assert jobs.next_due(["goal"], None) is None
        assert [job.ref for job in jobs.list_unfinished(due)] == [kept.ref]
        assert jobs.get("job-1") is None


def test_lists_of_goals_and_reminders_go_on_without_a_damaged_one(
    full: Path, tmp_path: Path
) -> None:
    for number, (place, command, rest) in enumerate(
        (
            ("a goal", ("goals", "list"), "No goal"),
            ("a reminder", ("remind", "list"), "1. tea"),
        )
    ):
        home = damaged_home(full, tmp_path / str(number), "{", PLACES[place])
        done = run(silas(*command), environment(home))
        assert (done.code, done.err.count("fault-")) == (0, 0), done.err
        assert rest in done.out


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_memory_is_named_by_doctor_and_can_be_forgotten(
    full: Path, tmp_path: Path, damage: str
) -> None:
    home = damaged_home(full, tmp_path, DAMAGES[damage], PLACES["a standing rule"])
    env = environment(home)
    doctor = run(silas("doctor"), env)
    assert doctor.code != 0
    assert "rule-1 in `memory_items`" in " ".join(doctor.out.split())
    with closing(Database(home / "data" / "silas.db", SystemClock())) as database:
        assert await SqlMemoryStore(database, SystemClock()).forget("channel:cli")
        with database.read() as tx:
            left = tx.driver.execute("SELECT 1 FROM memory_items WHERE memory_id = 'rule-1'")
            assert left.fetchone() is None
    shutil.rmtree(home)
    home = damaged_home(full, tmp_path, DAMAGES[damage], PLACES["a standing rule"])
    done = run(silas("memory", "forget", "--id", "rule-1", "--yes"), env)
    assert done.code == 0, done.err
    assert "rule-1 in" not in run(silas("doctor"), env).out


def test_every_command_that_looks_names_it_and_work_goes_on(full: Path, tmp_path: Path) -> None:
    home = damaged_home(full, tmp_path, b"\xff", PLACES["work that is under way"])
    env = environment(home)
    for command in (("status",), ("doctor",)):
        told = " ".join(run(silas(*command), env).out.split())
        assert "task-open in `work_items` of the database was changed or damaged" in told
    done = run(silas("chat"), env)
    assert done.code == 0, done.err
    rows = json.loads(run(silas("status", "--json"), env).out)
    assert "task-open" in {row.get("key") for row in rows if row["status"] == "damaged"}
    assert "task-done" in {row.get("id") for row in rows}
