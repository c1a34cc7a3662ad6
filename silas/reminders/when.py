"""What a phrase means: a moment in a zone, once or again. The card shows what was understood."""

import calendar
import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.jobs.slots import at_wall_time, next_slot
from silas.language import tr_later
from silas.reminders.models import ReminderRefused, ReminderTime
from silas.reminders.numerals import number_of
from silas.reminders.patterns import PARTS_OF_DAY, WEEKDAYS
from silas.reminders.phrase import Part, Phrase
from silas.reminders.recurrence import no_rule, rule_of, unit_of

DEFAULT_TIME: Final = time(9)
"""The time of a day that was said without one."""

_NAMED: Final = {"noon": 12, "midday": 12, "mittags": 12, "midnight": 0, "mitternacht": 0}
_AHEAD: Final = {"tomorrow": 1, "morgen": 1, "yesterday": -1, "gestern": -1}
_BARE_AFTERNOON: Final = range(1, 7)  # "at five" is in the afternoon
_FURTHEST: Final = timedelta(days=366 * 50)
_MONTHS_TO_A_NAMED_DAY: Final = 12 * 28
"""After so many every date has fallen on every day of the week."""
_SHORT_DATE: Final = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.")
"""3.12., of which a parser of dates makes a time of day."""
_YEARS_TO_A_LEAP_DAY: Final = 9
_ELAPSED: Final = ("seconds", "minutes", "hours")


class TimeOfDay(NamedTuple):
    """A time on the wall.

    Attributes:
        at: The time.
        open: Whether it could as well be twelve hours later.
    """

    at: time
    open: bool = False


def read_when(
    phrase: Phrase, now: datetime, zone: ZoneInfo, day_before: date | None = None
) -> ReminderTime:
    """The moment that a phrase says, and how it comes again.

    Args:
        phrase: From `silas.reminders.phrase`.
        now: The present moment.
        zone: The owner's.
        day_before: The day that a time alone is of, as long as it is to come then; None where it
            is of no day yet, as in a new reminder.

    Raises:
        ReminderRefused: It is past, or there is no such time.
    """
    if phrase.narrowed:
        raise no_rule(phrase.narrowed)
    here = now.astimezone(zone).replace(tzinfo=None)
    delay, every, day = phrase.of("in"), phrase.of("every"), phrase.of("day")
    clock = time_of(phrase)
    if every is not None:
        return _again(phrase, every, clock, now, zone)
    if delay is not None and _is_elapsed(delay):
        later = _later(now.astimezone(UTC), delay)
        if "minus" in delay.groups:
            raise ReminderRefused(
                tr_later("That is past; say a time to come, for example “in 20 minutes”."),
                code="E_REMINDER_PAST",
            )
        if later <= now:
            raise ReminderRefused(
                tr_later("That is now; say a time to come, for example “in 20 minutes”."),
                code="E_REMINDER_PAST",
            )
        if later - now > _FURTHEST:
            raise _too_far()
        return ReminderTime(later, zone, later.astimezone(zone).replace(tzinfo=None))
    if delay is not None:
        wall = _later(here, delay)
        wall = wall if clock is None else datetime.combine(wall.date(), clock.at)
    elif day is not None:
        wall = _on_a_day(day, clock, here)
    else:
        if clock is None:
            raise _no_time()
        wall = next_time(clock, here, day_before)
    moment = at_wall_time(wall, zone)
    if moment <= now:
        raise ReminderRefused(
            f"{wall:%A %-d %B %Y, %H:%M} is past; say a time to come.", code="E_REMINDER_PAST"
        )
    if moment - now > _FURTHEST:
        raise ReminderRefused(
            f"{wall:%-d %B %Y} is more than 50 years away; say an earlier date.",
            code="E_REMINDER_TIME",
        )
    return ReminderTime(moment, zone, wall)


def _too_far() -> ReminderRefused:
    return ReminderRefused(
        tr_later("That is too far away; say an earlier date."), code="E_REMINDER_TIME"
    )


def _no_time() -> ReminderRefused:
    return ReminderRefused(
        "Say when, for example “tomorrow at nine”, “in 20 minutes” or “every second Friday”.",
        code="E_REMINDER_TIME",
    )


def _again(
    phrase: Phrase, every: Part, clock: TimeOfDay | None, now: datetime, zone: ZoneInfo
) -> ReminderTime:
    here = now.astimezone(zone).replace(tzinfo=None)
    rule = rule_of(every, read_date)
    if rule.startswith(("FREQ=HOURLY", "FREQ=MINUTELY")):
        first = here if clock is None else datetime.combine(here.date(), clock.at)
        start = first.replace(second=0, microsecond=0)
    else:
        day = phrase.of("day")
        begins = here.date() if day is None else _day_of(day, here)
        start = datetime.combine(begins, DEFAULT_TIME if clock is None else clock.at)
    ends = phrase.of("until")
    if ends is not None:
        last = datetime.combine(_until(ends, here), time(23, 59))
        rule += f";UNTIL={last:%Y%m%dT%H%M%S}"
    moment = next_slot(_without_step(rule), start, zone, now)
    if moment is None:
        raise ReminderRefused(
            tr_later("No such time comes; say a later end."), code="E_REMINDER_PAST"
        )
    # steps are counted from the first time, on the wall that was meant
    first = datetime.combine(moment.astimezone(zone).date(), start.time())
    return ReminderTime(moment, zone, first, rule)


