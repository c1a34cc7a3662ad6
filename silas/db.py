"""One embedded database, one writer, one small API: portable text with named values.

A statement is a text that the program holds, never one made of data: the type checker refuses
anything but a `LiteralString`. `tests/test_statements.py` parses every one with PostgreSQL's own
parser. What only SQLite can do stands in one file of its room, `sqlite_statements.py`.

Statements run inline: a statement through a thread costs ten times the statement itself. Long work
takes `Database` to a thread of its own.
"""

import asyncio
import json
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, LiteralString, Protocol, TypeVar

from silas.canonical import sha256_hex
from silas.clock import Clock
from silas.errors import DatabaseError, SilasError, from_foreign, reason
from silas.migrations import migration_files, statements_of

T = TypeVar("T")

_BUSY_TIMEOUT_MS = 5000  # how long a statement waits for another process's write to end

_ORDERED = "PRAGMA synchronous=NORMAL"  # a power cut may take the last writes, never the order
_DURABLE = "PRAGMA synchronous=FULL"  # what is committed is on the disk

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}",
    "PRAGMA foreign_keys=ON",
    "PRAGMA trusted_schema=OFF",
)

_MIGRATIONS_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
  domain TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
  checksum TEXT NOT NULL, applied_at TEXT NOT NULL,
  PRIMARY KEY (domain, number)
)
"""

_APPLIED = "SELECT number, checksum FROM schema_migrations WHERE domain = :domain"
_RECORD = """
INSERT INTO schema_migrations (domain, number, name, checksum, applied_at)
VALUES (:domain, :number, :name, :checksum, :applied_at)
"""

_DAMAGED_TABLE = """
CREATE TABLE IF NOT EXISTS damaged_rows (
  place TEXT NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (place, key)
)
"""


_LISTED = re.compile(r"\bIN :(\w+)", re.ASCII)
_FORMS: dict[str, tuple[str, tuple[str, ...]]] = {}
"""Every statement as SQLite reads it, with the names that stand for lists; made once."""


class Rows(Protocol):
    """What a statement found or changed."""

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        ...

    def fetchone(self) -> Any:
        """The next row as a tuple, None after the last."""
        ...

    def fetchall(self) -> list[Any]:
        """The remaining rows as tuples."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Tx:
    """One open transaction, and the only way to run a statement."""

    def __init__(self, driver: sqlite3.Connection) -> None:
        self.driver = driver

    def run(self, statement: LiteralString, /, **values: Any) -> Rows:
        """Run one statement.

        Args:
            statement: Its text, with `:name` where a value stands and `IN :name` where a list of
                texts or numbers does.
            values: A value for every name.

        Raises:
            DatabaseError: The database refused it.
        """
        form, lists = _FORMS.get(statement) or _compile_statement(statement)
        for name in lists:
            values[name] = json.dumps([*values[name]])
        try:
            return self.driver.execute(form, values)
        except sqlite3.Error as error:
            raise _translate_error(error) from error

    def run_many(self, statement: LiteralString, rows: Iterable[Mapping[str, Any]], /) -> int:
        """Run one statement for each of these values.

        Returns:
            How many rows were changed.

        Raises:
            DatabaseError: The database refused it.
        """
        try:
            return self.driver.executemany(statement, rows).rowcount
        except sqlite3.Error as error:
            raise _translate_error(error) from error

    def close(self) -> None:
        """Close the connection; a later statement is an error."""
        self.driver.close()


def _compile_statement(statement: str) -> tuple[str, tuple[str, ...]]:
    # one text whatever is in the list, so that SQLite prepares it once; 500 names of their own
    # would cost a millisecond more
    form = _LISTED.sub(r"IN (SELECT value FROM json_each(:\1))", statement)
    _FORMS[statement] = form, tuple(_LISTED.findall(statement))
    return _FORMS[statement]


def _create(path: Path) -> None:
    """Make the file for its owner alone, unless it is there.

    A file that is there is not opened here: closing any descriptor of it lets go of every lock that
    this process has on it, and another process could then remove the log that is being written.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return


class _Held:
    """The one connection that writes, and who holds it."""

    def __init__(self, writer: Tx) -> None:
        self.writer = writer
        self.lock = threading.RLock()
        self.owner: object | None = None
        self.heard: list[Callable[[], None]] = []
        self._durable = False

    def begin(self, durable: bool) -> bool:
        """Begin a transaction; false where the caller's own is open already and is joined."""
        if self.owner is not None:
            if self.owner is not _current_owner():
                raise AssertionError("a transaction was left open across an await")
            if durable and not self._durable:
                raise AssertionError("a durable write cannot join one that is not")
            return False
        driver = self.writer.driver
        try:
            if durable:
                driver.execute(_DURABLE)
            driver.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise _translate_error(error) from error
        self.owner, self._durable = _current_owner(), durable
        return True

    def end(self, failed: BaseException | None) -> None:
        """Commit, or take everything back and let the error out."""
        driver, durable = self.writer.driver, self._durable
        try:
            if failed is not None:
                raise failed
            driver.execute("COMMIT")
        except BaseException as error:
            if driver.in_transaction:
                driver.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise _translate_error(error) from error
            raise
        finally:
            self.owner, self._durable = None, False
            if durable:
                driver.execute(_ORDERED)
        for heard in tuple(self.heard):
            heard()


