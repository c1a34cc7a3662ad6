"""How far one yes is to go, as a request says it: “30 times until Friday”, „zwei Wochen lang“.

What is said becomes `standing` of the goal's plan, which the card shows and the yes signs. A
number that the owner's caps do not allow is told before the card, with what it takes instead.
"""

import calendar
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.agents.runbook.hour_words import HOUR, INSIDE, SaidEnd, end_at, on_the_wall
from silas.language import tr, tr_later, tr_many
from silas.language.calendar import moment_words
from silas.plans.goals.standing import CAP_OF_DAYS, CAP_OF_USES, StandingAsk, StandingCaps
from silas.reminders.models import ReminderRefused
from silas.reminders.numerals import NUMBER, number_of
from silas.reminders.patterns import DATE, UNIT, WEEKDAY, WEEKDAYS
from silas.reminders.recurrence import unit_of
from silas.reminders.when import read_date

_LAST_MINUTE: Final = time(23, 59)
_MOST: Final = (
    r"at\s+most|up\s+to|no[t]?\s+more\s+than|höchstens|maximal|bis\s+zu|nicht\s+mehr\s+als"
)
_COUNT: Final = (
    rf"(?:for\s+|für\s+)?(?:(?P<most>{_MOST}|only|nur|insgesamt)\s+)?(?P<count>(?:minus\s+|[-−–]\s*)?"
    rf"(?:\d[\d.,]*|{NUMBER})|once|twice)\s*(?P<times>times?\b|mal\b|x\b)?"
    r"(?P<total>\s+(?:at\s+most|in\s+total|höchstens|insgesamt)\b)?"
)
_PERIOD: Final = r"week|month|year|woche|monats|jahres"
_END: Final = (
    rf"(?P<plain>today|tonight|tomorrow|yesterday|heute|morgen|übermorgen|gestern|"
    rf"the\s+day\s+after\s+tomorrow)|"
    rf"(?:the\s+|zum\s+)?(?:end\s+of|ende)\s+(?:(?:the|this|der|des|dieser|dieses)\s+)?"
    rf"(?:(?P<period>{_PERIOD})|(?P<month>[a-zäöü]{{3,9}})(?:\s+(?P<year>\d{{4}}))?)\b|"
    rf"(?:(?P<named>{WEEKDAY}),?\s+)?(?:the\s+|den\s+|dem\s+)?(?P<date>{DATE})(?!\s*uhr\b)|"
    rf"(?:(?:next|this|nächsten|kommenden|diesen)\s+)?(?:(?P<weekday>{WEEKDAY})|"
    rf"(?P<partly>(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend){INSIDE})"
)
_UNTIL: Final = (
    rf"(?:until|till|through|bis(?:\s+(?:zum|einschließlich))?)\s+"
    rf"(?:(?:(?P<before>{HOUR})\s+(?:on\s+|am\s+)?)?(?:{_END})"
    rf"(?:(?:\s*,)?(?:\s+|{INSIDE})(?P<hour>{HOUR}))?|(?P<alone>{HOUR}))"
)
_FOR: Final = (
    rf"(?:for\s+(?:the\s+next\s+)?|für\s+(?:die\s+nächsten\s+)?|die\s+nächsten\s+|"
    rf"(?=[\wäöüß]+\s+[\wäöü]+\s+lang\b))(?P<amount>(?:minus\s+|[-−–]\s*)?{NUMBER})\s+"
    rf"(?P<unit>{UNIT})(?:\s+lang\b)?"
)
_ODD_END: Final = r"(?:until|till|bis)\s+[^,;\n]{1,40}?"
"""What only looks like an end; it is read as one at the end of a request."""

_ANY_GROUP: Final = re.compile(r"\(\?P<\w+>")
_JOIN: Final = r"(?:\s*,?\s*(?:and|und)\s+|\s*,\s*|\s+)"
_STOP: Final = r"(?=\s*(?:[,;:]|[.!]*\s*\Z))"
_AGAIN: Final = r"(?=\s+(?:every|each|jede[nrsm]?|alle)\b)"


def _plain(expression: str) -> str:
    return _ANY_GROUP.sub("(?:", expression)


