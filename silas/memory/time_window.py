"""The window of time that a question names: "yesterday", "in May 2023", "three weeks ago"."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple


class TimeWindow(NamedTuple):
    """From a moment on, and up to another one."""

    since: datetime
    until: datetime


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_NUMBERS = [
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
]

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12]\d{3})"
_COUNT = rf"(?P<count>\d{{1,3}}|an?|{'|'.join(_NUMBERS[1:])})"
_UNIT = r"(?P<unit>day|week|month|year)"


def window(text: str, now: datetime) -> TimeWindow | None:
    """The first window that a text names, seen from this moment, in UTC; None if it names none.

    A month or a weekday without a year is the last one that has begun.
    """
    told = text[:_READ]
    if _HINT.search(told.lower()) is None:
        return None
    for pattern, read in _PATTERNS:
        found = pattern.search(told)
        if found is None:
            continue
        try:
            return read(found, now.astimezone(UTC))
        except (ValueError, OverflowError):
            continue  # the 31st of February, or a year that no calendar has
    return None


def _of_date(found: re.Match[str], now: datetime) -> TimeWindow:
    """A day, a month or a year, as far as it is told; what is not told is the last there was."""
    told = found.groupdict()
    month = told.get("month")
    if month is None:
        number = 1
    else:
        number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    day = int(told.get("day") or 1)
    year = int(told.get("year") or now.year)
    since = datetime(year, number, day, tzinfo=UTC)
    if not told.get("year") and since > now:
        since = since.replace(year=year - 1)
    if told.get("day"):
        return TimeWindow(since, since + timedelta(days=1))
    return TimeWindow(since, _months_later(since, 1 if month else 12))


def _ago(found: re.Match[str], now: datetime) -> TimeWindow:
    """So many days, weeks, months or years ago: that day, week, month or year around."""
    count, unit = found["count"].lower(), found["unit"].lower()
    number = 1 if count in {"a", "an"} else _NUMBERS.index(count) if count.isalpha() else int(count)
    return _unit(now, unit, -number)


def _relative(found: re.Match[str], now: datetime) -> TimeWindow:
    """The day, week, month or year of now, the one before or the one after."""
    return _unit(
        now, found["unit"].lower(), {"last": -1, "this": 0, "next": 1}[found["which"].lower()]
    )


def _named_day(found: re.Match[str], now: datetime) -> TimeWindow:
    return _unit(now, "day", {"yesterday": -1, "tomorrow": 1}.get(found[0].lower(), 0))


def _weekday(found: re.Match[str], now: datetime) -> TimeWindow:
    wanted = _WEEKDAYS.index(found["weekday"][:3].lower())
    back = (now.weekday() - wanted) % 7 or (7 if found["last"] else 0)
    return _unit(now, "day", -back)


def _unit(now: datetime, unit: str, away: int) -> TimeWindow:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        since = midnight + timedelta(days=away)
        return TimeWindow(since, since + timedelta(days=1))
    if unit == "week":
        since = midnight + timedelta(days=7 * away - now.weekday())
        return TimeWindow(since, since + timedelta(days=7))
    months = 1 if unit == "month" else 12
    first = midnight.replace(day=1) if unit == "month" else midnight.replace(day=1, month=1)
    return TimeWindow(
        _months_later(first, away * months), _months_later(first, (away + 1) * months)
    )


def _months_later(first: datetime, months: int) -> datetime:
    """The first of a month, so many months later."""
    years, month = divmod(first.month - 1 + months, 12)
    return first.replace(year=first.year + years, month=month + 1)


_READ = 2_000  # characters of a text that are read for a time

_HINT = re.compile(
    rf"{'|'.join(_MONTHS)}|[a-z]day|tonight|tomorrow| ago|(?:this|last|next) [dwmy]"
    r"|(?<![0-9])[12][0-9]{3}(?![0-9])"
)
"""What every window holds: most texts hold none of it, and are not read a dozen times."""

_Read = Callable[[re.Match[str], datetime], TimeWindow]


def _pattern(text: str, read: _Read) -> tuple[re.Pattern[str], _Read]:
    return re.compile(rf"(?<![\w-])(?:{text})(?![\w-])", re.IGNORECASE | re.ASCII), read


_PATTERNS = (
    _pattern(rf"{_YEAR}-(?P<month>[01]?\d)-{_DAY}", _of_date),
    _pattern(rf"{_DAY}(?: of)? {_MONTH}\.?,? {_YEAR}", _of_date),
    _pattern(rf"{_MONTH}\.? {_DAY},? {_YEAR}", _of_date),
    _pattern(rf"{_MONTH}\.?,? {_YEAR}", _of_date),
    _pattern(rf"{_DAY}(?: of)? {_MONTH}", _of_date),
    _pattern(rf"{_MONTH}\.? {_DAY}", _of_date),
    _pattern(rf"{_COUNT} {_UNIT}s? ago", _ago),
    _pattern(rf"(?P<which>this|last|next) {_UNIT}", _relative),
    _pattern("yesterday|today|tonight|tomorrow", _named_day),
    _pattern(r"(?P<last>last )?(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)", _weekday),
    _pattern(rf"(?:in|since|during|of|last|this) {_MONTH}", _of_date),
    _pattern(rf"(?:in|since|during|of|from) {_YEAR}", _of_date),
)
"""Tried in order: what tells most comes first."""
