"""Reminders: made, found, moved, cancelled and forgotten, each with its job in one transaction."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.clock import Clock
from silas.jobs.models import slot_of
from silas.jobs.port import Jobs
from silas.jobs.slots import count_between, next_slot
from silas.language import tr_later
from silas.reminders.models import Reminder, ReminderRefused, ReminderState, ReminderTime
from silas.reminders.phrase import Phrase
from silas.reminders.request import ReminderRequest
from silas.reminders.store import SqlReminderStore
from silas.reminders.when import read_when
from silas.types import new_id

KIND: Final = "reminder"
"""The kind of the jobs of reminders."""

QUEUE: Final = "reminders"
"""They are told in the order of their moments."""

_MOST: Final = 1000
_MOST_MISSED: Final = 10_000
_WORD: Final = re.compile(r"\w+")
_SAYS_NOTHING: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "to",
        "about",
        "of",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "mein",
        "meine",
        "an",
        "zu",
    ]
)

RecordReminder = Callable[..., object]
"""Writes an entry of the audit log, in the transaction that is open: event, then its fields."""


class UnderstoodReminder(NamedTuple):
    """A reminder that could be made.

    Attributes:
        text: What will be said.
        when: When.
    """

    text: str
    when: ReminderTime


class Reminders:
    """What the owner wants to be told.

    Args:
        store: The rows.
        jobs: What wakes Silas at their moments.
        clock: Effective time (decision B19).
        zone: The owner's zone.
        record: The audit log; it gets no words of any reminder.
        require_whole: Raises `Stopped` where the record was changed outside Silas.
        enabled: Whether anything runs by the clock.
    """

    def __init__(
        self,
        store: SqlReminderStore,
        jobs: Jobs,
        clock: Clock,
        zone: ZoneInfo,
        record: RecordReminder,
        require_whole: Callable[[], None],
        *,
        enabled: bool,
    ) -> None:
        self.store = store
        self._jobs = jobs
        self._clock = clock
        self._zone = zone
        self._record = record
        self.require_whole = require_whole
        self._enabled = enabled

    def understand(self, asked: ReminderRequest) -> UnderstoodReminder:
        """What a request says; makes nothing.

        Raises:
            ReminderRefused: It says no time, one that is past, nothing to be told, or what waits
                already.
        """
        if not self._enabled:
            raise ReminderRefused(
                "Nothing runs by the clock: set `scheduler.enabled` to true.",
                code="E_REMINDER_OFF",
            )
        when = self.when(asked.phrase)
        text = self._text_told_last() if asked.wanted == "again" else asked.text
        if not text:
            raise ReminderRefused(
                tr_later(
                    "Say what to remind you of, for example “remind me tomorrow at nine to call "
                    "the dentist”."
                ),
                code="E_REMINDER_TEXT",
            )
        if any(_same(one, text, when) for one in self.store.waiting()):
            raise ReminderRefused(
                tr_later("That reminder waits already: the same words at the same time."),
                code="E_REMINDER_THERE",
            )
        return UnderstoodReminder(text, when)

    def _text_told_last(self) -> str:
        told = self.store.told_last()
        if told is None:
            raise ReminderRefused(
                tr_later(
                    "No reminder was told that could be told again. Say what of, for example "
                    "“remind me in 10 minutes to call the dentist”."
                ),
                code="E_REMINDER_NONE",
            )
        return told.text

    def when(self, phrase: Phrase | None, moved: Reminder | None = None) -> ReminderTime:
        """The moment of a phrase; a time alone is of the day that the reminder moved has.

        A reminder that is made has no day yet: nothing is moved then.
        Raises `ReminderRefused` where it says none to come.
        """
        if phrase is None:
            raise ReminderRefused(
                tr_later(
                    "Say when, for example “tomorrow at nine”, “in 20 minutes” or “every second "
                    "Friday”."
                ),
                code="E_REMINDER_TIME",
            )
        day = None if moved is None else moved.due.astimezone(self._zone).date()
        return read_when(phrase, self._clock.now(), self._zone, day)

    def make(self, text: str, when: ReminderTime, source: str) -> Reminder:
        """Keep a reminder that the owner saw and wants.

        Raises:
            ReminderRefused: Its moment passed meanwhile, or there are too many.
            Stopped: The record was changed outside Silas.
        """
        self.require_whole()
        now = self._clock.now()
        when = self._still_to_come(when, now)
        reminder = Reminder(
            id=new_id("reminder"),
            text=text,
            source=source,
            zone=when.zone,
            start=when.start,
            rule=when.rule,
            due=when.moment,
            state=ReminderState.waiting,
            made_at=now,
        )
        with self.store.db.write():
            if len(self.store.waiting()) >= _MOST:
                raise ReminderRefused(
                    f"There are {_MOST} reminders already; cancel some.", code="E_REMINDER_MANY"
                )
            self.store.put(reminder)
            self._due(reminder)
            self._record("reminder.made", reminder_id=reminder.id, **_facts(reminder))
        return reminder

    def _still_to_come(self, when: ReminderTime, now: datetime) -> ReminderTime:
        if when.moment > now:
            return when
        moment = next_slot(when.rule, when.start, when.zone, now) if when.rule else None
        if moment is None:
            raise ReminderRefused(
                tr_later("That time passed before you said yes; say a later one."),
                code="E_REMINDER_PAST",
            )
        return when._replace(moment=moment)

    def waiting(self) -> list[Reminder]:
        """What is still to come, the first to come first."""
        return self.store.waiting()

    def find(self, which: str) -> Reminder:
        """The one reminder that is meant: its number in the list, its id, or words of it.

        Raises:
            ReminderRefused: None is, or several are.
        """
        waiting, name = self.waiting(), which.strip().lstrip("#")
        if name.isdecimal() and 1 <= int(name) <= len(waiting):
            return waiting[int(name) - 1]
        found = [one for one in waiting if one.id == name]
        words = set(_WORD.findall(name.casefold())) - _SAYS_NOTHING
        if not found and words:
            found = [one for one in waiting if words <= set(_WORD.findall(one.text.casefold()))]
        if len(found) == 1:
            return found[0]
        if not found:
            raise ReminderRefused(
                f"No reminder that waits is called “{which}”; `silas remind list` shows them.",
                code="E_REMINDER_UNKNOWN",
            )
        numbers = ", ".join(str(waiting.index(one) + 1) for one in found)
        raise ReminderRefused(
            f"“{which}” fits {len(found)} reminders; say which number: {numbers}.",
            code="E_REMINDER_SEVERAL",
        )

    def only(self) -> Reminder:
        """The one that waits, where none is named. Raises `ReminderRefused` for none or several."""
        waiting = self.waiting()
        if len(waiting) == 1:
            return waiting[0]
        if not waiting:
            raise ReminderRefused(tr_later("No reminder waits."), code="E_REMINDER_NONE")
        named = ", ".join(f"{number} “{one.text}”" for number, one in enumerate(waiting, 1))
        raise ReminderRefused(
            f"{len(waiting)} reminders wait; say which one, such as “reminder 1”: {named}.",
            code="E_REMINDER_SEVERAL",
        )

    def cancel(self, reminder: Reminder) -> None:
        """It will not be told. Raises `ReminderRefused` where it does not wait any more."""
        with self.store.db.write():
            if not self.store.end(reminder.id, ReminderState.cancelled, self._clock.now()):
                raise _over(reminder)
            self._cancel_jobs(reminder.id)
            self._record("reminder.cancelled", reminder_id=reminder.id)

    def move(self, reminder: Reminder, when: ReminderTime) -> Reminder:
        """Give it another time. Raises as `make` and `cancel` do."""
        self.require_whole()
        when = self._still_to_come(when, self._clock.now())
        moved = reminder._replace(due=when.moment)
        if when.rule or not reminder.rule:  # else its next time alone is another one
            moved = moved._replace(zone=when.zone, start=when.start, rule=when.rule)
        with self.store.db.write():
            if not self.store.move(moved):
                raise _over(reminder)
            self._cancel_jobs(reminder.id)
            self._due(moved)
            self._record("reminder.moved", reminder_id=moved.id, **_facts(moved))
        return moved

    def forget(self, source: str) -> int:
        """Take back the words that were said at a place; those reminders come no more.

        Returns:
            How many reminders had words from there.
        """
        found, now = self.store.from_source(source), self._clock.now()
        with self.store.db.write():
            for reminder in found:
                if self.store.end(reminder.id, ReminderState.forgotten, now):
                    self._cancel_jobs(reminder.id)
                    self._record("reminder.forgotten", reminder_id=reminder.id)
            self.store.forget(source)
        return len(found)

    def count_from(self, source: str) -> int:
        """How many reminders have words that were said at a place."""
        return len(self.store.from_source(source))

    # -- what tells them asks

    def coming(self, reminder_id: str, slot: str) -> Reminder | None:
        """The reminder that a job is about; None where it was moved, cancelled or told."""
        found = self.store.get(reminder_id)
        if found is None or found.state is not ReminderState.waiting:
            return None
        return found if slot_of(found.due) == slot else None

    def count_missed(self, reminder: Reminder, now: datetime) -> int:
        """How many of its moments passed after the one that is due."""
        if not reminder.rule:
            return 0
        return count_between(
            reminder.rule, reminder.start, reminder.zone, reminder.due, now, _MOST_MISSED
        )

    def mark_told(self, reminder: Reminder, now: datetime, missed: int, tries: int) -> None:
        """It was told; the next moment of one that recurs comes into force."""
        with self.store.db.write():
            self.store.mark_told(reminder.id, reminder.due, missed, now)
            if self.next_moment(reminder.id) == reminder.due:  # else it was moved meanwhile
                self._advance(reminder, now)
            late = max((now - reminder.due).total_seconds(), 0.0)
            self._record(
                "reminder.told",
                reminder_id=reminder.id,
                due=reminder.due.isoformat(),
                zone=reminder.zone.key,
                late_seconds=round(late),
                missed=missed,
                tries=tries,
            )

    def _advance(self, reminder: Reminder, now: datetime) -> None:
        coming = self.following(reminder, now)
        if coming is None:
            self.store.end(reminder.id, ReminderState.told, now)
        else:
            self.store.comes_next(reminder.id, coming)

    def following(self, reminder: Reminder, now: datetime) -> datetime | None:
        """The next moment after the one that is due; what passed meanwhile is told with it."""
        if not reminder.rule:
            return None
        after = max(now, reminder.due)
        return next_slot(reminder.rule, reminder.start, reminder.zone, after)

    def next_moment(self, reminder_id: str) -> datetime | None:
        """When a reminder that recurs comes next; None where it is over."""
        found = self.store.get(reminder_id)
        waits = found is not None and found.state is ReminderState.waiting
        return found.due if found is not None and waits else None

    def _due(self, reminder: Reminder) -> None:
        self._jobs.at(reminder.due, KIND, reminder.id, queue=QUEUE, zone=reminder.zone.key)

    def _cancel_jobs(self, reminder_id: str) -> None:
        for job in self._jobs.list(KIND, reminder_id):
            self._jobs.cancel(job.id)


def _same(one: Reminder, text: str, when: ReminderTime) -> bool:
    """Whether a reminder would say the same at the same times."""
    words = one.text.casefold().split() == text.casefold().split()
    return words and (one.due, one.rule) == (when.moment, when.rule)


def _facts(reminder: Reminder) -> dict[str, str]:
    return {"due": reminder.due.isoformat(), "zone": reminder.zone.key, "rule": reminder.rule}


def _over(reminder: Reminder) -> ReminderRefused:
    return ReminderRefused(
        f"The reminder “{reminder.text}” was told or cancelled meanwhile.",
        code="E_REMINDER_OVER",
    )
