"""What was said and is not answered yet: no crash loses a message, or an answer on its way."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from silas.clock import Clock
from silas.damage import readable_rows
from silas.db import Database
from silas.stream.models import Incoming
from silas.stream.sqlite_statements import ARRIVALS
from silas.types import OWNER, address_of, conversation_at, new_id


class Interrupted(NamedTuple):
    """A message whose turn did not come to its end.

    Attributes:
        id: Names it.
        scope_id: Whose it is; also the connection it came on.
        channel, sender_id, text: As it came.
        at: When it was recorded.
        heard: Whether the chronicle has it.
        answer: What was about to be sent, or had been; empty where there was no answer yet.
        conversation: Which conversation of its scope it was said in; empty for the first one.
    """

    id: str
    scope_id: str
    channel: str
    sender_id: str
    text: str
    at: datetime
    heard: bool
    answer: str
    conversation: str = ""

    @property
    def address(self) -> str:
        """Where it was said."""
        return address_of(self.scope_id, self.conversation)


class Inbox(Protocol):
    """Keeps messages from their arrival to the end of their turn. Each call joins a transaction."""

    def save_arrival(self, incoming: Incoming) -> str:
        """Keep a message before anything is done with it; returns its id."""
        ...

    def mark_heard(self, arrival_id: str) -> None:
        """The chronicle has it."""
        ...

    def answering(self, arrival_id: str, text: str) -> None:
        """Keep the answer before it is sent."""
        ...

    def delete_done(self, arrival_id: str) -> None:
        """Its turn has ended, and whoever sent it knows how."""
        ...

    def list_left(self) -> Sequence[Interrupted]:
        """Messages whose turn did not end, the oldest first."""
        ...


SaidIn = Callable[[str, str], None]
"""(conversation, text): takes note of what the owner says in one of his conversations."""


class SqlInbox:
    """`Inbox` over the database."""

    def __init__(self, db: Database, clock: Clock, said: SaidIn) -> None:
        self._db = db
        self._clock = clock
        self._said = said

    def save_arrival(self, incoming: Incoming) -> str:
        """See `Inbox.save_arrival`."""
        arrival_id, message = new_id("msg"), incoming.message
        with self._db.write() as tx:
            tx.run(
                "INSERT INTO arrivals"
                " (arrival_id, scope_id, channel, sender_id, text, arrived_at, conversation)"
                " VALUES (:arrival_id, :scope_id, :channel, :sender_id, :text, :arrived_at,"
                " :conversation)",
                arrival_id=arrival_id,
                scope_id=incoming.connection_id,
                channel=message.channel,
                sender_id=message.sender_id,
                text=message.text,
                arrived_at=self._clock.now().isoformat(),
                conversation=conversation_at(incoming.address),
            )
            if incoming.connection_id == OWNER:
                self._said(conversation_at(incoming.address), message.text)
        return arrival_id

    def mark_heard(self, arrival_id: str) -> None:
        """See `Inbox.mark_heard`."""
        with self._db.write() as tx:
            tx.run(
                "UPDATE arrivals SET heard = 1 WHERE arrival_id = :arrival_id",
                arrival_id=arrival_id,
            )

    def answering(self, arrival_id: str, text: str) -> None:
        """See `Inbox.answering`."""
        with self._db.write() as tx:
            tx.run(
                "UPDATE arrivals SET answer = :answer WHERE arrival_id = :arrival_id",
                answer=text,
                arrival_id=arrival_id,
            )

    def delete_done(self, arrival_id: str) -> None:
        """See `Inbox.delete_done`."""
        with self._db.write() as tx:
            tx.run("DELETE FROM arrivals WHERE arrival_id = :arrival_id", arrival_id=arrival_id)

    def list_left(self) -> Sequence[Interrupted]:
        """See `Inbox.list_left`."""
        with self._db.read() as tx:
            rows = tx.run(ARRIVALS).fetchall()
        return readable_rows(self._db, "arrivals", rows, lambda row: row[0], _parse_interrupted)


def _parse_interrupted(row: Sequence[Any]) -> Interrupted:
    name, scope_id, channel, sender_id, text, at, heard, answer, conversation = row
    said = (name, scope_id, channel, sender_id, text, answer or "", conversation)
    if not all(isinstance(one, str) for one in said):
        raise TypeError
    moment = datetime.fromisoformat(at)
    if moment.tzinfo is None:
        raise ValueError
    ended = (moment, bool(heard), answer or "", conversation)
    return Interrupted(name, scope_id, channel, sender_id, text, *ended)