_LAST: Final = rf"(?:{_plain(_UNTIL)}|{_plain(_FOR)})"
_ONE: Final = rf"(?:{_plain(_COUNT)}|{_LAST})"
_WHOLE: Final = re.compile(
    rf"(?:\A|(?<=[\s,;]))(?:(?P<said>{_ONE}(?:{_JOIN}{_ONE}){{0,2}}){_STOP}|"
    rf"(?P<ends>(?:{_ONE}{_JOIN}){{0,2}}{_LAST}){_AGAIN})|"
    rf"(?<=[\s,;])(?P<odd>(?:{_plain(_COUNT)}{_JOIN})?{_ODD_END})[\s.!]*\Z",
    re.IGNORECASE,
)
_PARTS: Final = tuple(re.compile(one, re.IGNORECASE) for one in (_UNTIL, _FOR, _COUNT))
_EACH_DAY: Final = re.compile(
    rf"\b(?:(?:every|each|jede[nrsm]?)\s+(?:day|week|month|year|tag|woche|monat|jahr|weekday|"
    rf"werktag|{WEEKDAY})|alle\s+\w+|(?:dai|week|month)ly|(?:täg|wöchent|monat)lich|werktags)"
    r"[\s,]*\Z",
    re.IGNORECASE,
)
"""Where an hour right after the end is that of each time: “every day until Friday at seven”."""
_QUOTED: Final = re.compile(r"[\"“„][^\"“”„]*[\"“”]|'[^']*'|`[^`]*`")

NOTHING_LEFT: Final = tr_later(
    "“{said}” leaves nothing to be done; say how often, from 1 on, such as “10 times”."
)
NO_COUNT: Final = tr_later("“{said}” is no number of times; say a whole one, such as “10 times”.")
NO_DAY: Final = tr_later(
    "“{said}” names no day that comes; say one such as “until Friday”, “until 3 December”, "
    "“until the end of May”, or “for two weeks”."
)
PAST: Final = tr_later("“{said}” is past; say a day to come, such as “until Friday”.")
PAST_HOUR: Final = tr_later("“{said}” is past; say a time to come, such as “until Friday at noon”.")
NO_HOUR: Final = tr_later(
    "“{said}” has no time of day that comes; say one such as “until Friday at 12:00”."
)
TWO: Final = tr_later("“{said}” says two limits of one kind; say one number and one end.")
_FEWER: Final = tr_later(
    "“{said}” is more than one yes can give, so the card takes {most} (`{cap}`)."
)
_SOONER: Final = tr_later(
    "“{said}” is longer than one yes lasts ({most}, `{cap}`), so the card takes until {end}."
)


class SaidLimit(NamedTuple):
    """How far one yes is to go.

    Attributes:
        said: The words.
        plain: The request without them.
        ask: What they mean for the plan; None where there is a fault.
        fault: Why they mean nothing, as a sentence.
        notes: What the card takes instead, where that is less than was said.
    """

    said: str
    plain: str
    ask: StandingAsk | None = None
    fault: str = ""
    notes: Sequence[str] = ()


class _Unreadable(Exception):
    """Words that mean no limit; the argument is the sentence."""


def said_limit(text: str, now: datetime, zone: ZoneInfo, caps: StandingCaps) -> SaidLimit | None:
    """How far one yes is to go, where a request says it; None where it says nothing of that.

    Args:
        text: The request, on one line.
        now: The moment.
        zone: The owner's.
        caps: The most that one yes can be.
    """
    said: list[str] = []
    while (found := _first(text)) is not None:
        said.append(found["said"] or found["ends"] or found["odd"])
        text = _without(text, found)
        if found["odd"]:
            return SaidLimit(said[-1], text, fault=tr(NO_DAY, said=said[-1]))
    if not said:
        return None
    words = ", ".join(said)
    try:
        return _read(words, text, now.astimezone(zone), caps)
    except _Unreadable as error:
        return SaidLimit(words, text, fault=tr(str(error), said=words))


