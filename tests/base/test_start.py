"""The tables come first: a Silas with a wrong or half-made database never starts (spec 6.1)."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path

import pytest

from silas.errors import DatabaseError
from silas.home.database import MIGRATED
from silas.sandbox import RefusingSandbox, SandboxUnavailable
from silas.testing import Harness


def _harness(home: Path) -> Harness:
    none = SandboxUnavailable("There is none here.", code="E_SANDBOX_BWRAP_MISSING")
    return Harness(home=home, sandbox=RefusingSandbox(none))


@contextmanager
def _database(home: Path) -> Generator[sqlite3.Connection]:
    path = home / "data" / "silas.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def _starts(home: Path) -> int:
    with _database(home) as connection:
        query = "SELECT count(*) FROM audit_log WHERE body LIKE '%stream_started%'"
        return connection.execute(query).fetchone()[0]


@pytest.mark.proves("S6.1-BEFORE-START")
async def test_every_migration_there_is_runs_before_the_start(tmp_path: Path) -> None:
    async with _harness(tmp_path):
        assert _starts(tmp_path) == 1
    with _database(tmp_path) as connection:
        rows = connection.execute("SELECT domain, name FROM schema_migrations").fetchall()
    shipped = {
        (package.rpartition(".")[2], file.name)
        for package in MIGRATED
        for file in (resources.files(package) / "migrations").iterdir()
        if file.name.endswith(".sql")
    }
    assert set(rows) == shipped
    rooms = Path(str(resources.files("silas"))).rglob("migrations/*.sql")
    assert len(shipped) == len(list(rooms))


@pytest.mark.proves("S6.1-BEFORE-START", "S6.1-DRIFT-REFUSED")
@pytest.mark.parametrize("room", [package.rpartition(".")[2] for package in MIGRATED])
async def test_a_migration_that_differs_aborts_the_start(tmp_path: Path, room: str) -> None:
    async with _harness(tmp_path):
        pass
    with _database(tmp_path) as connection:
        connection.execute("UPDATE schema_migrations SET checksum = 'x' WHERE domain = ?", (room,))
    with pytest.raises(DatabaseError, match=f"{room}/") as refused:
        async with _harness(tmp_path):
            pass
    assert refused.value.code == "E_DB_DRIFT"
    assert _starts(tmp_path) == 1


@pytest.mark.proves("S6.1-BEFORE-START")
async def test_a_migration_that_fails_aborts_the_start(tmp_path: Path) -> None:
    with _database(tmp_path) as connection:
        connection.execute("CREATE TABLE tool_outcomes (other TEXT)")
    with pytest.raises(DatabaseError, match="tool_outcomes"):
        async with _harness(tmp_path):
            pass
    assert _starts(tmp_path) == 0
