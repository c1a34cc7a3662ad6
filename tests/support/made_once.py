"""What costs much and is the same in every home: made once in a process, or made cheap.

The tables of a home are made by eighty files in thirty milliseconds, and the suite makes thousands
of homes. Those of a process are made once as an owner's are; a database that has nothing yet
becomes a copy of them, dated by its own clock. Every other one is brought up to date as ever.

The certificates that a client of HTTP believes are read for each client, and every role's model has
one. They are read once, wherever the environment says that they are, and each client believes them
as ever; what a test gives a client of its own to believe is its own.

A key file says itself what it costs to open. A test's costs the least that libsodium allows.
"""

import fcntl
import os
import pkgutil
import sqlite3
import ssl
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from nacl.pwhash import argon2id

from silas.clock import SystemClock
from silas.db import Database
from silas.home.database import MIGRATED, migrate
from silas.plans import PlanLibrary, shipped_plans

_CHEAP: Final = {
    "silas.keys.sealed._OPERATIONS": argon2id.OPSLIMIT_MIN,
    "silas.keys.sealed._MEMORY": argon2id.MEMLIMIT_MIN,
}
_BELIEVES: Final = (
    "httpx._transports.default.create_ssl_context",
    "httpx2._transports.default.create_ssl_context",
)
_WHERE: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")
as_ever: Final = migrate
"""What an owner's home gets its tables from."""


class Patch(Protocol):
    """Puts something else in a place that is named by a dotted path: `pytest.MonkeyPatch`."""

    def setattr(self, target: str, name: object) -> None:
        """Put `name` there."""


def made_once(patch: Patch) -> None:
    """From now on this process makes tables once, and key files that open at once."""
    patch.setattr("silas.home.database.migrate", _migrate)
    for place in _BELIEVES:
        patch.setattr(place, _believed_once(pkgutil.resolve_name(place)))
    for name, value in _CHEAP.items():
        patch.setattr(name, value)


def _believed_once(
    read: Callable[..., ssl.SSLContext],
) -> Callable[..., ssl.SSLContext]:
    kept: dict[tuple[object, ...], ssl.SSLContext] = {}

    def believed(*args: object, **given: object) -> ssl.SSLContext:
        own = [one for one in (*args, given.get("verify"), given.get("cert")) if one is not None]
        if own not in ([], [True]):
            return read(*args, **given)
        where = *(os.environ.get(name) for name in _WHERE), *sorted(given.items())
        if where not in kept:
            kept[where] = read(*args, **given)
        return kept[where]

    return believed


def make() -> None:
    """Make the tables of a whole home now, for processes that are forked from this one.

    The shipped runbooks, too, which are the same in every home: read once in a process anyway.
    """
    _tables(MIGRATED)
    PlanLibrary([shipped_plans()])
    for place in _BELIEVES:
        pkgutil.resolve_name(place)(verify=True, cert=None, trust_env=True)


def _migrate(db: Database, domains: Sequence[str] = MIGRATED) -> None:
    with _by_itself(db.path.parent):
        driver = _of_an_empty(db)
        if driver is not None:
            _tables(tuple(domains)).backup(driver)
    if driver is None:
        as_ever(db, domains)
        return
    clock = db._clock  # pyright: ignore[reportPrivateUsage] - what dates its migrations
    with db.write() as tx:
        tx.run("UPDATE schema_migrations SET applied_at = :now", now=clock.now().isoformat())


@cache
def _tables(domains: tuple[str, ...]) -> sqlite3.Connection:
    """A database in memory that has the tables of these domains and nothing else."""
    kept = sqlite3.connect(":memory:", check_same_thread=False)
    with (
        tempfile.TemporaryDirectory(prefix="silas-tables-") as folder,
        closing(Database(Path(folder) / "silas.db", SystemClock())) as made,
    ):
        as_ever(made, domains)
        with made.read() as tx:
            driver = tx.driver
        driver.backup(kept)
    return kept


def _of_an_empty(db: Database) -> sqlite3.Connection | None:
    """The connection that writes, where the database is as it was created."""
    with db.write() as tx:
        made = tx.driver.execute(
            "SELECT (SELECT count(*) FROM sqlite_schema WHERE type <> 'index'), "
            "(SELECT count(*) FROM schema_migrations), (SELECT count(*) FROM damaged_rows)"
        ).fetchone()
    return tx.driver if made == (2, 0, 0) else None


@contextmanager
def _by_itself(folder: Path) -> Generator[None]:
    """No two processes find the same database empty and fill it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
