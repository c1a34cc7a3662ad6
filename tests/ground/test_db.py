import asyncio
import sqlite3
import stat
import sys
import threading
from collections.abc import Generator
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import text

from silas.db import Database
from silas.errors import DatabaseError
from silas.testing import MockClock

CREATE = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL);\n"


@pytest.fixture
def db(tmp_path: Path) -> Generator[Database]:
    database = Database(tmp_path / "data" / "silas.db", MockClock())
    yield database
    database.close()


def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> str:
    root = tmp_path / "pkgs"
    folder = root / "garden" / "migrations"
    folder.mkdir(parents=True, exist_ok=True)
    (root / "garden" / "__init__.py").write_text("")
    for old in folder.glob("*.sql"):
        old.unlink()
    for name, content in files.items():
        (folder / f"{name.lstrip('_')}.sql").write_text(content)
    monkeypatch.setattr(sys, "path", [str(root), *sys.path])
    sys.modules.pop("garden", None)
    import_module("garden")
    return "garden"


def count(db: Database, table: str = "notes") -> int:
    with db.read() as tx:
        return tx.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()


def test_the_file_is_private_and_journals_ahead(db: Database) -> None:
    assert stat.S_IMODE(db.path.stat().st_mode) == 0o600
    with db.read() as tx:
        assert tx.driver.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert tx.driver.execute("PRAGMA busy_timeout").fetchone() == (5000,)


def test_a_migration_is_applied_once_and_recorded(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = package(tmp_path, monkeypatch, _001_initial=CREATE)
    db.migrate(name)
    db.migrate(name)
    assert count(db) == 0
    assert count(db, "schema_migrations") == 1


@pytest.mark.parametrize(
    ("second", "word"),
    [
        ({"_001_initial": CREATE + "-- changed\n"}, "differs"),
        ({"_002_other": "CREATE TABLE other (id INTEGER);\n"}, "newer version"),
    ],
)
def test_drift_fails_closed_and_changes_nothing(
    db: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    second: dict[str, str],
    word: str,
) -> None:
    db.migrate(package(tmp_path, monkeypatch, _001_initial=CREATE))
    with pytest.raises(DatabaseError, match=word) as caught:
        db.migrate(package(tmp_path, monkeypatch, **second))
    assert caught.value.code == "E_DB_DRIFT"
    assert count(db, "schema_migrations") == 1


def test_a_migration_that_fails_half_way_leaves_nothing(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = CREATE + "INSERT INTO nowhere VALUES (1);\n"
    with pytest.raises(DatabaseError):
        db.migrate(package(tmp_path, monkeypatch, _001_initial=broken))
    assert count(db, "sqlite_master WHERE name = 'notes'") == 0


def test_a_failed_transaction_is_rolled_back_whole(db: Database) -> None:
    with db.write() as tx:
        tx.driver.execute(CREATE)

    def half_way() -> None:
        with db.write() as tx:
            tx.driver.execute("INSERT INTO notes (body) VALUES ('a')")
            with db.write() as inner:
                inner.execute(text("INSERT INTO notes (body) VALUES ('b')"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_way()
    assert count(db) == 0


def test_a_nested_write_joins_and_reads_its_own_changes(db: Database) -> None:
    with db.write() as tx:
        tx.driver.execute(CREATE)
        with db.write() as inner:
            inner.driver.execute("INSERT INTO notes (body) VALUES ('a')")
        assert count(db) == 1
    assert count(db) == 1


def test_readers_do_not_see_what_is_not_committed(db: Database, tmp_path: Path) -> None:
    with db.write() as tx:
        tx.driver.execute(CREATE)
    other = Database(db.path, MockClock())
    with db.write() as tx:
        tx.driver.execute("INSERT INTO notes (body) VALUES ('a')")
        assert count(other) == 0
    assert count(other) == 1
    other.close()


def test_writes_from_many_threads_queue(db: Database) -> None:
    with db.write() as tx:
        tx.driver.execute(CREATE)

    def add() -> None:
        for _ in range(20):
            with db.write() as tx:
                tx.driver.execute("INSERT INTO notes (body) VALUES ('x')")

    threads = [threading.Thread(target=add) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert count(db) == 100


async def test_a_transaction_open_across_an_await_is_caught(db: Database) -> None:
    opened, finish = asyncio.Event(), asyncio.Event()

    async def careless() -> None:
        with db.write():
            opened.set()
            await finish.wait()

    task = asyncio.create_task(careless())
    await opened.wait()
    with pytest.raises(AssertionError, match="across an await"), db.write():
        pass
    finish.set()
    await task


def test_a_durable_write_restores_the_faster_setting(db: Database) -> None:
    with db.write(durable=True) as tx:
        assert tx.driver.execute("PRAGMA synchronous").fetchone() == (2,)
        tx.driver.execute(CREATE)
    with db.write() as tx:
        assert tx.driver.execute("PRAGMA synchronous").fetchone() == (1,)


def test_a_durable_write_never_joins_a_weaker_one_in_silence(db: Database) -> None:
    def nested() -> None:
        with db.write(), db.write(durable=True):
            pass

    with pytest.raises(AssertionError, match="durable"):
        nested()
    with db.write(durable=True), db.write():
        pass


def test_statement_errors_are_ours(db: Database) -> None:
    with pytest.raises(DatabaseError), db.read() as tx:
        tx.execute(text("SELECT * FROM nowhere"))
    with pytest.raises(DatabaseError), db.read() as tx:
        tx.driver.execute("SELECT * FROM nowhere")


def test_a_file_that_is_no_database_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "silas.db"
    path.write_bytes(b"this is not a database, it is a sentence" * 100)
    with pytest.raises(DatabaseError, match=r"silas\.db"):
        Database(path, MockClock())


def test_a_locked_database_says_so_instead_of_waiting_forever(tmp_path: Path) -> None:
    db = Database(tmp_path / "silas.db", MockClock())
    with db.write() as tx:
        tx.driver.execute(CREATE)
    holder = sqlite3.connect(db.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with db.read() as tx:
        tx.driver.execute("PRAGMA busy_timeout=1")
    db._writer.driver.execute("PRAGMA busy_timeout=1")  # pyright: ignore[reportPrivateUsage] - waits 5 s otherwise
    with pytest.raises(DatabaseError) as caught, db.write():
        pass
    assert caught.value.code == "E_DB_OPERATION"
    holder.execute("ROLLBACK")
    holder.close()
    db.close()
