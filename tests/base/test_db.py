import asyncio
import hashlib
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Generator
from importlib import import_module
from pathlib import Path

import pytest

from silas.db import Database
from silas.errors import DatabaseError
from silas.testing import MockClock
from tests.support.waits import SECONDS

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
        return int(tx.driver.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.mark.proves("S6.1-WAL")
def test_the_file_is_private_and_journals_ahead(db: Database) -> None:
    assert stat.S_IMODE(db.path.stat().st_mode) == 0o600
    with db.read() as tx:
        assert tx.driver.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert tx.driver.execute("PRAGMA busy_timeout").fetchone() == (5000,)


@pytest.mark.proves("S6.1-IDEMPOTENT")
def test_a_migration_is_applied_once_and_recorded(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = package(tmp_path, monkeypatch, _001_initial=CREATE)
    db.migrate(name)
    db.migrate(name)
    assert count(db) == 0
    assert count(db, "schema_migrations") == 1


@pytest.mark.proves("S6.1-MIGRATIONS-RECORDED")
def test_a_record_names_the_migration_its_checksum_and_the_moment(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.migrate(package(tmp_path, monkeypatch, _001_initial=CREATE))
    with db.read() as tx:
        recorded = tx.driver.execute("SELECT * FROM schema_migrations").fetchall()
    checksum = hashlib.sha256(CREATE.encode()).hexdigest()
    moment = MockClock().now().isoformat()
    assert recorded == [("garden", 1, "001_initial.sql", checksum, moment)]
    assert moment.endswith("+00:00")


@pytest.mark.proves("S6.1-NUMBERED")
def test_migrations_are_applied_in_the_order_of_their_numbers(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow = "ALTER TABLE notes ADD COLUMN {};\n"
    steps = {
        "_010_third": grow.format("third TEXT"),
        "_002_second": grow.format("second TEXT"),
        "_001_first": CREATE,
    }
    db.migrate(package(tmp_path, monkeypatch, **steps))
    with db.read() as tx:
        columns = [row[1] for row in tx.driver.execute("PRAGMA table_info(notes)")]
    assert columns == ["id", "body", "second", "third"]


@pytest.mark.proves("S6.1-NUMBERED")
@pytest.mark.parametrize(
    "files",
    [
        {"_001_notes": CREATE, "_001_other": "CREATE TABLE other (id INTEGER);\n"},
        {"_001_notes": CREATE, "later": "CREATE TABLE other (id INTEGER);\n"},
        {"_01_notes": CREATE},
        {"_001_notes": CREATE, "_002_b": "SELECT 1;\n", "_003_c": "SELECT 1;\n"},
    ],
    ids=["a number twice", "no number", "two digits", "a number before an applied one"],
)
def test_a_migration_without_the_next_number_is_refused_and_nothing_is_applied(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    applied = {name: text for name, text in files.items() if name in ("_001_notes", "_003_c")}
    before = len(applied) if len(files) == 3 else 0
    if before:
        db.migrate(package(tmp_path, monkeypatch, **applied))
    with pytest.raises(DatabaseError) as caught:
        db.migrate(package(tmp_path, monkeypatch, **files))
    assert caught.value.code == "E_DB_MIGRATION"
    assert count(db, "schema_migrations") == before
    assert count(db, "sqlite_master WHERE name = 'other'") == 0


@pytest.mark.proves("S6.1-DRIFT-REFUSED")
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
                inner.run("INSERT INTO notes (body) VALUES (:body)", body="b")
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
        thread.join(SECONDS)
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


@pytest.mark.usefixtures("the_disk")
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
        tx.run("SELECT * FROM nowhere")
    with pytest.raises(DatabaseError), db.write() as tx:
        tx.run_many("INSERT INTO nowhere (id) VALUES (:id)", [{"id": 1}])
    with pytest.raises(DatabaseError), db.read() as tx:
        tx.driver.execute("SELECT * FROM nowhere")


def test_the_statement_itself_says_what_was_refused(db: Database) -> None:
    with db.read() as tx, pytest.raises(DatabaseError) as caught:
        tx.run("SELECT * FROM nowhere")
    assert caught.value.code == "E_DB_OPERATION"
    with db.read() as tx, pytest.raises(DatabaseError) as caught:
        tx.run("SELECT :left_out AS one")
    assert caught.value.code == "E_DB_QUERY"


def test_a_list_stands_for_its_values(db: Database) -> None:
    with db.write() as tx:
        tx.driver.execute(CREATE)
        many = [{"id": number, "body": f"note {number}"} for number in range(12)]
        assert tx.run_many("INSERT INTO notes (id, body) VALUES (:id, :body)", many) == 12

    def found(ids: list[int], id_not: list[int]) -> list[int]:
        # the second name begins as the first does
        wanted = "SELECT id FROM notes WHERE id IN :ids AND id NOT IN :ids_not ORDER BY id"
        with db.read() as tx:
            return [row[0] for row in tx.run(wanted, ids=ids, ids_not=id_not)]

    assert found([3, 1, 11, 99], []) == [1, 3, 11]
    assert found([3, 1, 11], [1]) == [3, 11]
    assert found([], []) == []


@pytest.mark.proves("S18.1-DB")
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


@pytest.mark.proves("S18.1-DB")
def test_a_write_waits_for_the_one_of_another_process_to_end(tmp_path: Path) -> None:
    db = Database(tmp_path / "silas.db", MockClock())
    with db.write() as tx:
        tx.driver.execute(CREATE)
    holder = sqlite3.connect(db.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    failed: list[Exception] = []

    def add() -> None:
        try:
            with db.write() as tx:
                tx.driver.execute("INSERT INTO notes (body) VALUES ('patient')")
        except DatabaseError as error:
            failed.append(error)

    writer = threading.Thread(target=add)
    writer.start()
    writer.join(0.1)  # long enough for a write that does not wait to have failed
    assert writer.is_alive()
    holder.execute("ROLLBACK")
    holder.close()
    writer.join(SECONDS)
    assert failed == []
    assert count(db) == 1
    db.close()


@pytest.mark.proves("S18.1-DB")
def test_a_damaged_page_is_an_error_and_never_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "silas.db"
    db = Database(path, MockClock())
    with db.write() as tx:
        tx.driver.execute(CREATE)
        for _ in range(200):
            tx.driver.execute("INSERT INTO notes (body) VALUES (?)", ("x" * 100,))
    with db.read() as tx:
        (size,) = tx.driver.execute("PRAGMA page_size").fetchone()
        (root,) = tx.driver.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'notes'"
        ).fetchone()
    db.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    damaged = Database(path, MockClock())
    with pytest.raises(DatabaseError) as caught:
        count(damaged)
    assert caught.value.code == "E_DB_CORRUPT"
    damaged.close()


def test_a_second_look_at_the_file_lets_go_of_no_lock(tmp_path: Path) -> None:
    """Without its locks another process would take the log away under the first one's feet."""
    path = tmp_path / "silas.db"
    first = Database(path, MockClock())
    with first.write() as tx:
        tx.driver.execute("CREATE TABLE kept (n INTEGER)")
    second = Database(
        path, MockClock()
    )  # and its connections stay open, as those of a process at work
    other = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM kept')"
    subprocess.run(
        [sys.executable, "-c", f"{other}; c.close()", str(path)], check=True, timeout=SECONDS
    )
    assert path.with_name("silas.db-wal").exists()
    second.close()
    first.close()


_CLOSED_WHILE_IT_READS = """
import sys, threading
from pathlib import Path
from silas.clock import SystemClock
from silas.db import Database
from silas.errors import SilasError

SLOW = "SELECT a.name FROM sqlite_master a, sqlite_master b, sqlite_master c"

def reads(database, begun):
    try:
        while True:
            with database.read() as tx:
                begun.set()
                tx.run(SLOW).fetchall()
    except SilasError:
        pass  # it is closed now

for n in range(40):
    database, begun = Database(Path(sys.argv[1]) / f"{n}.db", SystemClock()), threading.Event()
    with database.write() as tx:
        for table in range(30):
            tx.driver.execute(f"CREATE TABLE t{table} (a)")
    threads = [threading.Thread(target=reads, args=(database, begun)) for _ in range(3)]
    for each in threads:
        each.start()
    begun.wait()
    database.close()
    for each in threads:
        each.join()
"""


def test_closing_waits_for_the_statement_of_a_thread(tmp_path: Path) -> None:
    words = [sys.executable, "-I", "-c", _CLOSED_WHILE_IT_READS, str(tmp_path)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr  # SQLite's driver would end the process (signal 11)
