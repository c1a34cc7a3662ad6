"""Every table of the database: each damaged column is named, stops nothing, and is read as true
nowhere. A table or column that nobody looks at fails here.
"""

import asyncio
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from silas.channels.web.sessions import WebSessions
from silas.clock import SystemClock
from silas.db import Database
from silas.errors import Stopped
from silas.home.damaged_rows import all_damaged
from silas.home.row_forms import CHECKED_ELSEWHERE, TABLES
from silas.testing import ScriptedChannel
from silas.wiring.build import Silas
from tests.stream.kit import soon
from tests.support.command import environment, run, silas
from tests.wiring.test_damaged_rows import config_of, filled, through_every_door

_AT = "2026-01-02T00:00:00+00:00"
_HEX = "a" * 64
ROWS = (
    "INSERT INTO attachments (id, conversation, name, size, digest, attached_at, state)"
    f" VALUES ('att-1', '', 'a.txt', 3, '{_HEX}', '{_AT}', 'removed')",
    f"INSERT INTO audit_witnesses VALUES ('paper', 3, 'c-1', '{_AT}', '')",
    f"INSERT INTO autonomy_thresholds VALUES ('owner', 'family', 'A1', 'token-1', '{_AT}')",
    f"INSERT INTO behavior_preferences VALUES ('owner', 'p', 'rule-1', 'verified', '{_AT}')",
    f"INSERT INTO behavior_signals VALUES (1, 'owner', 'family', 'accepted', '{_AT}')",
    f"INSERT INTO devices VALUES ('dev-1', 'phone', NULL, '{_AT}', NULL)",
    f"INSERT INTO emergency_stops (stopped_at, resumed_at) VALUES ('{_AT}', '{_AT}')",
    "INSERT INTO file_batches VALUES"
    f""" ('batch-1', '["/tmp/x",1,2]', 'moved', 'd', 't', '{{}}', '{_AT}', '{_AT}')""",
    "INSERT INTO file_batch_items VALUES ('batch-1', 1, '{}', 'moved', '')",
    f"INSERT INTO look_answers VALUES ('/tmp', 'x', 1, '{_AT}')",
    f"INSERT INTO mcp_tools VALUES ('srv', 'tool', '{_HEX}', '{{}}', '', '{_AT}')",
    f"INSERT INTO memory_asked SELECT place, '{_AT}', 'true' FROM memory_items"
    " WHERE memory_id = 'rule-1'",
    "INSERT INTO memory_forgotten VALUES ('owner', 1, 'channel:mail')",
    f"INSERT INTO pairing_links VALUES ('{_HEX}', '2126-01-02T00:00:00+00:00', NULL, NULL)",
    "INSERT INTO project_marks VALUES ('project-1', '{\"marks\": [], \"more\": 0}')",
    f"INSERT INTO reminder_tellings VALUES ('rem-1', '{_AT}', 'begun', 1, 0, '{_AT}')",
    "INSERT INTO scope_work (work_item_id, scope_id, begun_at)"
    f" VALUES ('task-done', 'owner', '{_AT}')",
    "INSERT INTO work_questions VALUES"
    f" ('task-done', 'token-1', '{_HEX}', 'answered', 'a', '', '{_AT}')",
    f"INSERT INTO web_sessions VALUES ('ses-1', 'dev-1', 'b', '{_HEX}', '{_AT}', '{_AT}', NULL)",
)
"""A row of each table that an ordinary day does not fill."""

