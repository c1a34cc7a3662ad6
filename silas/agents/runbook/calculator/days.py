"""Days as people name them: a date in words or digits, a feast, a weekday, `tomorrow`."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, NamedTuple

from silas.language import tr
from silas.language.calendar import MONTHS

_MONTHS: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTH: Final = "|".join(f"{one}|{one[:3]}" for one in _MONTHS) + "|sept"
_ORDINAL: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(?P<year>\d{4}))?"
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?:the\s+)?{_ORDINAL}\s+(?:of\s+)?(?P<month>{_MONTH})\.?{_YEAR}",
        rf"(?P<month>{_MONTH})\.?\s+(?:the\s+)?{_ORDINAL}{_YEAR}",
        r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})?",
    )
)
_FEAST_YEAR: Final = r"\d{4}|(?:this|next)\s+year"
_SLASHED: Final = re.compile(r"(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>\d{4})")


class Day(NamedTuple):
    """A day that was named: of any year, or of one."""

    of: Callable[[int], date]
    year: int | None


class UnclearDay(ValueError):
    """A day that is none, or that is read in two ways; the message says which."""


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (the anonymous algorithm, Meeus 1991)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (a + 11 * h) // 319
    r = (2 * e + 2 * i - k - h + m + 32) % 7
    month = (h - m + r + 90) // 25
    return date(year, month, (h - m + r + month + 19) % 32)


def _day_of_month(month: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, month, day)


def _always(day: date) -> Callable[[int], date]:
    def of(year: int) -> date:
        del year
        return day

    return of


def _after_easter(days: int) -> Callable[[int], date]:
    return lambda year: _easter(year) + timedelta(days=days)


FEASTS: Final[dict[str, Callable[[int], date]]] = {
    "christmas": _day_of_month(12, 25),
    "xmas": _day_of_month(12, 25),
    "christmas day": _day_of_month(12, 25),
    "christmas eve": _day_of_month(12, 24),
    "boxing day": _day_of_month(12, 26),
    "new year": _day_of_month(1, 1),
    "new year's": _day_of_month(1, 1),
    "new year's day": _day_of_month(1, 1),
    "new year's eve": _day_of_month(12, 31),
    "the end of the year": _day_of_month(12, 31),
    "valentine's day": _day_of_month(2, 14),
    "halloween": _day_of_month(10, 31),
    "good friday": _after_easter(-2),
    "easter": _after_easter(0),
    "easter sunday": _after_easter(0),
    "easter monday": _after_easter(1),
    "ascension day": _after_easter(39),
    "pentecost": _after_easter(49),
}


def parse_day(text: str, today: date) -> Day | None:
    """The day that words name; None where they name none.

    Args:
        text: The words, without the question around them.
        today: The owner's day, which `tomorrow` and weekdays are counted from.

    Raises:
        UnclearDay: There is no such day, or it is written so that it can be two.
    """
    plain = " ".join(text.lower().split())
    if (near := _near(plain, today)) is not None:
        return Day(_always(near), near.year)
    feast = re.fullmatch(rf"(?P<name>.+?)(?:\s+(?:of\s+|in\s+)?(?P<year>{_FEAST_YEAR}))?", plain)
    if feast is not None and feast["name"].removeprefix("next ") in FEASTS:
        year = _feast_year(feast["year"], today)
        return Day(_check_day(FEASTS[feast["name"].removeprefix("next ")], plain, year), year)
    if (slashed := _SLASHED.fullmatch(plain)) is not None:
        return _of_slashes(int(slashed["one"]), int(slashed["two"]), int(slashed["year"]), plain)
    found = next((match for form in _FORMS if (match := form.fullmatch(plain))), None)
    if found is None:
        return None
    month, year = _month_of(found["month"]), int(found["year"]) if found["year"] else None
    return Day(_check_day(_day_of_month(month, int(found["day"])), plain, year), year)


def _feast_year(said: str | None, today: date) -> int | None:
    if not said:
        return None
    return int(said) if said.isdigit() else today.year + said.startswith("next")


def next_of(day: Day, today: date) -> date:
    """The day in the year that was named, or the next there is; today is one."""
    if day.year is not None:
        return day.of(day.year)
    return next(
        one
        for year in range(today.year, today.year + 9)
        if (one := _try(day, year)) and one >= today
    )


def last_of(day: Day, today: date) -> date:
    """The day in the year that was named, or the last there was; today is one."""
    if day.year is not None:
        return day.of(day.year)
    return next(
        one
        for year in range(today.year, today.year - 9, -1)
        if (one := _try(day, year)) and one <= today
    )


def _try(day: Day, year: int) -> date | None:
    try:  # 29 February is not in every year
        return day.of(year)
    except ValueError:
        return None


def _check_day(of: Callable[[int], date], said: str, year: int | None) -> Callable[[int], date]:
    try:
        of(2000 if year is None else year)  # a leap year
    except ValueError:
        raise UnclearDay(tr("There is no day {said!r}.", said=said)) from None
    return of


def _near(plain: str, today: date) -> date | None:
    steps = {"today": 0, "tomorrow": 1, "yesterday": -1}
    steps |= {"the day after tomorrow": 2, "the day before yesterday": -2}
    if plain in steps:
        return today + timedelta(days=steps[plain])
    weekday = re.fullmatch(rf"(?:on\s+|next\s+|this\s+)?(?P<day>{'|'.join(_WEEKDAYS)})", plain)
    if weekday is None:
        return None
    ahead = (_WEEKDAYS.index(weekday["day"]) - today.weekday() - 1) % 7 + 1
    return today + timedelta(days=ahead)


def _month_of(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next(i for i, one in enumerate(_MONTHS, 1) if one.startswith(text[:3]))


def _of_slashes(one: int, two: int, year: int, said: str) -> Day:
    if one <= 12 and two <= 12 and one != two:
        raise UnclearDay(
            tr(
                "{said} can be {one} {month} or {two} {other}; please write the month as a word.",
                said=said,
                one=one,
                month=tr(MONTHS[two - 1]),
                two=two,
                other=tr(MONTHS[one - 1]),
            )
        )
    day, month = (one, two) if two <= 12 else (two, one)
    return Day(_check_day(_day_of_month(month, day), said, year), year)
