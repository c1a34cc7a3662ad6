"""Dates and times, on the owner's calendar."""

import re
from calendar import isleap, monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from silas.agents.runbook.calculator.days import UnclearDay, last_of, next_of, parse_day

_UNIT: Final = r"(?P<unit>day|week|month|year)s?"
_COUNT: Final = r"(?P<count>\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_NUMBERS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


Given = Mapping[str, str]
"""What stood in the slots of a question; empty where nothing did."""


class _Moment:
    """When and where a question is asked."""

    def __init__(self, now: datetime, zone: ZoneInfo) -> None:
        self.now = now
        self.zone = zone
        self.today = now.date()


def _today(at: _Moment, given: Given) -> str:
    del given
    return f"Today is {_long(at.today)}."


def _time(at: _Moment, given: Given) -> str:
    del given
    return f"It is {at.now:%H:%M} on {_long(at.today)} ({at.zone.key})."


def _time_there(at: _Moment, given: Given) -> str | None:
    place = "_".join(given["place"].lower().split())
    keys = sorted(one for one in available_timezones() if one.lower().split("/")[-1] == place)
    if place == "utc":
        keys = ["UTC"]
    for key in keys:
        try:
            there = at.now.astimezone(ZoneInfo(key))
        except (ZoneInfoNotFoundError, OSError):
            continue
        city = key.split("/")[-1].replace("_", " ")
        return f"In {city} it is {there:%H:%M} on {_long(there.date())} ({key})."
    return None


def _week(at: _Moment, given: Given) -> str:
    del given
    year, week, _ = at.today.isocalendar()
    return f"It is week {week} of {year} (ISO 8601); today is {_long(at.today)}."


def _leap(at: _Moment, given: Given) -> str:
    del at
    year = int(given["year"])
    return f"{year} is {'a' if isleap(year) else 'no'} leap year."


def _which_day(at: _Moment, given: Given) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    past = given["was"].lower() in ("was", "did")
    on = last_of(day, at.today) if past else next_of(day, at.today)
    verb = "is" if on >= at.today else "was"
    return f"{_date(on)} {verb} a {on:%A}{_away(on, at.today)}."


def _when(at: _Moment, given: Given) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    on = next_of(day, at.today)
    return f"{_long(on)}{_away(on, at.today)}."


def _until(at: _Moment, given: Given) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    on = next_of(day, at.today)
    return f"{_count((on - at.today).days, given)} from today until {_long(on)}."


def _since(at: _Moment, given: Given) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    on = last_of(day, at.today)
    return f"{_count((at.today - on).days, given)} from {_long(on)} until today."


def _between(at: _Moment, given: Given) -> str | None:
    one, two = parse_day(given["one"], at.today), parse_day(given["two"], at.today)
    if one is None or two is None:
        return None
    if one.year is None and two.year is not None:
        second = next_of(two, at.today)
        first = last_of(one, second)
    else:
        first = next_of(one, at.today)
        second = next_of(two, first)
    days = (second - first).days
    return f"{_count(days, given)} from {_long(first)} to {_long(second)}."


def _counted(at: _Moment, given: Given) -> str | None:
    base = at.today
    if given.get("base"):
        day = parse_day(given["base"], at.today)
        if day is None:
            return None
        base = next_of(day, at.today)
    back = bool(given.get("back"))
    number = _number(given["count"])
    try:
        on = _shift(base, -number if back else number, given["unit"].lower())
    except (OverflowError, ValueError):
        return "That is beyond the years that I can count (1 to 9999)."
    unit = given["unit"].lower() + ("" if number == 1 else "s")
    start = "today" if base == at.today else _date(base)
    return f"{number} {unit} {'before' if back else 'after'} {start}: {_long(on)}."


def _age(at: _Moment, given: Given) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None or day.year is None:
        return None
    born = day.of(day.year)
    if born > at.today:
        return f"{_long(born)} is still to come."
    years = at.today.year - born.year - ((at.today.month, at.today.day) < (born.month, born.day))
    return f"{years} {'year' if years == 1 else 'years'}, counted from {_long(born)} until today."