def _without_step(rule: str) -> str:
    """What finds the first time: “every other day” may begin on any day, “every two weeks” not."""
    if not (rule.startswith("FREQ=DAILY") or "BYDAY" in rule):
        return rule
    return ";".join(part for part in rule.split(";") if not part.startswith("INTERVAL="))


def _until(part: Part, here: datetime) -> date:
    words = part.groups["end"].lower().removeprefix("next ").strip()
    if words in WEEKDAYS:
        return _weekday(words, here)
    return here.date() + timedelta(days=1) if words == "tomorrow" else read_date(words, here)


# -- elapsed time


def _amounts(part: Part) -> list[tuple[float, str]]:
    said, unit = " ".join(part.groups["half"].lower().split()), unit_of(part.groups["unit"])
    if said.startswith("half") or said == "einer halben":
        amount = 0.5
    elif said in {"anderthalb", "eineinhalb"}:
        amount = 1.5
    else:
        plain = said.removesuffix(" and a half")
        amount = number_of(plain) + (0.5 if plain != said or "andhalf" in part.groups else 0)
    found = [(-amount if "minus" in part.groups else amount, unit)]
    if "more" in part.groups:
        found.append((number_of(part.groups["more"]), unit_of(part.groups["moreunit"])))
    return found


def _is_elapsed(part: Part) -> bool:
    return all(unit in _ELAPSED for _, unit in _amounts(part))


def _later(moment: datetime, part: Part) -> datetime:
    for amount, unit in _amounts(part):
        if unit in {"months", "years"}:
            moment = _months_later(moment, int(amount * (12 if unit == "years" else 1)))
            continue
        try:
            weeks = {"weeks": 2 * amount} if unit == "fortnights" else {unit: amount}
            moment += timedelta(**weeks)
        except OverflowError:
            raise _too_far() from None
    return moment


def _months_later(moment: datetime, months: int) -> datetime:
    years, month = divmod(moment.month - 1 + months, 12)
    year = moment.year + years
    if not date.min.year <= year <= date.max.year:
        raise _too_far()
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


# -- days


def _on_a_day(part: Part, clock: TimeOfDay | None, here: datetime) -> datetime:
    day = _day_of(part, here)
    if clock is None:
        if day == here.date() and part.groups.get("plain", "").lower() in {"today", "heute"}:
            raise ReminderRefused(
                tr_later("Say at what time today, for example “today at five”."),
                code="E_REMINDER_TIME",
            )
        return datetime.combine(day, DEFAULT_TIME)
    return time_on(day, clock, here)


def time_on(day: date, clock: TimeOfDay, here: datetime) -> datetime:
    """That time of a day; twelve hours later where that could be meant and is yet to come."""
    wall = datetime.combine(day, clock.at)
    later = wall + timedelta(hours=12)
    return later if clock.open and wall <= here < later and later.date() == day else wall


def _day_of(part: Part, here: datetime) -> date:
    groups, today = part.groups, here.date()
    if "plain" in groups:
        words = groups["plain"].lower()
        if words.endswith("after tomorrow") or words == "übermorgen":
            return today + timedelta(days=2)
        return today + timedelta(days=_AHEAD.get(words, 0))
    if "week" in groups:
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=1)
        if "weekday" in groups:
            return monday + timedelta(days=WEEKDAYS[groups["weekday"].lower()])
        return today + timedelta(weeks=1)
    if "named" in groups:
        return _named_date(groups, here)
    if "weekday" in groups:
        return _weekday(groups["weekday"], here)
    if "month" in groups:
        return _months_later(here, 1).date()
    if "monthday" in groups:
        return _day_of_month(int(groups["monthday"]), today)
    return read_date(groups["date"], here)


def _named_date(groups: dict[str, str], here: datetime) -> date:
    """A date that was said with the name of its day, which has to be its own."""
    day = WEEKDAYS[groups["named"].lower()]
    if "date" in groups:
        found = read_date(groups["date"], here)
        if found.weekday() != day:
            wall = f"{found:%A %-d %B %Y}"
            raise ReminderRefused(
                f"That date is {wall}; say it without the day of the week, or another date.",
                code="E_REMINDER_TIME",
            )
        return found
    found, number = here.date(), int(groups["monthday"])
    for _ in range(_MONTHS_TO_A_NAMED_DAY):
        found = _day_of_month(number, found)
        if found.weekday() == day:
            return found
    raise _too_far()


def _weekday(word: str, here: datetime) -> date:
    """The next day of that name; today is none of them."""
    ahead = (WEEKDAYS[word.lower()] - here.weekday() - 1) % 7 + 1
    return here.date() + timedelta(days=ahead)


