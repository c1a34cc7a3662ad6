"""Moments of what recurs, computed on a calendar with its zone; no engine knows any of this.

Slots are pure functions of the rule, the zone and the moment before, so that the same slot is found
after a crash, and its id runs it once.
"""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from silas.errors import ConfigError

_BY_CLOCK: Final = {"MINUTELY": timedelta(minutes=1), "HOURLY": timedelta(hours=1)}
"""What recurs by elapsed time: neither daylight saving nor a calendar has a say in it."""

_ASIDE: Final = timedelta(days=1)  # more than a wall clock is ever moved


class RecurrenceError(ConfigError):
    """A recurrence rule cannot be read."""


def at_wall_time(wall: datetime, zone: ZoneInfo) -> datetime:
    """The moment at which a clock on the wall shows this, in UTC.

    A time that daylight saving skips is as much later as the clock is put forward; of one that
    comes twice it is the first.

    Args:
        wall: Without a zone.
        zone: Whose wall.
    """
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def is_skipped(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether no clock on a wall of this zone ever shows this time."""
    shown = at_wall_time(wall, zone).astimezone(zone).replace(tzinfo=None)
    return shown != wall


def comes_twice(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether the clocks of this zone show this time twice."""
    aware = wall.replace(tzinfo=zone)
    return aware.utcoffset() != aware.replace(fold=1).utcoffset() and not is_skipped(wall, zone)


def next_slot(rule: str, start: datetime, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first moment of a recurrence rule after another, in UTC; None where it ends before.

    Args:
        rule: An RRULE of RFC 5545 without its name, such as `FREQ=WEEKLY;INTERVAL=2;BYDAY=FR`. One
            by minutes or hours has nothing but an INTERVAL.
        start: The wall time of its first moment, without a zone; every moment has its time of day.
        zone: Whose wall.
        after: The moment.

    Raises:
        RecurrenceError: It cannot be read.
    """
    parts = dict(part.split("=", 1) for part in rule.split(";") if "=" in part)
    step = _BY_CLOCK.get(parts.get("FREQ", ""))
    if step is not None:
        if parts.keys() - {"FREQ", "INTERVAL"}:
            raise RecurrenceError(f"The rule {rule!r} repeats by the hour and by the calendar.")
        first, every = at_wall_time(start, zone), step * int(parts.get("INTERVAL", "1"))
        return first if first > after else first + every * ((after - first) // every + 1)
    from dateutil.rrule import rrulestr  # noqa: PLC0415 - only who waits for one

    try:
        moments = rrulestr(rule, dtstart=start)
    except (ValueError, TypeError, KeyError) as error:
        raise RecurrenceError(f"The recurrence rule {rule!r} cannot be read: {error}.") from error
    # wall times and moments are in the same order but for an hour
    wall = after.astimezone(zone).replace(tzinfo=None) - _ASIDE
    while (found := moments.after(wall)) is not None:
        if (moment := at_wall_time(found, zone)) > after:
            return moment
        wall = found
    return None


def count_between(
    rule: str, start: datetime, zone: ZoneInfo, after: datetime, until: datetime, most: int
) -> int:
    """How many moments of a rule lie after one and not after another; counts to `most`."""
    found, moment = 0, next_slot(rule, start, zone, after)
    while moment is not None and moment <= until and found < most:
        found, moment = found + 1, next_slot(rule, start, zone, moment)
    return found
