"""When things are due: cron expressions, and the `scheduler:` section (spec 11)."""

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final
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


LOCAL: Final = "local"
"""The zone of this machine, as a setting."""

_DATABASE: Final = "zoneinfo/"  # part of the path of every zone's file


def machine_zone(environ: Mapping[str, str], etc: Path) -> ZoneInfo:
    """The time zone that this machine is set to: `TZ`, `localtime`, `timezone`, in that order.

    A machine that names no zone of the IANA database is in UTC, which every answer then says.

    Args:
        environ: The environment; a `TZ` that is no such name is passed over.
        etc: The directory of the machine's settings, `/etc`.
    """
    link = os.path.realpath(etc / "localtime")
    try:
        written = (etc / "timezone").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        written = ""
    named = environ.get("TZ", "").removeprefix(":")
    linked = link.partition(_DATABASE)[2].removeprefix("posix/")
    for name in (named, linked, written):
        zone = _zone(name)
        if zone is not None:
            return zone
    return ZoneInfo("UTC")


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _known_zone(name: str) -> str:
    if name != LOCAL and _zone(name) is None:
        raise ValueError(
            f"{name!r} is not a time zone; use a name such as Europe/Vienna, or {LOCAL} for this "
            "machine's own"
        )
    return name


class SchedulerConfig(Frozen):
    """The `scheduler:` section.

    Attributes:
        enabled: Whether anything runs by the clock.
        timezone: The owner's time zone by its IANA name, for cron expressions, quiet hours and
            questions about dates; `local` is the zone that this machine is set to.
    """

    enabled: bool = True
    timezone: Annotated[str, AfterValidator(_known_zone)] = LOCAL

    @property
    def zone(self) -> ZoneInfo:
        """The time zone itself."""
        if self.timezone == LOCAL:
            return machine_zone(os.environ, Path("/etc"))
        return ZoneInfo(self.timezone)
