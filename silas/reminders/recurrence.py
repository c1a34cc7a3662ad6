"""What comes again: from words to a recurrence rule (RFC 5545), and back."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Final

from silas.language import tr_later
from silas.reminders.models import ReminderRefused
from silas.reminders.numerals import number_of
from silas.reminders.patterns import UNITS, WEEKDAYS
from silas.reminders.phrase import Part

_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WORKDAYS: Final = "MO,TU,WE,TH,FR"
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_FREQUENCIES: Final = {
    "minutes": "MINUTELY",
    "hours": "HOURLY",
    "days": "DAILY",
    "weeks": "WEEKLY",
    "months": "MONTHLY",
    "years": "YEARLY",
}
_ADVERBS: Final = {
    "daily": "DAILY", "täglich": "DAILY", "weekly": "WEEKLY", "wöchentlich": "WEEKLY",
    "monthly": "MONTHLY", "monatlich": "MONTHLY", "yearly": "YEARLY", "annually": "YEARLY",
    "jährlich": "YEARLY", "hourly": "HOURLY", "stündlich": "HOURLY",
}  # fmt: skip
_ORDINAL_WORDS: Final = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"}
_LEAST_MINUTES: Final = 5
_MOST_STEP: Final = 1000
_SHORT_MONTHS_FROM: Final = 29  # a day that some month lacks; the last one stands in for it

ReadDate = Callable[[str, datetime], date]


def rule_of(part: Part, read_date: ReadDate) -> str:
    """The rule that a part of a phrase says.

    Raises:
        ReminderRefused: No rule says that, or it comes more often than every five minutes.
    """
    groups = part.groups
    if "nth" in groups:
        nth, day = number_of(groups["nth"]), _DAYS[WEEKDAYS[groups["nthday"].lower()]]
        if not (nth == -1 or 1 <= nth <= 5):
            raise no_rule(part.words.strip())
        return f"FREQ=MONTHLY;BYDAY={nth}{day}"
    if "monthday" in groups or "monthday2" in groups:
        return _monthly(int(groups.get("monthday") or groups["monthday2"]), part)
    if "date" in groups:
        found = read_date(groups["date"], datetime(2024, 1, 1))  # noqa: DTZ001, RUF100 - a leap year
        if (found.month, found.day) == (2, 29):
            return "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1"
        return f"FREQ=YEARLY;BYMONTH={found.month};BYMONTHDAY={found.day}"
    if "adverb" in groups:
        adverb = groups["adverb"].lower()
        return (
            f"FREQ={_ADVERBS[adverb]}" if adverb in _ADVERBS else f"FREQ=WEEKLY;BYDAY={_WORKDAYS}"
        )
    return _rule_with_step(part)


def _rule_with_step(part: Part) -> str:
    groups = part.groups
    step = number_of(groups["step"]) if "step" in groups else 1
    if not 1 <= step <= _MOST_STEP:
        raise no_rule(part.words.strip())
    interval = f";INTERVAL={step}" if step > 1 else ""
    if "days" in groups:
        named = [word.strip(",").removesuffix("s") for word in groups["days"].lower().split()]
        found = [WEEKDAYS.get(word, WEEKDAYS.get(f"{word}s", -1)) for word in named]
        days = ",".join(_DAYS[day] for day in sorted({day for day in found if day >= 0}))
        return f"FREQ=WEEKLY{interval};BYDAY={days}"
    if "work" in groups:
        return f"FREQ=WEEKLY{interval};BYDAY={_WORKDAYS}"
    if "weekend" in groups:
        return f"FREQ=WEEKLY{interval};BYDAY=SA,SU"
    if "part" in groups:
        return f"FREQ=DAILY{interval}"
    unit = unit_of(groups["unit"])
    if unit == "fortnights":
        return f"FREQ=WEEKLY;INTERVAL={2 * step}"
    if unit not in _FREQUENCIES or (unit == "minutes" and step < _LEAST_MINUTES):
        raise ReminderRefused(
            tr_later("A reminder comes every five minutes at most; say a longer time."),
            code="E_REMINDER_TIME",
        )
    return f"FREQ={_FREQUENCIES[unit]}{interval}"


def _monthly(day: int, part: Part) -> str:
    if not 1 <= day <= 31:
        raise no_rule(part.words.strip())
    if day < _SHORT_MONTHS_FROM:
        return f"FREQ=MONTHLY;BYMONTHDAY={day}"
    days = ",".join(map(str, range(_SHORT_MONTHS_FROM - 1, day + 1)))
    return f"FREQ=MONTHLY;BYMONTHDAY={days};BYSETPOS=-1"


def unit_of(word: str) -> str:
    """The unit of time that a word names."""
    lower = word.lower()
    for ending in ("", "s", "n", "en", "e"):
        stem = lower.removesuffix(ending) if ending else lower
        if stem in UNITS:
            return UNITS[stem]
    raise AssertionError(f"{word} is no unit of time")


def no_rule(words: str) -> ReminderRefused:
    """The refusal of words that no rule says."""
    return ReminderRefused(
        f"Silas cannot tell when “{words}” is; say it as “every second Friday” or "
        "“on the 5th of every month”.",
        code="E_REMINDER_TIME",
    )
