"""The tables of reminders, in SQL that SQLite and PostgreSQL read alike."""

from datetime import UTC, datetime
from typing import Any, LiteralString
from zoneinfo import ZoneInfo

from silas.damage import readable_rows
from silas.db import Database
from silas.reminders.models import Reminder, ReminderState, ReminderTelling

_COLUMNS = "id, text, source, zone, start, rule, due, state, made_at, ended_at"

_PUT = f"""
INSERT INTO reminders ({_COLUMNS})
VALUES (:id, :text, :source, :zone, :start, :rule, :due, :state, :made_at, '')
"""
_GET = f"SELECT {_COLUMNS} FROM reminders WHERE id = :id"
_WAITING = f"SELECT {_COLUMNS} FROM reminders WHERE state = 'waiting' ORDER BY due, made_at, id"
_FROM = f"SELECT {_COLUMNS} FROM reminders WHERE source = :source AND text <> ''"
_TOLD_LAST = f"""
SELECT {_COLUMNS} FROM reminders WHERE text <> '' AND id = (
  SELECT reminder_id FROM reminder_tellings WHERE state = 'told' ORDER BY at DESC, due DESC LIMIT 1
)
"""
_MOVE = """
UPDATE reminders SET zone = :zone, start = :start, rule = :rule, due = :due
WHERE id = :id AND state = 'waiting'
"""
_DUE = "UPDATE reminders SET due = :due WHERE id = :id AND state = 'waiting'"
_END = """
UPDATE reminders SET state = :state, ended_at = :at WHERE id = :id AND state = 'waiting'
"""
_FORGET = "UPDATE reminders SET text = '' WHERE source = :source"
_TRIED = """
INSERT INTO reminder_tellings (reminder_id, due, state, tries, missed, at)
VALUES (:id, :due, 'begun', 1, 0, :at)
ON CONFLICT (reminder_id, due) DO UPDATE SET tries = reminder_tellings.tries + 1, at = excluded.at
"""
_UNTRIED = """
UPDATE reminder_tellings SET tries = tries - 1 WHERE reminder_id = :id AND due = :due
"""
_TOLD = """
UPDATE reminder_tellings SET state = 'told', missed = :missed, at = :at
WHERE reminder_id = :id AND due = :due
"""
_TELLINGS = """
SELECT reminder_id, due, state, tries, missed, at FROM reminder_tellings
WHERE reminder_id = :id ORDER BY due
"""


class SqlReminderStore:
    """Rows of reminders; every call joins the transaction that is open."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def put(self, reminder: Reminder) -> None:
        """Keep a new one."""
        values = {
            "id": reminder.id,
            "text": reminder.text,
            "source": reminder.source,
            "zone": reminder.zone.key,
            "start": reminder.start.isoformat(),
            "rule": reminder.rule,
            "due": _stamp(reminder.due),
            "state": reminder.state.value,
            "made_at": _stamp(reminder.made_at),
        }
        self._write(_PUT, values)

    def get(self, reminder_id: str) -> Reminder | None:
        """One reminder; None where there is none of this id."""
        found = self._reminders(_GET, {"id": reminder_id})
        return found[0] if found else None

    def waiting(self) -> list[Reminder]:
        """What is still to come, the first to come first."""
        return self._reminders(_WAITING, {})

    def told_last(self) -> Reminder | None:
        """What was told last; None where nothing was, or its words are forgotten."""
        found = self._reminders(_TOLD_LAST, {})
        return found[0] if found else None

    def move(self, reminder: Reminder) -> bool:
        """Another time for one that waits; False where it does not."""
        values = {
            "id": reminder.id,
            "zone": reminder.zone.key,
            "start": reminder.start.isoformat(),
            "rule": reminder.rule,
            "due": _stamp(reminder.due),
        }
        return self._write(_MOVE, values)

    def comes_next(self, reminder_id: str, due: datetime) -> None:
        """The next moment of one that recurs."""
        self._write(_DUE, {"id": reminder_id, "due": _stamp(due)})

    def end(self, reminder_id: str, state: ReminderState, at: datetime) -> bool:
        """One that waited comes no more; False where it did not wait."""
        return self._write(_END, {"id": reminder_id, "state": state.value, "at": _stamp(at)})

    def from_source(self, source: str) -> list[Reminder]:
        """Those that were said at a place and are not forgotten, ended ones included."""
        return self._reminders(_FROM, {"source": source})

    def forget(self, source: str) -> None:
        """Take the words of a place out of every reminder."""
        self._write(_FORGET, {"source": source})

    # -- telling

    def begin_telling(self, reminder_id: str, due: datetime, at: datetime) -> ReminderTelling:
        """Note that it is about to be told, before it is; returns how it stands now."""
        self._write(_TRIED, {"id": reminder_id, "due": _stamp(due), "at": _stamp(at)})
        return next(one for one in self.tellings(reminder_id) if one.due == due)

    def record_not_told(self, reminder_id: str, due: datetime) -> None:
        """It certainly was not: the channel refused it."""
        self._write(_UNTRIED, {"id": reminder_id, "due": _stamp(due)})

    def mark_told(self, reminder_id: str, due: datetime, missed: int, at: datetime) -> None:
        """It was told."""
        values = {"id": reminder_id, "due": _stamp(due), "missed": missed, "at": _stamp(at)}
        self._write(_TOLD, values)

    def tellings(self, reminder_id: str) -> list[ReminderTelling]:
        """When it was told, the first time first."""
        return [
            ReminderTelling(
                row[0], _moment(row[1]), row[2] == "told", row[3], row[4], _moment(row[5])
            )
            for row in self._read(_TELLINGS, {"id": reminder_id})
        ]

    def _reminders(self, statement: LiteralString, values: dict[str, Any]) -> list[Reminder]:
        """Those that can be read; the others are set aside."""
        rows = self._read(statement, values)
        return readable_rows(self.db, "reminders", rows, lambda row: row[0], _reminder)

    def _read(self, statement: LiteralString, values: dict[str, Any]) -> list[Any]:
        with self.db.read() as tx:
            return tx.run(statement, **values).fetchall()

    def _write(self, statement: LiteralString, values: dict[str, Any]) -> bool:
        with self.db.write() as tx:
            return tx.run(statement, **values).rowcount > 0


def _reminder(row: tuple[Any, ...]) -> Reminder:
    name, text, source, zone, start, rule, due, state, made, ended = row
    return Reminder(
        id=name,
        text=text,
        source=source,
        zone=ZoneInfo(zone),
        start=datetime.fromisoformat(start),
        rule=rule,
        due=_moment(due),
        state=ReminderState(state),
        made_at=_moment(made),
        ended_at=_moment(ended) if ended else None,
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
