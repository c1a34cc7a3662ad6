"""What comes at a moment, and how often more (spec 0.5.4)."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from silas.jobs.slots import next_slot
from silas.reminders.models import Reminder
from silas.reminders.rule_words import rule_words

_MOST_COUNTED: Final = 1000


class UpcomingKind(StrEnum):
    """What comes at a moment."""

    reminder = "reminder"
    goal = "goal"


class Upcoming(NamedTuple):
    """Something that comes at a moment.

    Attributes:
        due: The next moment, in UTC.
        kind: What comes.
        id: Of the reminder or the goal.
        title: What will be said, or what the plan of the goal is called.
        again: How it comes again, in words; empty where it comes once.
        more: How often more it comes within the days that were looked at; counts to a thousand.
    """

    due: datetime
    kind: UpcomingKind
    id: str
    title: str
    again: str
    more: int


def upcoming_reminder(reminder: Reminder, until: datetime) -> Upcoming:
    """A reminder, and how often it comes before a moment."""
    rule = reminder.rule

    def then(moment: datetime) -> datetime | None:
        return next_slot(rule, reminder.start, reminder.zone, moment) if rule else None

    more = more_moments(reminder.due, then, until)
    again = rule_words(rule) if rule else ""
    return Upcoming(reminder.due, UpcomingKind.reminder, reminder.id, reminder.text, again, more)


def more_moments(
    first: datetime, then: Callable[[datetime], datetime | None], until: datetime
) -> int:
    """How many moments follow the first before another; counts to a thousand."""
    count, moment = 0, then(first)
    while moment is not None and moment < until and count < _MOST_COUNTED:
        count, moment = count + 1, then(moment)
    return count