def _first(text: str) -> re.Match[str] | None:
    """The first limit of a request; what stands between quotes is none."""
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    for found in _WHOLE.finditer(text):
        apart = all(found.end() <= begin or end <= found.start() for begin, end in quoted)
        said = found["said"] or found["ends"]
        of_each = said and _EACH_DAY.search(text[: found.start()]) and _has_hour(said)
        if apart and not of_each and (said is None or _counts(said)):
            return found
    return None


def _without(text: str, found: re.Match[str]) -> str:
    before, after = text[: found.start()].rstrip(" ,;"), text[found.end() :]
    before = re.sub(r"\s+(?:and|und)\Z", "", before, flags=re.IGNORECASE)
    if not before:
        return after.lstrip(" ,;:")
    return before + (after if after.strip(" ,;:.!") else "")


def _counts(said: str) -> bool:
    """Whether it limits anything: “once” and “a time” alone do not, nor does a bare number."""
    parts = _split(said)
    if parts is None:
        return False
    for part in parts:
        groups = part.groupdict()
        if groups.get("count") is None:
            continue
        word = groups["count"].lower()
        limits = groups["most"] or groups["total"]
        if not (groups["times"] or (limits and word in {"once", "twice"})):
            return False
        if not limits and word in {"a", "an", "ein", "once", "twice"}:
            return False
    return True


def _has_hour(said: str) -> bool:
    return any(part.groupdict().get("hour") for part in _split(said) or ())


def _split(said: str) -> list[re.Match[str]] | None:
    """The parts of a limit, one after another."""
    found: list[re.Match[str]] = []
    at = 0
    while at < len(said):
        part = next((hit for one in _PARTS if (hit := one.match(said, at))), None)
        if part is None:
            return None
        found.append(part)
        join = re.compile(_JOIN, re.IGNORECASE).match(said, part.end())
        at = part.end() if join is None else join.end()
    return found


def _read(said: str, plain: str, here: datetime, caps: StandingCaps) -> SaidLimit:
    uses, end = None, None
    for part in _split(said) or ():
        groups = {name: one for name, one in part.groupdict().items() if one is not None}
        if "count" in groups:
            uses, former = _number(groups["count"]), uses
        else:
            end, former = _end_of(groups, here), end
        if former is not None:
            raise _Unreadable(TWO)
    if end is None:
        return within_caps(said, plain, uses, None, here, caps)
    found = within_caps(said, plain, uses, end.moment, here, caps)
    if found.ask and found.ask.until == end.moment.isoformat(timespec="minutes"):
        return found._replace(notes=(*found.notes, *end.notes))
    return found


def within_caps(
    said: str,
    plain: str,
    uses: int | None,
    end: datetime | None,
    here: datetime,
    caps: StandingCaps,
) -> SaidLimit:
    """A limit that was understood, as far as the owner's caps allow it.

    Args:
        said, plain: As `SaidLimit` has them.
        uses: How often; None where it was not said.
        end: When it ends; None where it was not said.
        here: The present moment by the owner's clock.
        caps: The most that one yes can be.
    """
    notes: list[str] = []
    if uses is not None and uses > caps.uses:
        uses = caps.uses
        most = tr_many(uses, "{count} time", "{count} times")
        notes.append(tr(_FEWER, said=said, most=most, cap=CAP_OF_USES))
    last = (here.astimezone(UTC) + timedelta(days=caps.days)).astimezone(here.tzinfo)
    if end is not None and end.astimezone(UTC) > last.astimezone(UTC):
        longer = end > here + timedelta(days=caps.days)  # by more than a change of the clocks
        end = last.replace(second=0, microsecond=0)
        most = tr_many(caps.days, "{count} day", "{count} days")
        zone = ZoneInfo(str(here.tzinfo))
        told = moment_words(end, zone)
        if longer:
            notes.append(tr(_SOONER, said=said, most=most, cap=CAP_OF_DAYS, end=told))
    until = None if end is None else end.isoformat(timespec="minutes")
    return SaidLimit(said, plain, StandingAsk(uses=uses, until=until), notes=tuple(notes))


