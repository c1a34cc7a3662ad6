"""Dates and times, on the owner's calendar."""

import re
from calendar import isleap, monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from silas.agents.runbook.calculator.days import UnclearDay, last_of, next_of, parse_day
from silas.language import tr, tr_later, tr_many
from silas.language.calendar import WEEKDAYS

_UNIT: Final = r"(?P<unit>day|week|month|year)s?"
_COUNT: Final = r"(?P<count>\d{1,5}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_UNITS: Final = {
    "day": (tr_later("{count} day"), tr_later("{count} days")),
    "week": (tr_later("{count} week"), tr_later("{count} weeks")),
    "month": (tr_later("{count} month"), tr_later("{count} months")),
    "year": (tr_later("{count} year"), tr_later("{count} years")),
}
_DATES: Final = (
    tr_later("{day} January {year}"),
    tr_later("{day} February {year}"),
    tr_later("{day} March {year}"),
    tr_later("{day} April {year}"),
    tr_later("{day} May {year}"),
    tr_later("{day} June {year}"),
    tr_later("{day} July {year}"),
    tr_later("{day} August {year}"),
    tr_later("{day} September {year}"),
    tr_later("{day} October {year}"),
    tr_later("{day} November {year}"),
    tr_later("{day} December {year}"),
)
_BEFORE: Final = tr_later("{days} before {start}: {day}.")
_AFTER: Final = tr_later("{days} after {start}: {day}.")
_LEAP: Final = tr_later("{year} is a leap year.")
_NO_LEAP: Final = tr_later("{year} is no leap year.")
_NEAR: Final = {
    0: tr_later(", today"),
    1: tr_later(", tomorrow"),
    -1: tr_later(", yesterday"),
}

_NUMBERS: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


DateGroups = Mapping[str, str]
"""What stood in the slots of a question; empty where nothing did."""


class _Moment:
    """When and where a question is asked."""

    def __init__(self, now: datetime, zone: ZoneInfo) -> None:
        self.now = now
        self.zone = zone
        self.today = now.date()


def _today(at: _Moment, given: DateGroups) -> str:
    del given
    return tr("Today is {long}.", long=_long(at.today))


def _time(at: _Moment, given: DateGroups) -> str:
    del given
    return tr(
        "It is {now:%H:%M} on {long} ({key}).", now=at.now, long=_long(at.today), key=at.zone.key
    )


def _time_there(at: _Moment, given: DateGroups) -> str | None:
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
        return tr(
            "In {city} it is {there:%H:%M} on {long} ({key}).",
            city=city,
            there=there,
            long=_long(there.date()),
            key=key,
        )
    return None


def _week(at: _Moment, given: DateGroups) -> str:
    del given
    year, week, _ = at.today.isocalendar()
    return tr(
        "It is week {week} of {year} (ISO 8601); today is {long}.",
        week=week,
        year=year,
        long=_long(at.today),
    )


def _leap(at: _Moment, given: DateGroups) -> str:
    del at
    year = int(given["year"])
    form = _LEAP if isleap(year) else _NO_LEAP
    return tr(form, year=year)


def _which_day(at: _Moment, given: DateGroups) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    past = given["was"].lower() in ("was", "did")
    on = last_of(day, at.today) if past else next_of(day, at.today)
    day_of_week, away = tr(WEEKDAYS[on.weekday()]), _away(on, at.today)
    if on >= at.today:
        return tr("{date} is a {day}{away}.", date=_date(on), day=day_of_week, away=away)
    return tr("{date} was a {day}{away}.", date=_date(on), day=day_of_week, away=away)


def _when(at: _Moment, given: DateGroups) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    on = next_of(day, at.today)
    return f"{_long(on)}{_away(on, at.today)}."


def _until(at: _Moment, given: DateGroups) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    on = next_of(day, at.today)
    return tr(
        "{count} from today until {long}.",
        count=_count((on - at.today).days, given),
        long=_long(on),
    )


def _since(at: _Moment, given: DateGroups) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None:
        return None
    on = last_of(day, at.today)
    return tr(
        "{count} from {long} until today.",
        count=_count((at.today - on).days, given),
        long=_long(on),
    )


def _between(at: _Moment, given: DateGroups) -> str | None:
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
    told = _count(days, given)
    return tr("{days} from {first} to {last}.", days=told, first=_long(first), last=_long(second))


def _count_on(at: _Moment, given: DateGroups) -> str | None:
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
        return tr("That is beyond the years that I can count (1 to 9999).")
    told = tr_many(number, *_UNITS[given["unit"].lower()])
    start = tr("today") if base == at.today else _date(base)
    form = _BEFORE if back else _AFTER
    return tr(form, days=told, start=start, day=_long(on))


def _age(at: _Moment, given: DateGroups) -> str | None:
    day = parse_day(given["day"], at.today)
    if day is None or day.year is None:
        return None
    born = day.of(day.year)
    if born > at.today:
        return tr("{long} is still to come.", long=_long(born))
    years = at.today.year - born.year - ((at.today.month, at.today.day) < (born.month, born.day))
    return tr(
        "{years}, counted from {day} until today.",
        years=tr_many(years, "{count} year", "{count} years"),
        day=_long(born),
    )


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
_ANSWERS: Final[tuple[tuple[Callable[[_Moment, DateGroups], str | None], tuple[str, ...]], ...]] = (
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
        _count_on,
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
            told = reply(at, _date_groups(found))
        except UnclearDay as error:
            return str(error)
        if told is not None:
            return told
    return None


def _date_groups(found: re.Match[str]) -> DateGroups:
    """A slot may stand in several forms of a question; `one_` is another place of `one`."""
    given = dict[str, str]()
    for name, value in found.groupdict(default="").items():
        given[name.rstrip("_")] = given.get(name.rstrip("_")) or value
    return given


def _long(day: date) -> str:
    return f"{tr(WEEKDAYS[day.weekday()])}, {_date(day)}"


def _date(day: date) -> str:
    return tr(_DATES[day.month - 1], day=day.day, year=day.year)


def _away(on: date, today: date) -> str:
    days = (on - today).days
    if abs(days) < 2:
        return tr(_NEAR[days])
    return tr(", in {days} days", days=days) if days > 0 else tr(", {days} days ago", days=-days)


def _count(days: int, given: DateGroups) -> str:
    sign, days = (tr("minus ") if days < 0 else ""), abs(days)
    told = sign + tr_many(days, *_UNITS["day"])
    if given.get("in", "").lower() != "weeks":
        return told
    weeks, rest = divmod(days, 7)
    more = tr(" and ") + tr_many(rest, *_UNITS["day"]) if rest else ""
    return f"{sign}{tr_many(weeks, *_UNITS['week'])}{more} ({told})"


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
