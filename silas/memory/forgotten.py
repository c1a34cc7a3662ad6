"""What was forgotten, as a Silas learns it that is running beside the one that forgot."""

from collections.abc import Sequence
from typing import NamedTuple

from silas.db import Database, Tx
from silas.types import OWNER

EVERY_MEMORY = "memory"
"""The source of every memory in view: each is there as `memory:ID`."""

_NOTE = """
INSERT INTO memory_forgotten (scope_id, number, source)
SELECT :scope_id, coalesce(max(number), 0) + 1, :source FROM memory_forgotten
WHERE scope_id = :scope_id
"""
# of each source the last time counts
_ONCE = """
DELETE FROM memory_forgotten WHERE scope_id = :scope_id AND source = :source AND number <
(SELECT max(number) FROM memory_forgotten WHERE scope_id = :scope_id)
"""
_SINCE = """
SELECT number, source FROM memory_forgotten WHERE scope_id = :scope_id AND number > :number
ORDER BY number
"""
_NEWEST = "SELECT scope_id, max(number) FROM memory_forgotten GROUP BY scope_id ORDER BY scope_id"


class ForgottenEntry(NamedTuple):
    """What a scope forgot.

    Attributes:
        last: The number of the last forgetting; 0 where there was none.
        sources: The sources that were forgotten, the last one last.
    """

    last: int
    sources: tuple[str, ...]


def note(tx: Tx, scope_id: str, source: str) -> None:
    """Tell that everything of a source is forgotten; in the transaction that deletes the last."""
    tx.run(_NOTE, scope_id=scope_id, source=source)
    tx.run(_ONCE, scope_id=scope_id, source=source)


def since(tx: Tx, scope_id: str, last: int) -> ForgottenEntry:
    """What a scope forgot after the forgetting of this number."""
    rows = tx.run(_SINCE, scope_id=scope_id, number=last).fetchall()
    return ForgottenEntry(rows[-1][0] if rows else last, _readable(rows))


def _readable(rows: Sequence[tuple[int, object]]) -> tuple[str, ...]:
    """Their sources; a damaged one may have been any, so all count as forgotten."""
    known = [(source,) if isinstance(source, str) else _ANY for _, source in rows]
    return tuple(one for some in known for one in some)


_ANY = ("agent", "channel", "file", "mcp", "memory", "tool")


def one_memory(memory_id: str) -> str:
    """The source that one memory is in view by."""
    return f"{EVERY_MEMORY}:{memory_id}"


class ForgottenLog:
    """What was forgotten, for whoever needs nothing else of memory."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def newest(self) -> tuple[tuple[str, int], ...]:
        """The number of the last forgetting of each scope that forgot something."""
        with self._db.read() as tx:
            rows = tx.run(_NEWEST).fetchall()
        return tuple((str(scope_id), int(number)) for scope_id, number in rows)

    def forgotten_since(self, last: int, scope_id: str = OWNER) -> ForgottenEntry:
        """See `MemoryStore.forgotten_since`."""
        with self._db.read() as tx:
            return since(tx, scope_id, last)
