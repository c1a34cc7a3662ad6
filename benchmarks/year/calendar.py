"""When things are due, reckoned day by day on each wall: none of the code of Silas takes part."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

Days = Callable[[date], bool]
"""Whether something comes on a day."""


class Rhythm(NamedTuple):
    """What comes on some days at some times of the wall.

    Attributes:
        days: On which.
        times: When on each of them.
        zone: Whose wall.
        late: Whether a time that daylight saving skips comes later by the gap, as reminders do;
            else at the gap's end, as Debian's cron does.
    """

    days: Days
    times: tuple[time, ...]
    zone: ZoneInfo
    late: bool


def moments(rhythm: Rhythm, after: datetime, until: datetime) -> list[datetime]:
    """Every moment after one and until another, in UTC, in order."""
    found: set[datetime] = set()
    day, last = after.date() - timedelta(days=2), until.date() + timedelta(days=2)
    while day <= last:
        if rhythm.days(day):
            found |= {moment(datetime.combine(day, at), rhythm) for at in rhythm.times}
        day += timedelta(days=1)
    return sorted(one for one in found if after < one <= until)


def moment(wall: datetime, rhythm: Rhythm) -> datetime:
    """The moment of one wall time; of one that comes twice the first."""
    at = wall.replace(tzinfo=rhythm.zone).astimezone(UTC)
    if at.astimezone(rhythm.zone).replace(tzinfo=None) == wall or rhythm.late:
        return at
    return gap_end(at, rhythm.zone)


def gap_end(at: datetime, zone: ZoneInfo) -> datetime:
    """When the clocks were put forward, at most three hours before a moment."""
    offset, minute = at.astimezone(zone).utcoffset(), timedelta(minutes=1)
    for _ in range(180):
        if (at - minute).astimezone(zone).utcoffset() != offset:
            return at
        at -= minute
    raise AssertionError(f"no clock of {zone} was put forward before {at}")


def daily(day: date) -> bool:
    """Each day."""
    del day
    return True


def on_weekdays(*numbers: int) -> Days:
    """Monday is 0."""
    return lambda day: day.weekday() in numbers


def every_weeks(step: int, first: date) -> Days:
    """The weekday of a day, every so many weeks from it on."""
    return lambda day: day >= first and (day - first).days % (7 * step) == 0


def on_day(number: int) -> Days:
    """A day of the month; months without it have none."""
    return lambda day: day.day == number


def last_or(number: int) -> Days:
    """A day of the month, or the last one of a shorter month."""
    return lambda day: day.day == min(number, _length(day))


def nth_weekday(nth: int, weekday: int) -> Days:
    """The nth weekday of each month."""
    return lambda day: day.weekday() == weekday and (day.day - 1) // 7 == nth - 1


def leap_day(day: date) -> bool:
    """29 February alone."""
    return (day.month, day.day) == (2, 29)


def end_of_february(day: date) -> bool:
    """29 February, or the 28th where there is none."""
    return day.month == 2 and day.day == _length(day)


def steps(first: datetime, every: timedelta, until: datetime) -> Iterator[datetime]:
    """What comes by elapsed time."""
    while first <= until:
        yield first
        first += every


def _length(day: date) -> int:
    following = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return (following - timedelta(days=1)).day
