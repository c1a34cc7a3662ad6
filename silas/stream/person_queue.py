"""Who waits for a person, kept until the owner says that somebody saw to it (spec 5.1.1)."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from silas.audit import Audit
from silas.clock import Clock
from silas.damage import readable_rows
from silas.db import Database
from silas.errors import ChannelError
from silas.stream.sqlite_statements import PERSON_QUEUES

_TRANSFER = """
INSERT INTO person_queues (connection_id, queue, gate, since)
VALUES (:connection_id, :queue, :gate, :since) ON CONFLICT (connection_id, queue) DO NOTHING
"""
_SEEN_TO = "DELETE FROM person_queues WHERE connection_id = :connection_id"


class QueuedScope(NamedTuple):
    """A conversation in a queue: whose, which queue, what rule sent it there, since when."""

    connection_id: str
    queue: str
    gate: str
    since: datetime


class PersonQueues:
    """The queues of a Silas over its database. Statements are tiny and run inline (A23)."""

    def __init__(self, db: Database, audit: Audit, clock: Clock) -> None:
        self._db = db
        self._audit = audit
        self._clock = clock

    async def transfer(self, connection_id: str, queue: str, gate: str) -> None:
        """Let a conversation wait in a queue; one that waits there already keeps its place."""
        with self._db.write() as tx:
            tx.run(
                _TRANSFER,
                connection_id=connection_id,
                queue=queue,
                gate=gate,
                since=self._clock.now().isoformat(),
            )
            self._audit.log_now(
                "queue_transferred", gate=gate, queue=queue, connection_id=connection_id
            )

    def waiting(self) -> Sequence[QueuedScope]:
        """Everybody who waits, the longest first."""
        return waiting_in(self._db)

    async def mark_seen(self, connection_id: str) -> int:
        """Somebody saw to this conversation: it waits no more, in no queue. Returns in how many.

        Raises:
            ChannelError: It waits nowhere.
        """
        with self._db.write() as tx:
            done = tx.run(_SEEN_TO, connection_id=connection_id)
            if not done.rowcount:
                raise ChannelError(
                    f"{connection_id!r} waits in no queue; see `silas queue list`.",
                    code="E_CHANNEL_NOT_WAITING",
                )
            self._audit.log_now("queue_seen_to", connection_id=connection_id)
            return int(done.rowcount)


def waiting_in(db: Database) -> Sequence[QueuedScope]:
    """Whoever waits for a person, the longest first; what cannot be read is set aside."""
    with db.read() as tx:
        rows = tx.run(PERSON_QUEUES).fetchall()
    return readable_rows(
        db,
        "person_queues",
        rows,
        lambda row: row[0],
        lambda row: QueuedScope(row[0], row[1], row[2], datetime.fromisoformat(row[3])),
    )
