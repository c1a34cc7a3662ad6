"""What was said and is not answered yet: no crash loses a message, or an answer on its way."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from silas.clock import Clock
from silas.damage import readable
from silas.db import Database
from silas.stream.models import Incoming
from silas.types import new_id


class Interrupted(NamedTuple):
    """A message whose turn did not come to its end.

    Attributes:
        id: Names it.
        scope_id: Whose it is; also the connection it came on.
        channel, sender_id, text: As it came.
        at: When it was recorded.
        heard: Whether the chronicle has it.
        answer: What was about to be sent, or had been; empty where there was no answer yet.
    """

    id: str
    scope_id: str
    channel: str
    sender_id: str
    text: str
    at: datetime
    heard: bool
    answer: str


class Inbox(Protocol):
    """Keeps messages from their arrival to the end of their turn. Each call joins a transaction."""

    def arrived(self, incoming: Incoming) -> str:
        """Keep a message before anything is done with it; returns its id."""
        ...

    def heard(self, arrival_id: str) -> None:
        """The chronicle has it."""
        ...

    def answering(self, arrival_id: str, text: str) -> None:
        """Keep the answer before it is sent."""
        ...

    def done(self, arrival_id: str) -> None:
        """Its turn has ended, and whoever sent it knows how."""
        ...

    def left(self) -> Sequence[Interrupted]:
        """Messages whose turn did not end, the oldest first."""
        ...


class SqlInbox:
    """`Inbox` over the database."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def arrived(self, incoming: Incoming) -> str:
        """See `Inbox.arrived`."""
        arrival_id, message = new_id("msg"), incoming.message
        row = (
            arrival_id,
            incoming.connection_id,
            message.channel,
            message.sender_id,
            message.text,
            self._clock.now().isoformat(),
        )
        with self._db.write() as tx:
            tx.driver.execute(
                "INSERT INTO arrivals (arrival_id, scope_id, channel, sender_id, text, arrived_at)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
        return arrival_id

    def heard(self, arrival_id: str) -> None:
        """See `Inbox.heard`."""
        with self._db.write() as tx:
            tx.driver.execute("UPDATE arrivals SET heard = 1 WHERE arrival_id = ?", (arrival_id,))

    def answering(self, arrival_id: str, text: str) -> None:
        """See `Inbox.answering`."""
        with self._db.write() as tx:
            tx.driver.execute(
                "UPDATE arrivals SET answer = ? WHERE arrival_id = ?", (text, arrival_id)
            )

    def done(self, arrival_id: str) -> None:
        """See `Inbox.done`."""
        with self._db.write() as tx:
            tx.driver.execute("DELETE FROM arrivals WHERE arrival_id = ?", (arrival_id,))

    def left(self) -> Sequence[Interrupted]:
        """See `Inbox.left`."""
        with self._db.read() as tx:
            rows = tx.driver.execute(
                "SELECT arrival_id, scope_id, channel, sender_id, text, arrived_at, heard, answer"
                " FROM arrivals ORDER BY arrived_at, rowid"
            ).fetchall()
        return readable(self._db, "arrivals", rows, lambda row: row[0], _interrupted)


def _interrupted(row: Sequence[Any]) -> Interrupted:
    name, scope_id, channel, sender_id, text, at, heard, answer = row
    said = (name, scope_id, channel, sender_id, text, answer or "")
    if not all(isinstance(one, str) for one in said):
        raise TypeError
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        raise ValueError
    return Interrupted(name, scope_id, channel, sender_id, text, moment, bool(heard), answer or "")
