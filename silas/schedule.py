"""When things are due: cron expressions, and the `scheduler:` section (spec 11)."""

import re
from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator

from silas.types import Frozen

_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 7),  # 0 and 7 are both Sunday
)
_PART = re.compile(
    r"(?P<only>[0-9]{1,2})|(?:\*|(?P<low>[0-9]{1,2})-(?P<high>[0-9]{1,2}))(?:/(?P<step>[0-9]{1,2}))?"
)


def cron_fault(expression: str) -> str:
    """What is wrong with a cron expression, or an empty text.

    Numbers, `*`, ranges, lists and steps are known; names of months and days are not.
    """
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        return f"it has 5 fields separated by blanks, not {len(fields)}"
    for text, (name, low, high) in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            if not _fits(part, low, high):
                return f"{part!r} is not a {name} ({low} to {high}, like 5, 1-5, */10 or 1,15)"
    return ""


def _fits(part: str, low: int, high: int) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        return False
    first = int(found["only"] or found["low"] or low)
    last = int(found["only"] or found["high"] or high)
    step = int(found["step"] or 1)
    return low <= first <= last <= high and 1 <= step <= high


def is_due(expression: str, moment: datetime) -> bool:
    """Whether a sound cron expression names this minute, on the calendar of the moment's zone.

    Where both days are restricted one of them is enough, as in every cron.
    """
    fields = expression.split()
    weekday = moment.isoweekday()
    now = (moment.minute, moment.hour, moment.day, moment.month)
    minute, hour, day, month = (
        _names(text, value, low, high)
        for text, value, (_, low, high) in zip(fields, now, _FIELDS, strict=False)
    )
    of_week = any(_names(fields[4], value, 0, 7) for value in {weekday, weekday % 7})
    either = fields[2] != "*" and fields[4] != "*"
    return minute and hour and month and ((day or of_week) if either else (day and of_week))


def _names(text: str, value: int, low: int, high: int) -> bool:
    """Whether a field of an expression names this value."""
    for part in text.split(","):
        found = _PART.fullmatch(part)
        if found is None:
            return False
        first = int(found["only"] or found["low"] or low)
        last = int(found["only"] or found["high"] or high)
        if value in range(first, last + 1, int(found["step"] or 1)):
            return True
    return False


def _sound(expression: str) -> str:
    fault = cron_fault(expression)
    if fault:
        raise ValueError(f"{expression!r} is not a cron expression: {fault}")
    return expression


Cron = Annotated[str, AfterValidator(_sound)]
"""A valid cron expression, kept as it was written."""


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(
            f"{name!r} is not a time zone; use a name such as Europe/Vienna"
        ) from error
    return name


class SchedulerConfig(Frozen):
    """The `scheduler:` section.

    Attributes:
        enabled: Whether anything runs by the clock.
        timezone: In which zone cron expressions are meant, by its IANA name.
    """

    enabled: bool = True
    timezone: Annotated[str, AfterValidator(_known_zone)] = "Europe/Vienna"