_WHAT: Final = r"(?:what|which)"
_IS: Final = r"(?:'s|\s+is|\s+was|\s+will)"
_WHICH: Final = (
    rf"(?:{_WHAT}\s+(?:day|date)|what|when){_IS}\s+(?:it\s+|be\s+|the\s+(?:date|day)\s+)*"
)
_LONG: Final = r"(?:how\s+many\s+(?P<in>days|weeks)|how\s+long)"
_BORN: Final = (
    r"how\s+old\s+(?:am|is|are|would|will)\s+(?:i|he|she|they|someone|somebody|a\s+person)\s*"
    r"(?:be\s+)?(?:if|when|who)?\s*(?:i|he|she|they)?\s*(?:was|were|is)?\s*born\s+(?:on\s+)?"
)
_BETWEEN: Final = (
    r"(?:(?:are\s+there|are|is\s+it|have\s+passed)\s+)?(?:between\s+(?P<one>.+?)\s+and|"
    r"from\s+(?P<one_>.+?)\s+(?:to|until|till))\s+(?P<two>.+)"
)
_ANSWERS: Final[tuple[tuple[Callable[[_Moment, Given], str | None], tuple[str, ...]], ...]] = (
    (
        _time,
        (
            rf"{_WHAT}\s+time\s+is\s+it",
            r"(?:what(?:'s|\s+is)\s+)?(?:the\s+)?(?:current\s+)?time",
            r"how\s+late\s+is\s+it",
        ),
    ),
    (
        _time_there,
        (
            r"what(?:'s|\s+is)?\s+(?:the\s+)?time(?:\s+is\s+it)?\s+in\s+"
            r"(?P<place>[a-z][a-z .'-]{1,40})",
        ),
    ),
    (
        _today,
        (
            rf"{_WHAT}\s+(?:day|date|weekday|month|year)(?:\s+of\s+the\s+week)?\s+"
            r"(?:is\s+it|is|do\s+we\s+have)(?:\s+today)?",
            r"(?:what(?:'s|\s+is)\s+)?(?:the|today's)?\s*(?:current\s+)?(?:date|day)(?:\s+today)?",
            r"what(?:'s|\s+is)\s+today",
        ),
    ),
    (
        _week,
        (
            rf"{_WHAT}\s+(?:calendar\s+)?week(?:\s+number)?\s+(?:is\s+it|is\s+this|do\s+we\s+have)",
            r"(?:what(?:'s|\s+is)\s+)?(?:the\s+)?(?:calendar\s+)?week(?:\s+number)?",
        ),
    ),
    (_leap, (r"(?:is|was|will)\s+(?P<year>[1-9]\d{0,3})\s+(?:be\s+)?a\s+leap\s+year",)),
    (
        _counted,
        (
            rf"{_WHICH}(?:in\s+)?{_COUNT}\s+{_UNIT}"
            r"(?:\s+(?P<back>before|ago)|\s+(?:from|after))?(?:\s+today)?",
            rf"{_WHICH}(?:in\s+)?{_COUNT}\s+{_UNIT}\s+(?:(?P<back>before)|after|from)\s+"
            r"(?P<base>.+)",
            rf"{_COUNT}\s+{_UNIT}\s+(?:(?P<back>before)|after|from)\s+(?P<base>.+)",
            rf"{_COUNT}\s+{_UNIT}\s+(?:from|(?P<back>ago))",
        ),
    ),
    (
        _which_day,
        (
            rf"(?:on\s+)?{_WHAT}\s+(?:day|weekday|date)(?:\s+of\s+the\s+week)?\s+"
            r"(?P<was>is|was|will|does|did)\s+(?:it\s+)?(?:on\s+)?(?P<day>.+?)"
            r"(?:\s+(?:be|fall|fall\s+on|on))?",
        ),
    ),
    (_when, (r"(?:when)(?:'s|\s+is|\s+will)\s+(?P<day>.+?)(?:\s+be)?",)),
    (
        _until,
        (
            rf"{_LONG}\s+(?:(?:is\s+it|are\s+(?:left|there)|are\s+there\s+left|left|to\s+go)\s+)?"
            r"(?:until|till|til|to|before)\s+(?P<day>.+)",
            r"(?P<in>days|weeks)\s+(?:until|till|til|to)\s+(?P<day>.+)",
        ),
    ),
    (
        _since,
        (
            rf"{_LONG}\s+(?:(?:is\s+it|has\s+it\s+been|have\s+passed|passed)\s+)?"
            r"since\s+(?P<day>.+)",
            r"(?P<in>days|weeks)\s+since\s+(?P<day>.+)",
        ),
    ),
    (_between, (rf"(?:how\s+many\s+)?(?P<in>days|weeks)\s+{_BETWEEN}",)),
    (_age, (rf"{_BORN}(?P<day>.+)",)),
)
_COMPILED: Final = tuple(
    (re.compile(form, re.IGNORECASE), reply) for reply, forms in _ANSWERS for form in forms
)


def answer(said: str, now: datetime, zone: ZoneInfo) -> str | None:
    """The date, the time or the number of days that is asked for; None where none is.

    Args:
        said: The question.
        now: The moment on the owner's calendar.
        zone: The owner's time zone.
    """
    at = _Moment(now, zone)
    for form, reply in _COMPILED:
        found = form.fullmatch(said)
        if found is None:
            continue
        try:
            told = reply(at, _given(found))
        except UnclearDay as error:
            return str(error)
        if told is not None:
            return told
    return None


def _given(found: re.Match[str]) -> Given:
    """A slot may stand in several forms of a question; `one_` is another place of `one`."""
    given = dict[str, str]()
    for name, value in found.groupdict(default="").items():
        given[name.rstrip("_")] = given.get(name.rstrip("_")) or value
    return given


def _long(day: date) -> str:
    return f"{day:%A}, {_date(day)}"


def _date(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _away(on: date, today: date) -> str:
    days = (on - today).days
    if abs(days) < 2:
        return {0: ", today", 1: ", tomorrow", -1: ", yesterday"}[days]
    return f", in {days} days" if days > 0 else f", {-days} days ago"


def _count(days: int, given: Given) -> str:
    sign, days = ("minus " if days < 0 else ""), abs(days)
    told = f"{sign}{days} {'day' if days == 1 else 'days'}"
    if given.get("in", "").lower() != "weeks":
        return told
    weeks, rest = divmod(days, 7)
    more = f" and {rest} {'day' if rest == 1 else 'days'}" if rest else ""
    return f"{sign}{weeks} {'week' if weeks == 1 else 'weeks'}{more} ({told})"


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    return _NUMBERS.index(text.lower()) + 1 if text.lower() in _NUMBERS else 1


def _shift(day: date, by: int, unit: str) -> date:
    if unit in ("day", "week"):
        return day + timedelta(days=by * (7 if unit == "week" else 1))
    months = day.month - 1 + by * (12 if unit == "year" else 1)
    year, month = day.year + months // 12, months % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))