def _day_of_month(number: int, today: date) -> date:
    month = datetime.combine(today.replace(day=1), time())
    for _ in range(4):
        last = calendar.monthrange(month.year, month.month)[1]
        if 1 <= number <= last and (found := month.date().replace(day=number)) > today:
            return found
        month = _months_later(month, 1)
    raise ReminderRefused(f"No month has a day {number}.", code="E_REMINDER_TIME")


def read_date(words: str, here: datetime) -> date:
    """A date in figures or with the name of its month; without a year it is the next one.

    Raises:
        ReminderRefused: There is no such date.
    """
    if short := _SHORT_DATE.fullmatch(words.strip()):
        return _next_date(words, int(short[1]), int(short[2]), here.date())
    from dateparser.date import DateDataParser  # noqa: PLC0415 - half a second

    parser = DateDataParser(
        languages=["en", "de"],
        settings={
            "RELATIVE_BASE": here.replace(hour=0, minute=0),
            "PREFER_DATES_FROM": "future",
            "DATE_ORDER": "YMD" if words[:4].isdecimal() else "DMY",
            "RETURN_AS_TIMEZONE_AWARE": False,
        },
    )
    found = parser.get_date_data(words.strip()).date_obj
    figures = [int(one) for one in re.findall(r"\d+", words)]
    if found is None or found.day not in figures:  # 32 May is read as May 2032
        raise ReminderRefused(f"“{words}” is no date.", code="E_REMINDER_TIME")
    return found.date()


def _next_date(words: str, day: int, month: int, today: date) -> date:
    for year in range(today.year, today.year + _YEARS_TO_A_LEAP_DAY):
        with suppress(ValueError):
            if (found := date(year, month, day)) >= today:
                return found
    raise ReminderRefused(f"“{words}” is no date.", code="E_REMINDER_TIME")


# -- times of day


def time_of(phrase: Phrase) -> TimeOfDay | None:
    """The time of day that a phrase says; None where it says none.

    Raises:
        ReminderRefused: There is no such time.
    """
    clock, named, day = phrase.of("clock"), _part_of_day(phrase), phrase.of("day")
    if named is None and day is not None and day.groups.get("plain", "").lower() == "tonight":
        named = "tonight"
    if clock is None:
        return None if named is None else TimeOfDay(time(PARTS_OF_DAY[named][0]))
    return _clock(clock, named)


def _part_of_day(phrase: Phrase) -> str | None:
    for part in phrase.parts:
        word = (part.groups.get("part") or part.groups.get("part2") or "").lower()
        if word in PARTS_OF_DAY:
            return word
        if word.removesuffix("s") in PARTS_OF_DAY:
            return word.removesuffix("s")
    return None


def _clock(part: Part, named: str | None) -> TimeOfDay:
    groups = part.groups
    if "named" in groups:
        return TimeOfDay(time(_NAMED[groups["named"].lower()]))
    hour, minute = _figures(groups)
    meridiem = groups.get("meridiem", "").lower().replace(".", "")
    if hour > 24 or minute > 59 or (meridiem in {"am", "pm"} and not 1 <= hour <= 12):
        raise ReminderRefused(f"“{part.words.strip()}” is no time.", code="E_REMINDER_TIME")
    if meridiem in {"am", "pm"}:
        return TimeOfDay(time(hour % 12 + (12 if meridiem == "pm" else 0), minute))
    if named is not None:
        late = PARTS_OF_DAY[named][1] and hour < 12
        return TimeOfDay(time((hour + (12 if late else 0)) % 24, minute))
    exact = meridiem == "uhr" or hour > 12 or hour == 0 or groups.get("hour", "").startswith("0")
    if exact:
        return TimeOfDay(time(hour % 24, minute))
    afternoon = hour in _BARE_AFTERNOON
    return TimeOfDay(
        time(hour + (12 if afternoon else 0), minute), open=not afternoon and hour < 12
    )


def _figures(groups: dict[str, str]) -> tuple[int, int]:
    """Hour and minute as they were said, before anything is known of the part of the day."""
    if "of" not in groups:
        return number_of(groups["hour"]), int(groups.get("minute", "0"))
    hour = number_of(groups["of"])
    if "halb" in groups:
        return (hour - 1) % 12 or 12, 30
    said = " ".join((groups.get("past") or groups.get("viertel") or "").lower().split())
    before = groups.get("side", "").lower() in {"to", "before"} or said.endswith(" vor")
    if said.startswith("half"):
        minutes = 30
    elif "quarter" in said or "viertel" in said:
        minutes = 15
    else:
        minutes = number_of(said.split()[0])
    return ((hour - 1) % 24, 60 - minutes) if before else (hour, minutes)


def next_time(clock: TimeOfDay, here: datetime, day: date | None = None) -> datetime:
    """Today if it is to come, twelve hours later where that could be meant, or tomorrow.

    On the `day` where one is given and the time is to come on it.
    """
    if day is not None and (wall := time_on(day, clock, here)) > here:
        return wall
    today = datetime.combine(here.date(), clock.at)
    choices = [today, today + timedelta(hours=12)] if clock.open else [today]
    to_come = [one for one in choices if one > here]
    return to_come[0] if to_come else today + timedelta(days=1)