LISTS: dict[str, tuple[str, ...]] = {
    "approval_nonces": ("approvals", "list"),
    "attachments": ("conversations", "files", "first"),
    "chronicle": ("conversations", "show", "first"),
    "conversations": ("conversations", "list"),
    "devices": ("devices", "list"),
    "file_batches": ("batch", "list"),
    "goals": ("goals", "list"),
    "goal_cycles": ("goals", "history", "goal-1"),
    "jobs": ("ahead",),
    "person_queues": ("queue", "list"),
    "persona_state": ("persona", "show"),
    "reminders": ("remind", "list"),
    "scope_work": ("show", "task-done"),
    "tool_health": ("tools", "list"),
    "tool_outcomes": ("calls", "list"),
    "waiting_plans": ("approvals", "list"),
    "work_questions": ("projects", "list"),
    "web_sessions": ("devices", "list"),
    "work_items": ("status",),
    "work_item_results": ("show", "task-done"),
}
"""The command that shows a table; `status` and `doctor` name the rows of all."""
STOPS = frozenset({"emergency_stops"})
"""A damaged stop refuses; see below."""
TOGETHER = (
    "approval_nonces attachments audit_kept autonomy_proposals behavior_preferences devices"
    " file_batches goals mcp_tools memory_asked person_queues",
    "audit_witnesses autonomy_thresholds behavior_signals chronicle file_batch_items goal_cycles"
    " memory_forgotten nonces_forgotten pairing_links"
    " project_marks tool_health",
    "conversations followed_files jobs persona_events scope_work suggestions waiting_plans"
    " web_sessions",
    "arrivals look_answers persona_state reminders web_transcript work_items",
    "effective_time memory_scopes reminder_tellings tool_outcomes work_item_results work_questions",
)
"""Tables that are damaged in one home: of what belongs together (a goal, its cycles and its jobs)
there is one table in each, so that no damage hides what another one does.
"""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a row in every table."""
    home = tmp_path_factory.mktemp("every") / "home"
    home.mkdir()
    assert run(silas("init"), environment(home)).code == 0
    asyncio.run(filled(home))
    with closing(sqlite3.connect(home / "data" / "silas.db")) as db:
        for statement in ROWS:
            db.execute(statement)
        db.commit()
    return home


def damage(home: Path, table: str, columns: tuple[str, ...], value: Any) -> None:
    """Write a value that no form has over columns of every row, past what the schema forbids."""
    with closing(sqlite3.connect(home / "data" / "silas.db")) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
        for (trigger,) in db.execute(triggers, (table,)).fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute(
            f"UPDATE {table} SET {', '.join(f'{one} = ?' for one in columns)}",
            [value] * len(columns),
        )
        db.commit()


def copied(full: Path, tmp_path: Path) -> Path:
    home = tmp_path / "home"
    shutil.copytree(full, home, ignore=shutil.ignore_patterns("*.sock"))
    return home


def named(home: Path) -> set[str]:
    with closing(Database(home / "data" / "silas.db", SystemClock())) as db:
        return {one.place for one in all_damaged(db)}


def test_every_table_and_column_has_a_form(full: Path) -> None:
    with closing(sqlite3.connect(full / "data" / "silas.db")) as db:
        rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {name for (name,) in rows if not re.match(r"sqlite_|memory_(raw_)?words", name)}
        assert tables == TABLES.keys() | CHECKED_ELSEWHERE.keys()
        assert sorted(" ".join(TOGETHER).split()) == sorted(TABLES.keys() - STOPS)
        for table, form in TABLES.items():
            read = set(re.split(r"[\s,]+", form.statement.split(" FROM ")[0])[1:])
            has = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            assert read == has or table == "work_items", table
            assert len(form.columns.split()) == len(read), table
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0], table


def _changeable(full: Path, table: str) -> tuple[str, ...]:
    """Columns that are no part of a key, so that every row can hold the same in them."""
    with closing(sqlite3.connect(full / "data" / "silas.db")) as db:
        unique = {
            column
            for _, name, is_unique, *_ in db.execute(f"PRAGMA index_list({table})").fetchall()
            if is_unique
            for _, _, column in db.execute(f"PRAGMA index_info({name})").fetchall()
        }
        found = db.execute(f"PRAGMA table_info({table})").fetchall()
    return tuple(row[1] for row in found if not row[5] and row[1] not in unique)


@pytest.mark.parametrize("table", sorted(TABLES))
def test_each_damaged_column_is_named(full: Path, tmp_path: Path, table: str) -> None:
    for number, column in enumerate(_changeable(full, table)):
        if table == "work_items" and column not in TABLES[table].statement:
            continue  # its own reader's; see `test_damaged_rows`
        (tmp_path / str(number)).mkdir()
        home = copied(full, tmp_path / str(number))
        damage(home, table, (column,), b"\xff\xfe\x00")
        assert table in named(home), column
        shutil.rmtree(home)


@pytest.mark.parametrize("together", TOGETHER)
def test_a_damaged_table_stops_nothing_and_its_list_goes_on(
    full: Path, tmp_path: Path, together: str
) -> None:
    home, tables = copied(full, tmp_path), together.split()
    for table in tables:
        damage(home, table, _changeable(full, table), b"\xff\xfe\x00")
    told, _ = asyncio.run(through_every_door(home))
    assert not {table for table in tables if f"`{table}`" not in " ".join(told)}, told
    env = environment(home)
    for command in {("doctor",), *(LISTS.get(table, ("status",)) for table in tables)}:
        done = run(silas(*command), env)
        assert "fault-" not in done.out + done.err, (command, done)
        assert "Traceback" not in done.err, (command, done)
    done = run(silas("ask", "hello"), env)
    assert done.code == 0, done.err


@pytest.mark.parametrize("column", ["stopped_at", "resumed_at"])
@pytest.mark.parametrize("value", ["{", b"\xff", "2026-13-99T00:00:00", ""])
def test_a_damaged_stop_refuses_until_the_owner_resumes(
    full: Path, tmp_path: Path, column: str, value: Any
) -> None:
    home = copied(full, tmp_path)
    damage(home, "emergency_stops", (column,), value)
    env = environment(home)

    async def asked() -> str:
        async with Silas.open(config_of(home), channel=ScriptedChannel()) as opened:
            return (await soon(opened.ask("hello"))).outcome

    with pytest.raises(Stopped, match="Silas is stopped"):
        asyncio.run(asked())
    assert run(silas("ask", "hello"), env).code != 0
    assert run(silas("resume", "--yes"), env).code == 0
    assert asyncio.run(asked()) == "answered"


def test_a_damaged_archiving_hides_no_conversation(full: Path, tmp_path: Path) -> None:
    home = copied(full, tmp_path)
    damage(home, "conversations", ("archived_at",), "{")
    done = run(silas("conversations", "list", "--json"), environment(home))
    assert done.code == 0
    assert '"archived": true' not in done.out
    assert named(home) == {*named(full), "conversations"}


@pytest.mark.parametrize("value", ["{", b"\xff", "9999-01-01T00:00:00.000000+00:00"])
def test_a_damaged_link_or_session_lets_nobody_in(full: Path, tmp_path: Path, value: Any) -> None:
    home = copied(full, tmp_path)
    with closing(Database(home / "data" / "silas.db", SystemClock())) as db:
        sessions = WebSessions(db, SystemClock())
        token, opened = sessions.add_link(), sessions.open("dev-1")
        assert sessions.link(token).state == "good"
        assert sessions.by_cookie(opened.cookie)
    damage(home, "pairing_links", ("expires_at",), value)
    for column in ("began_at", "seen_at"):
        damage(home, "web_sessions", (column,), value)
        with closing(Database(home / "data" / "silas.db", SystemClock())) as db:
            sessions = WebSessions(db, SystemClock())
            assert sessions.link(token).state == "expired"
            assert not sessions.use_link(token, "dev-1")
            assert sessions.by_cookie(opened.cookie) is None
            assert sessions.by_id(opened.id) is None
            assert sessions.standing() == []
