"""Looking things up in the audit log. Nothing here verifies it; `AuditLog.verify_chain` does."""

import json
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from silas.audit.sqlite_statements import ENTRIES_BETWEEN
from silas.db import Database

_AT_ONCE = 2000
"""Entries that one look at the database goes through: others wait for its end."""

NEAR = 20_000
"""Entries before and after one that are looked at for what belongs to it: a tenth of a second."""

_NEWEST = "SELECT coalesce(max(seq), 0) FROM audit_log"


class ReadEntry(NamedTuple):
    """An entry as it can be read; its words are `silas.audit.narrate.narrate`'s."""

    seq: int
    at: datetime
    event: str
    data: dict[str, Any]


class EntryPage(NamedTuple):
    """Entries, the newest first, and below which number to go on; 1 where there is nothing left."""

    entries: list[ReadEntry]
    before: int


class AuditReader:
    """Finds entries by number, by kind and by whom they are about. Damaged ones are passed over.

    Long looks take the database a piece at a time; call them beside the event loop.
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    def newest(self) -> int:
        """The number of the newest entry; 0 where there is none."""
        with self._db.read() as tx:
            return int(tx.run(_NEWEST).fetchone()[0])

    def one(self, seq: int) -> ReadEntry | None:
        """An entry by its number; None where there is none, or it is damaged."""
        return next(self._between(seq, seq + 1, None, ""), None)

    def before(
        self, seq: int, limit: int, events: Collection[str] | None = None, about: str = ""
    ) -> EntryPage:
        """At most `limit` entries before a number.

        Args:
            seq: Only older ones; 0 for the newest.
            limit: At least 1.
            events: Only these; None for all.
            about: Only entries with this very value in their data, such as a work item's id.
        """
        newest = self.newest() + 1
        upper = newest if seq <= 0 else min(seq, newest)
        found: list[ReadEntry] = []
        while upper > 1 and len(found) < limit:
            lower = max(upper - _AT_ONCE, 1)
            piece = list(self._between(lower, upper, events, about))
            room = limit - len(found)
            found += reversed(piece[-room:])
            upper = found[-1].seq if len(piece) >= room else lower
        return EntryPage(found, upper)

    def since(self, seq: int, events: Collection[str]) -> Iterator[ReadEntry]:
        """Every entry of these kinds after a number, the oldest first."""
        upto = self.newest() + 1
        for lower in range(seq + 1, upto, _AT_ONCE):
            yield from self._between(lower, min(lower + _AT_ONCE, upto), events, "")

    def about(self, value: str, around: int) -> list[ReadEntry]:
        """The entries with this very value in their data near an entry, the oldest first."""
        upto = min(around + NEAR, self.newest()) + 1
        return [
            told
            for lower in range(max(around - NEAR, 1), upto, _AT_ONCE)
            for told in self._between(lower, min(lower + _AT_ONCE, upto), None, value)
        ]

    def _between(
        self, lower: int, upper: int, events: Collection[str] | None, about: str
    ) -> Iterator[ReadEntry]:
        with self._db.read() as tx:
            rows = tx.run(
                ENTRIES_BETWEEN,
                lower=lower,
                upper=upper,
                text=json.dumps(about) if about else "",
                every_event=int(events is None),
                events=sorted(events or ()),
            ).fetchall()
        for seq, body in rows:
            told = _parse_entry(seq, body)
            if told is not None and (not about or about in told.data.values()):
                yield told


def _parse_entry(seq: int, body: str) -> ReadEntry | None:
    try:
        said = json.loads(body)
        return ReadEntry(
            seq, datetime.fromisoformat(said["at"]), str(said["event"]), dict(said["data"])
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
