"""The database of a home: where it is, opening it, and bringing its tables up to date.

All openings are here, so no door can forget a domain's tables; who only looks names the domains, or
none, so that looking at a home migrates nothing else.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from silas.clock import Clock
from silas.config import SilasConfig
from silas.db import Database
from silas.home.data_directory import not_initialised

MIGRATED = (
    "silas.audit",
    "silas.stop",
    "silas.jobs",
    "silas.approval",
    "silas.plans",
    "silas.tools",
    "silas.context",
    "silas.keys",
    "silas.memory",
    "silas.persona",
    "silas.autonomy",
    "silas.reminders",
    "silas.goals",
    "silas.work.batches",
    "silas.stream",
    "silas.channels.web",
)
"""The domains that keep tables, in the order in which they are brought up to date."""


def database_path(config: SilasConfig) -> Path:
    """The file of the database, whether or not it exists yet."""
    return config.data_dir / "silas.db"


def migrate(db: Database, domains: Sequence[str] = MIGRATED) -> None:
    """Bring the tables of these domains up to date, in this order; safe to repeat.

    Raises:
        DatabaseError: A migration that was applied differs from the shipped one, or one fails.
    """
    for domain in domains:
        db.migrate(domain)


@contextmanager
def open_database(
    config: SilasConfig, clock: Clock, domains: Sequence[str] = MIGRATED
) -> Generator[Database]:
    """The database of a home, up to date; made where it does not exist, closed at the end.

    Args:
        config: Where the home is.
        clock: What dates the migrations.
        domains: The packages whose tables are brought up to date; none to read only what is there.

    Raises:
        DatabaseError: It cannot be read, or it is from another version.
    """
    db = Database(database_path(config), clock)
    try:
        migrate(db, domains)
        yield db
    finally:
        db.close()


def require_database(config: SilasConfig) -> None:
    """Raise `ConfigError` where Silas was not set up."""
    if not database_path(config).exists():
        raise not_initialised(config)


@contextmanager
def open_existing_database(config: SilasConfig, clock: Clock) -> Generator[Database]:
    """As `open_database`, for a command that must not make a home by looking at one.

    Raises:
        ConfigError: Silas was not set up here.
    """
    require_database(config)
    with open_database(config, clock) as db:
        yield db
