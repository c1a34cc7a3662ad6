"""Rows that cannot be read: set aside, kept and named, so that nothing else waits for them.

Lists go on without them, the owner is told once, and nothing is deleted. A damaged call in the
journal of effects counts as `unknown` and is not repeated.
"""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import NamedTuple, TypeVar

from silas.db import Database, Tx
from silas.errors import DatabaseError

RowT = TypeVar("RowT")
ThingT = TypeVar("ThingT")

UNREADABLE = (DatabaseError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading a damaged row raises; a `ValidationError` is a `ValueError`."""

_LONGEST_KEY = 200
_KEPT = 100_000  # characters of a row that are kept beside its name

_NOTE = """
INSERT INTO damaged_rows (place, key, content) VALUES (:place, :key, :content)
ON CONFLICT (place, key) DO NOTHING
"""
MENDED = ("effective_time", "emergency_stops", "nonces_forgotten")
"""Tables that hold nobody's words, and whose damaged row is mended by writing over it."""

_DELETE_KEPT_TEXTS = """
UPDATE damaged_rows SET content = '' WHERE content <> ''
  AND place NOT IN ('effective_time', 'emergency_stops', 'nonces_forgotten')
"""
_ALL = "SELECT place, key, told FROM damaged_rows ORDER BY place, key"
_TOLD = "UPDATE damaged_rows SET told = 1 WHERE place = :place AND key = :key"


_OVER = "DELETE FROM damaged_rows WHERE place = :place AND key = :key"


class DamagedRow(NamedTuple):
    """A row that could not be read.

    Attributes:
        place: Its table.
        key: What names it there.
        told: Whether the owner was told of it.
    """

    place: str
    key: str
    told: bool

    @property
    def words(self) -> str:
        """What is wrong and what to do."""
        return (
            f"{self.key} in `{self.place}` of the database was changed or damaged and is set "
            "aside; nothing waits for it. To have it back, restore the database from a backup."
        )


def set_aside(db: Database, place: str, key: object, content: object) -> None:
    """Note a row that cannot be read, once. It stays where it is; what it holds is kept here only
    where it will be written over, so that what is forgotten there is not remembered here.

    Args:
        db: The database that it is in.
        place: Its table.
        key: What names it there.
        content: The row.
    """
    name = key if isinstance(key, str) else repr(key)
    # a disk that takes no note must not keep what can be read from being read
    with suppress(DatabaseError), db.write() as tx:
        kept = repr(content)[:_KEPT] if place in MENDED else ""
        tx.run(_NOTE, place=place, key=name[:_LONGEST_KEY], content=kept)


def readable_rows(
    db: Database,
    place: str,
    rows: Iterable[RowT],
    key: Callable[[RowT], object],
    made: Callable[[RowT], ThingT],
) -> list[ThingT]:
    """Every row that can be read, as what it is; the others are set aside."""
    found: list[ThingT] = []
    for row in rows:
        try:
            found.append(made(row))
        except UNREADABLE:
            set_aside(db, place, key(row), row)
    return found


async def skip_damaged(found: Awaitable[ThingT | None]) -> ThingT | None:
    """What is looked up; None where its row cannot be read, so that a list goes on without it.

    Raises:
        DatabaseError: Anything else went wrong.
    """
    try:
        return await found
    except DatabaseError as error:
        if error.code != "E_DB_CORRUPT":
            raise
        return None


def damaged_rows(db: Database) -> list[DamagedRow]:
    """What was set aside so far."""
    with db.read() as tx:
        rows = tx.run(_ALL).fetchall()
    return [DamagedRow(place, key, bool(told)) for place, key, told in rows]


def delete_kept_texts(db: Database) -> None:
    """Delete the texts of damaged rows that earlier versions kept here."""
    with db.write() as tx:
        tx.run(_DELETE_KEPT_TEXTS)


def mark_told(db: Database, damaged: DamagedRow) -> None:
    """The owner knows of it."""
    with db.write() as tx:
        tx.run(_TOLD, place=damaged.place, key=damaged.key)


def forget_damaged(tx: Tx, place: str, key: str) -> None:
    """The row itself is gone, as the owner asked: so is what was kept of it."""
    tx.run(_OVER, place=place, key=key[:_LONGEST_KEY])
