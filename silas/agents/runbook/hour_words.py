"""The hour at which a limit ends, as a request says it: “until Friday at noon”, „bis 12 Uhr“."""

import re
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.jobs.slots import at_wall_time, comes_twice, is_skipped
from silas.language import tr
from silas.reminders.models import ReminderRefused
from silas.reminders.patterns import PATTERNS
from silas.reminders.phrase import Part, Phrase, phrase_at
from silas.reminders.when import next_time, time_of, time_on

_GROUP: Final = re.compile(r"\(\?P<\w+>")
_ONE: Final = "|".join(
    _GROUP.sub("(?:", pattern.expression.pattern)
    for pattern in PATTERNS
    if pattern.kind in {"clock", "part"}
)
HOUR: Final = rf"(?:(?:{_ONE}|morgen\b)(?:\s+(?:{_ONE}))?)"
"""What an hour looks like; as a part of a day it has its own, as reminders do."""

INSIDE: Final = r"(?=(?:(?:vor|nach)?mittag|abend|morgen|nacht)\b)"
"""Where the name of a day goes on as that of a part of it: Freitagmittag."""

_MIDNIGHT: Final = re.compile(r"midnight|mitternacht|\b24\b", re.IGNORECASE)


class SaidEnd(NamedTuple):
    """When a limit ends.

    Attributes:
        moment: By the clock on the owner's wall.
        notes: What the clocks do then, where they are put forward or back.
    """

    moment: datetime
    notes: tuple[str, ...] = ()


def end_at(day: date | None, words: str, here: datetime, *, tonight: bool = False) -> datetime:
    """The time on the wall that an hour means, on a day or as the next such time.

    Args:
        day: None where only the hour was said.
        words: The hour.
        here: The present time on the wall, without a zone.
        tonight: Whether the day was said as tonight.

    Raises:
        ReminderRefused: There is no such time.
    """
    phrase = phrase_at(re.sub(r"(?i)\Amorgen\b", "morgens", words.strip()), 0)
    parts = () if phrase is None else phrase.parts
    if tonight:
        parts = (Part("day", "tonight", {"plain": "tonight"}), *parts)
    clock = time_of(Phrase(parts, 0, len(words)))
    if clock is None:
        raise ReminderRefused(f"“{words}” is no time.", code="E_REMINDER_TIME")
    if day is None:
        return next_time(clock, here)
    if clock.at == time() and _MIDNIGHT.search(words):  # what ends then ends with the day
        return datetime.combine(day + timedelta(days=1), time())
    return time_on(day, clock, here)


def on_the_wall(wall: datetime, zone: ZoneInfo) -> SaidEnd:
    """The moment of a time on the wall, and what the clocks do then."""
    notes = ()
    if is_skipped(wall, zone):
        notes = (tr("The clocks are put forward then and skip {wall:%H:%M}.", wall=wall),)
    elif comes_twice(wall, zone):
        notes = (tr("The clocks are put back then; it is the first {wall:%H:%M}.", wall=wall),)
    return SaidEnd(at_wall_time(wall, zone).astimezone(zone), notes)