def _number(words: str) -> int:
    word = " ".join(words.lower().split())
    below = re.match(r"(?:minus\s+|[-−–]\s*)", word)
    word = word[below.end() :] if below else word
    named = {"once": 1, "twice": 2}.get(word)
    if named is None and re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", word):
        named = int(re.sub(r"[.,]", "", word))
    elif named is None and word[0].isdecimal() and not word.isdecimal():
        raise _Unreadable(NO_COUNT)
    value = int(word) if word.isdecimal() else number_of(word) if named is None else named
    if below or value < 1:
        raise _Unreadable(NOTHING_LEFT)
    return value


def _end_of(groups: dict[str, str], here: datetime) -> SaidEnd:
    """The moment that words mean as an end: an hour or the last minute of a day, or so long from
    now.
    """
    zone = ZoneInfo(str(here.tzinfo))
    if "amount" in groups:
        unit = unit_of(groups["unit"])
        later = _later(here, _number(groups["amount"]), unit)
        on_wall = unit in {"fortnights", "weeks", "days", "months", "years"}
        return on_the_wall(later.replace(tzinfo=None), zone) if on_wall else SaidEnd(later)
    wall = here.replace(tzinfo=None)
    hour = groups.get("hour") or groups.get("before") or groups.get("alone")
    try:
        day = None if "alone" in groups else _day(groups, wall)
    except (ReminderRefused, ValueError, OverflowError) as error:
        raise _Unreadable(NO_DAY) from error
    if day is not None and day < here.date():
        raise _Unreadable(PAST)
    if hour is None:
        return on_the_wall(datetime.combine(day or here.date(), _LAST_MINUTE), zone)
    try:
        tonight = groups.get("plain", "").lower() == "tonight"
        end = on_the_wall(end_at(day, hour, wall, tonight=tonight), zone)
    except (ReminderRefused, ValueError, OverflowError) as error:
        raise _Unreadable(NO_HOUR) from error
    if end.moment.astimezone(UTC) <= here.astimezone(UTC):
        raise _Unreadable(PAST_HOUR)
    return end


def _later(here: datetime, amount: int, unit: str) -> datetime:
    days = {"fortnights": 14, "weeks": 7, "days": 1}.get(unit)
    try:
        if unit in {"months", "years"}:
            months = here.month - 1 + amount * (12 if unit == "years" else 1)
            year, month = here.year + months // 12, months % 12 + 1
            day = min(here.day, calendar.monthrange(year, month)[1])
            end = here.replace(year=year, month=month, day=day)
        elif days is not None:  # by the clock on the wall
            end = here + timedelta(days=days * amount)
        else:
            zone = here.tzinfo
            elapsed = here.timestamp() + timedelta(**{unit: amount}).total_seconds()
            end = datetime.fromtimestamp(elapsed, zone)
    except (ValueError, OverflowError, OSError) as error:
        raise _Unreadable(NO_DAY) from error
    return end


def _day(groups: dict[str, str], here: datetime) -> date:
    today = here.date()
    if "plain" in groups:
        word = " ".join(groups["plain"].lower().split())
        ahead = {"today": 0, "tonight": 0, "heute": 0, "yesterday": -1, "gestern": -1}
        further = 2 if word in {"übermorgen", "the day after tomorrow"} else 1
        return today + timedelta(days=ahead.get(word, further))
    if "period" in groups:
        return _end_of_period(groups["period"].lower(), today)
    if "month" in groups:
        return _end_of_month(groups["month"], groups.get("year"), here)
    if weekday := groups.get("weekday") or groups.get("partly"):
        return today + timedelta(days=_days_to(weekday, today) or 7)
    found = read_date(groups["date"], here)
    if "named" in groups and _days_to(groups["named"], found):
        raise ValueError("that date is another day of the week")
    return found


def _days_to(weekday: str, day: date) -> int:
    return (WEEKDAYS[weekday.lower()] - day.weekday()) % 7


def _end_of_period(period: str, today: date) -> date:
    if period in {"week", "woche"}:
        return today + timedelta(days=6 - today.weekday())
    month = today.month if period in {"month", "monats"} else 12
    return date(today.year, month, calendar.monthrange(today.year, month)[1])


def _end_of_month(name: str, year: str | None, here: datetime) -> date:
    month = read_date(f"1 {name}", here).month
    which = int(year) if year else here.year + (month < here.month)
    return date(which, month, calendar.monthrange(which, month)[1])
