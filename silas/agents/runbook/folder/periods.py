"""Times that a question names: today, this week, since Monday, in the last three days."""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Final, NamedTuple

from silas.language import tr

_MOST_BACK: Final = 3660  # days
_DAY_NAMES: Final = (
    ("monday", "montag"),
    ("tuesday", "dienstag"),
    ("wednesday", "mittwoch"),
    ("thursday", "donnerstag"),
    ("friday", "freitag"),
    ("saturday", "samstag", "sonnabend"),
    ("sunday", "sonntag"),
)
_WEEKDAYS: Final = {name: at for at, names in enumerate(_DAY_NAMES) for name in names}
_SPANS: Final[Mapping[str, str]] = {
    "today": "today",
    "heute": "today",
    "yesterday": "yesterday",
    "gestern": "yesterday",
    **dict.fromkeys(("this week", "diese woche", "in dieser woche"), "week"),
    **dict.fromkeys(("last week", "letzte woche", "in der letzten woche"), "last_week"),
    **dict.fromkeys(("this month", "diesen monat", "in diesem monat"), "month"),
    **dict.fromkeys(("since yesterday", "seit gestern"), "back:1"),
    **dict.fromkeys(
        ("since today", "since this morning", "seit heute", "seit heute früh"), "today"
    ),
}
_SINCE_DAY: Final = re.compile(r"(?:since|seit) (?:last |letzten )?(?P<day>[a-z]+)")
_EN_COUNTS: Final = "two|three|four|five|six|seven"
_DE_COUNTS: Final = "zwei|drei|vier|fünf|sechs|sieben"
_LAST_DAYS: Final = re.compile(
    rf"(?:(?:in|during|within|over) the |the )?(?:last|past) (?P<n>\d{{1,4}}|{_EN_COUNTS}) days"
    rf"|(?:in )?(?:den|die) letzten (?P<m>\d{{1,4}}|{_DE_COUNTS}) tagen?"
)
_NUMBERS: Final = {
    word: count
    for words in (_EN_COUNTS, _DE_COUNTS)
    for count, word in enumerate(words.split("|"), 2)
}
_DAYS_OF: Final = {
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen"), 1),
    **dict.fromkeys(("week", "weeks", "woche", "wochen"), 7),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten"), 30),
    **dict.fromkeys(("year", "years", "jahr", "jahre", "jahren"), 365),
}
_ONE: Final = frozenset({"a", "an", "one", "ein", "eine", "einen", "einem"})


class Span(NamedTuple):
    """The first day and the last, and what they are called."""

    first: date
    last: date
    words: str


_NAMED: Final[Mapping[str, Callable[[date], Span]]] = {
    "today": lambda today: Span(today, today, tr("today")),
    "yesterday": lambda today: Span(
        today - timedelta(days=1), today - timedelta(days=1), tr("yesterday")
    ),
    "week": lambda today: Span(today - timedelta(days=today.weekday()), today, tr("this week")),
    "last_week": lambda today: Span(
        today - timedelta(days=today.weekday() + 7),
        today - timedelta(days=today.weekday() + 1),
        tr("last week"),
    ),
    "month": lambda today: Span(today.replace(day=1), today, tr("this month")),
}


def span_of(said: str) -> str | None:
    """The time that words mean, in a form of its own; None for other words."""
    words = " ".join(said.lower().split())
    if words in _SPANS:
        return _SPANS[words]
    day = _SINCE_DAY.fullmatch(words)
    if day is not None and day["day"] in _WEEKDAYS:
        return f"weekday:{_WEEKDAYS[day['day']]}"
    if (last := _LAST_DAYS.fullmatch(words)) is None:
        return None
    count = last["n"] or last["m"]
    days = int(count) if count.isdecimal() else _NUMBERS[count]
    return f"back:{days}" if 0 < days <= _MOST_BACK else None


def age_of(said: str) -> str | None:
    """How many days words like `two weeks` are, a month as 30; None for other words."""
    words = said.lower().split()
    if words in (["yesterday"], ["gestern"]):
        return "1"
    if len(words) != 2 or words[1] not in _DAYS_OF:
        return None
    count = 1 if words[0] in _ONE else _NUMBERS.get(words[0], 0)
    days = (int(words[0]) if re.fullmatch(r"[0-9]{1,4}", words[0]) else count) * _DAYS_OF[words[1]]
    return str(days) if 0 < days <= _MOST_BACK else None


def read_span(form: str, today: date) -> Span:
    """The days of a time that `span_of` told, as seen from today."""
    if form in _NAMED:
        return _NAMED[form](today)
    kind, _, number = form.partition(":")
    # since Monday, said on a Monday, is since the one before
    days = int(number) if kind == "back" else (today.weekday() - int(number) - 1) % 7 + 1
    first = today - timedelta(days=days)
    return Span(first, today, tr("since {day}", day=first.isoformat()))
