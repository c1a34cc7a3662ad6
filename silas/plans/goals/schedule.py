"""When a goal runs (spec 5.2.3): a cron expression, with or without a zone, `always_on`, a moment.

schedule: "*/30 * * * *"                       in the owner's zone
schedule: "CRON_TZ=Europe/Vienna 0 7 * * *"    in a zone of its own
schedule: always_on                            again and again
schedule: "2027-01-01T09:00+01:00"             once
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from silas.language import tr
from silas.language.calendar import WEEKDAYS
from silas.plans.goals.standing import clock_words, read_moment
from silas.schedule import cron_fault, next_due

ALWAYS_ON: Final = "always_on"
PAUSE_BETWEEN: Final = timedelta(minutes=5)
"""Between the end of one cycle of an `always_on` goal and the beginning of the next."""

_ZONE: Final = "CRON_TZ="

_WORKDAYS: Final = frozenset({"1-5", "1,2,3,4,5"})


class GoalSchedule(NamedTuple):
    """A schedule as it was understood; exactly one of the three is set.

    Attributes:
        cron: The cron expression; empty where it is none.
        zone: The IANA name of its own zone; empty for the owner's.
        moment: The one moment, in UTC.
        always_on: Whether it runs again and again.
    """

    cron: str = ""
    zone: str = ""
    moment: datetime | None = None
    always_on: bool = False


def schedule_fault(text: str) -> str:
    """What is wrong with a schedule, to follow "`schedule` must be ..."; empty where nothing is."""
    if text == ALWAYS_ON or read_moment(text) is not None:
        return ""
    zone, cron = _split_zone(text)
    if zone and not _is_zone(zone):
        return f"{zone!r} is not a time zone; use a name such as Europe/Vienna"
    return cron_fault(cron)


def read_schedule(text: str) -> GoalSchedule:
    """A schedule that has no fault."""
    if text == ALWAYS_ON:
        return GoalSchedule(always_on=True)
    moment = read_moment(text)
    if moment is not None:
        return GoalSchedule(moment=moment)
    zone, cron = _split_zone(text)
    return GoalSchedule(cron=cron, zone=zone)


def next_moment(schedule: GoalSchedule, owners: ZoneInfo, after: datetime) -> datetime | None:
    """The first moment after another, in UTC; None where none comes.

    Args:
        schedule: Of the goal.
        owners: The zone of a cron expression that names none.
        after: The moment.
    """
    if schedule.always_on:
        return after + PAUSE_BETWEEN
    if schedule.moment is not None:
        return schedule.moment if schedule.moment > after else None
    return next_due(schedule.cron, ZoneInfo(schedule.zone) if schedule.zone else owners, after)


def zone_of(text: str, owners: ZoneInfo) -> ZoneInfo:
    """Whose clock a schedule that has no fault goes by: its own zone, else its owner's."""
    zone = read_schedule(text).zone
    return ZoneInfo(zone) if zone else owners


def schedule_words(text: str) -> str:
    """When it runs, as a part of a sentence; made from the schedule alone."""
    schedule = read_schedule(text)
    if schedule.always_on:
        minutes = round(PAUSE_BETWEEN.total_seconds() / 60)
        return tr("again and again, {minutes} minutes after each end", minutes=minutes)
    if schedule.moment is not None:
        day, time, offset = clock_words(text)  # by the clock that the plan gives
        return tr("once, on {day} at {time} ({offset})", day=day, time=time, offset=offset)
    zone, words = schedule.zone or tr("your time zone"), cron_words(schedule.cron)
    if words:
        return tr("{words} in {zone} (`{cron}`)", words=words, zone=zone, cron=schedule.cron)
    return tr("at each `{cron}` (cron) of {zone}", cron=schedule.cron, zone=zone)


def brief_words(text: str) -> str:
    """The same for a list: a usual time as a person says it, any other as it is written."""
    schedule = read_schedule(text)
    words = cron_words(schedule.cron) if schedule.cron else ""
    if not words:
        return schedule_words(text)
    return f"{words} ({schedule.zone})" if schedule.zone else words


def cron_words(cron: str) -> str:
    """A usual cron expression as a person says it: `every day at 07:00`; nothing for others."""
    minute, hour, day, month, weekday = cron.split()
    if month != "*" or (day != "*" and weekday != "*"):
        return ""
    if (day, weekday) == ("*", "*") and (often := _often(minute, hour)):
        return often
    at = _at(minute, hour)
    if not at:
        return ""
    if day.isdecimal():
        return tr("on day {day} of every month at {at}", day=day, at=at)
    days = _weekdays(weekday) if day == "*" else ""
    return tr("{days} at {at}", days=days, at=at) if days else ""


def _weekdays(field: str) -> str:
    """`every day`, `Monday to Friday`, `every Saturday and Sunday`; nothing for other fields."""
    if field == "*" or field in _WORKDAYS:
        return tr("every day") if field == "*" else tr("Monday to Friday")
    days = field.split(",")
    if not all(len(day) == 1 and day in "01234567" for day in days):
        return ""
    names = [tr(WEEKDAYS[int(day) - 1]) for day in days]
    return tr(
        "every {days}",
        days=tr(" and ").join([", ".join(names[:-1]), names[-1]] if names[1:] else names),
    )


def _often(minute: str, hour: str) -> str:
    """What comes more than once a day."""
    every = minute.removeprefix("*/")
    if hour == "*" and every.isdecimal() and minute.startswith("*/") and 60 % int(every) == 0:
        return tr("every {every} minutes", every=every) if int(every) > 1 else tr("every minute")
    if (minute, hour) == ("*", "*"):
        return tr("every minute")
    if minute.isdecimal() and hour == "*":
        return (
            tr("every hour")
            if minute == "0"
            else tr("every hour at minute {minute}", minute=minute)
        )
    every = hour.removeprefix("*/")
    steps = hour.startswith("*/") and every.isdecimal() and 24 % int(every) == 0
    if minute.isdecimal() and steps and int(every) > 1:
        if minute == "0":
            return tr("every {every} hours", every=every)
        return tr("every {every} hours at minute {minute}", every=every, minute=minute)
    return ""


def _at(minute: str, hour: str) -> str:
    """A time of day."""
    if not (minute.isdecimal() and hour.isdecimal()):
        return ""
    return f"{int(hour):02}:{int(minute):02}"


def _split_zone(text: str) -> tuple[str, str]:
    """The zone, or nothing, and the cron expression."""
    if not text.startswith(_ZONE):
        return "", text
    zone, _, cron = text.removeprefix(_ZONE).partition(" ")
    return zone, cron.strip()


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
