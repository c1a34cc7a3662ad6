"""A reminder: what to say, and when."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from zoneinfo import ZoneInfo

from silas.errors import SilasError


class ReminderRefused(SilasError):
    """A reminder cannot be made, found or changed as asked; nothing was changed."""

    family = "E_REMINDER"


class ReminderState(StrEnum):
    """How a reminder stands."""

    waiting = "waiting"
    told = "told"
    cancelled = "cancelled"
    forgotten = "forgotten"
    """`silas memory forget` took its words back."""


class ReminderTime(NamedTuple):
    """When something comes, once or again.

    Attributes:
        moment: The first time, in UTC.
        zone: The zone that it was said in.
        start: The wall time that was meant, without a zone; it differs from the moment's where
            daylight saving skips it that night.
        rule: The recurrence rule (RFC 5545) it comes again by; empty where it comes once.
    """

    moment: datetime
    zone: ZoneInfo
    start: datetime
    rule: str = ""


class Reminder(NamedTuple):
    """What the owner wants to be told.

    Attributes:
        id: Its name.
        text: What to say, in the owner's words.
        source: Where he said it, as memories and context say it.
        zone: The zone that its time was said in.
        start: The wall time of the first moment, without a zone.
        rule: See `ReminderTime.rule`.
        due: The next moment, in UTC; the last one where nothing comes any more.
        made_at, ended_at: When; None where it did not end.
    """

    id: str
    text: str
    source: str
    zone: ZoneInfo
    start: datetime
    rule: str
    due: datetime
    state: ReminderState
    made_at: datetime
    ended_at: datetime | None = None


class ReminderTelling(NamedTuple):
    """One time at which a reminder was told, or was begun to be.

    Attributes:
        due: The moment that it was told for.
        told: Whether it is known to have been told.
        tries: How often that was begun; more than once means that a crash came between.
        missed: How many further moments passed meanwhile and are told with this one.
    """

    reminder_id: str
    due: datetime
    told: bool
    tries: int
    missed: int
    at: datetime
