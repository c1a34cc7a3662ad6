"""When a goal runs (spec 5.2.3): a cron expression, with or without a zone, `always_on`, a moment.

schedule: "*/30 * * * *"                       in the owner's zone
schedule: "CRON_TZ=Europe/Vienna 0 7 * * *"    in a zone of its own
schedule: always_on                            again and again
schedule: "2027-01-01T09:00+01:00"             once
"""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from silas.schedule import cron_fault, next_due

ALWAYS_ON: Final = "always_on"
PAUSE_BETWEEN: Final = timedelta(minutes=5)
"""Between the end of one cycle of an `always_on` goal and the beginning of the next."""

STANDING_USES: Final = 20
"""How often one approval of a goal starts work without asking."""

STANDING_DAYS: Final = 30
"""How long one approval of a goal starts work without asking."""

_ZONE: Final = "CRON_TZ="


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
    if text == ALWAYS_ON or _moment(text) is not None:
        return ""
    zone, cron = _parted(text)
    if zone and not _is_zone(zone):
        return f"{zone!r} is not a time zone; use a name such as Europe/Vienna"
    return cron_fault(cron)


def read_schedule(text: str) -> GoalSchedule:
    """A schedule that has no fault."""
    if text == ALWAYS_ON:
        return GoalSchedule(always_on=True)
    moment = _moment(text)
    if moment is not None:
        return GoalSchedule(moment=moment)
    zone, cron = _parted(text)
    return GoalSchedule(cron=cron, zone=zone)


def following(schedule: GoalSchedule, owners: ZoneInfo, after: datetime) -> datetime | None:
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


def schedule_words(text: str) -> str:
    """When it runs, as a part of a sentence; made from the schedule alone."""
    schedule = read_schedule(text)
    if schedule.always_on:
        minutes = round(PAUSE_BETWEEN.total_seconds() / 60)
        return f"again and again, {minutes} minutes after each end"
    if schedule.moment is not None:
        return f"once, on {schedule.moment:%Y-%m-%d at %H:%M} UTC"
    return f"at each `{schedule.cron}` (cron) of {schedule.zone or 'your time zone'}"


def _parted(text: str) -> tuple[str, str]:
    """The zone, or nothing, and the cron expression."""
    if not text.startswith(_ZONE):
        return "", text
    zone, _, cron = text.removeprefix(_ZONE).partition(" ")
    return zone, cron.strip()


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