class _Read:
    """One `with database.read()`; a class, because a turn has a dozen and a generator is slow."""

    __slots__ = ("_held", "_reader")

    def __init__(self, held: _Held, reader: Tx) -> None:
        self._held = held
        self._reader = reader

    def __enter__(self) -> Tx:
        held = self._held
        held.lock.acquire()
        return self._reader if held.owner is None else held.writer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        self._held.lock.release()
        if isinstance(error, sqlite3.Error):
            raise _translate_error(error) from error


class _Write:
    """One `with database.write()`; a class as `_Read` is."""

    __slots__ = ("_began", "_durable", "_held")

    def __init__(self, held: _Held, durable: bool) -> None:
        self._held = held
        self._durable = durable
        self._began = False

    def __enter__(self) -> Tx:
        held = self._held
        held.lock.acquire()
        try:
            self._began = held.begin(self._durable)
        except BaseException:
            held.lock.release()
            raise
        return held.writer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        held = self._held
        try:
            if self._began:
                held.end(error)
        finally:
            held.lock.release()


class Database:
    """The state of one Silas. Readers never wait; writers queue, here and across processes."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Open or create the database file, readable by its owner alone.

        Raises:
            DatabaseError: The file cannot be opened or is not a database.
        """
        self.path = path
        self._clock = clock
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _create(path)
            self._writer = Tx(_connect(path))
            self._reader = Tx(_connect(path))
            self._held = _Held(self._writer)
            with self.write() as tx:
                tx.run(_MIGRATIONS_TABLE)
                tx.run(_DAMAGED_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise DatabaseError(
                f"The database {path} cannot be opened: {reason(error)}.", code="E_DB_OPEN"
            ) from error

    def close(self) -> None:
        """Close both connections, after a statement that a thread runs; later ones are errors.

        Closed under a running statement, SQLite's driver ends the whole process.
        """
        with self._held.lock:
            self._reader.close()
            self._writer.close()

    def read(self) -> AbstractContextManager[Tx]:
        """A consistent look; inside `write` it sees that transaction's own changes."""
        return _Read(self._held, self._reader)

    def write(self, *, durable: bool = False) -> AbstractContextManager[Tx]:
        """One `BEGIN IMMEDIATE` transaction; a nested call joins it. Never await inside.

        Args:
            durable: Survive power loss, not only a crash: for spending a token and for recording
                the attempt of an effect that cannot be undone.

        Raises:
            DatabaseError: The write could not be begun or committed; nothing of it remains.
        """
        return _Write(self._held, durable)

    @contextmanager
    def heard_writes(self, heard: Callable[[], None]) -> Generator[None]:
        """Call `heard` after each commit of this process, in its thread, while this is open."""
        self._held.heard.append(heard)
        try:
            yield
        finally:
            self._held.heard.remove(heard)

    def migrate(self, package: str) -> None:
        """Bring one domain's tables up to date: `NNN_name.sql` under the package's `migrations`.

        Idempotent. Applied files are recorded with their checksum.

        Raises:
            DatabaseError: An applied file changed or is gone, or a new one has no number after all
                those applied; nothing was changed.
        """
        domain = package.rpartition(".")[2]
        files = migration_files(resources.files(package) / "migrations")
        with self.write() as tx:
            applied = {number: checksum for number, checksum in tx.run(_APPLIED, domain=domain)}
            if missing := sorted(applied.keys() - files.keys()):
                raise DatabaseError(
                    f"The database has migration {domain}/{missing[0]:03d} that this version of "
                    "Silas does not know; install the newer version.",
                    code="E_DB_DRIFT",
                )
            for number, file in files.items():
                text = file.read_text(encoding="utf-8")
                checksum = sha256_hex(text.encode("utf-8"))
                if number in applied:
                    if applied[number] != checksum:
                        raise DatabaseError(
                            f"Migration {domain}/{file.name} differs from the one that was "
                            "applied; restore the file or the database.",
                            code="E_DB_DRIFT",
                        )
                    continue
                if number < max(applied, default=0):
                    raise DatabaseError(
                        f"Migration {domain}/{file.name} comes before one that was applied; give "
                        "it the next number.",
                        code="E_DB_MIGRATION",
                    )
                for statement in statements_of(text):
                    tx.driver.execute(statement)
                tx.run(
                    _RECORD,
                    domain=domain,
                    number=number,
                    name=file.name,
                    checksum=checksum,
                    applied_at=self._clock.now().isoformat(),
                )


def _connect(path: Path) -> sqlite3.Connection:
    driver = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for pragma in (*_PRAGMAS, _ORDERED):
        driver.execute(pragma)
    return driver


def _current_owner() -> object:
    """The running task, or the thread where there is none: who holds the transaction."""
    try:
        return asyncio.current_task() or threading.current_thread()
    except RuntimeError:
        return threading.current_thread()


def _translate_error(error: Exception) -> SilasError:
    known = from_foreign(error)
    if known is None:
        raise error
    return known


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run what never waits, to its result: in a transaction nobody else may get a turn.

    Raises:
        AssertionError: It waited.
    """
    try:
        work.send(None)
    except StopIteration as ended:
        return ended.value
    work.close()
    raise AssertionError("a store waited within a transaction")
