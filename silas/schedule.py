"""When things are due: cron expressions, and the `scheduler:` section (spec 11)."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from silas.clock import Clock
from silas.types import FrozenModel

_FIELDS = ("minute", "hour", "day of month", "month", "day of week")


def cron_fault(expression: str) -> str:
    """What is wrong with a cron expression, or an empty text.

    It has five fields, as in Debian's cron: numbers, names, `*`, ranges, lists and steps.
    """
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        return f"it has 5 fields separated by blanks, not {len(fields)}"
    if not expression.isascii():
        return "it has digits, names and signs of ASCII only"
    fault = _fault(fields)
    if not fault:
        return ""
    in_any_month, on_any_day = [*fields[:3], "*", fields[4]], ["*", "*", "*", *fields[3:]]
    if not _fault(in_any_month) and not _fault(on_any_day):  # of "30 2" the library blames the 30
        return "it never comes, because none of its months has such a day"
    return f"{fault}; fields are like 5, 1-5, */10 or 1,15 ({', '.join(_FIELDS)})"


def _fault(fields: Sequence[str]) -> str:
    """What the library finds wrong with these fields, in its words; else an empty text."""
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - only where a cron is set

    try:
        next(CronSim(" ".join(fields), datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        return str(error).lower()
    except StopIteration:
        return "no such date comes"
    return ""


def next_due(expression: str, zone: ZoneInfo, after: datetime) -> datetime:
    """The first moment after another that a sound cron expression names, in UTC.

    A wall time that daylight saving skips comes right after the gap, one that it repeats comes
    once, as in Debian's cron; a step of hours or minutes goes on through both.

    Args:
        expression: The cron expression.
        zone: On whose calendar.
        after: The moment.
    """
    from cronsim import CronSim  # noqa: PLC0415 - only who waits for one

    return next(CronSim(" ".join(expression.split()), after.astimezone(zone))).astimezone(UTC)


def _sound(expression: str) -> str:
    fault = cron_fault(expression)
    if fault:
        raise ValueError(f"{expression!r} is not a cron expression: {fault}")
    return expression


Cron = Annotated[str, AfterValidator(_sound)]
"""A valid cron expression, kept as it was written."""


LOCAL: Final = "local"
"""The zone of this machine, as a setting."""

_DATABASE: Final = "zoneinfo/"  # part of the path of every zone's file


def machine_zone(environ: Mapping[str, str], etc: Path) -> ZoneInfo:
    """The time zone that this machine is set to: `TZ`, `localtime`, `timezone`, in that order.

    A machine that names no zone of the IANA database is in UTC, which every answer then says.

    Args:
        environ: The environment; a `TZ` that is no such name is passed over.
        etc: The directory of the machine's settings, `/etc`.
    """
    link = os.path.realpath(etc / "localtime")
    try:
        written = (etc / "timezone").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        written = ""
    named = environ.get("TZ", "").removeprefix(":")
    linked = link.partition(_DATABASE)[2].removeprefix("posix/")
    for name in (named, linked, written):
        zone = _zone(name)
        if zone is not None:
            return zone
    return ZoneInfo("UTC")


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _known_zone(name: str) -> str:
    if name != LOCAL and _zone(name) is None:
        raise ValueError(
            f"{name!r} is not a time zone; use a name such as Europe/Vienna, or {LOCAL} for this "
            "machine's own"
        )
    return name


class SchedulerConfig(FrozenModel):
    """The `scheduler:` section.

    Attributes:
        enabled: Whether reminders are told, goals run and suggestions looked for; what keeps Silas
            itself in order runs in any case.
        timezone: The owner's time zone by its IANA name, for cron expressions, quiet hours and
            questions about dates; `local` is the zone that this machine is set to.
        jobs_at_once: How many jobs run at the same time.
        history_days: How long jobs that ended are kept, in days.
    """

    enabled: bool = True
    timezone: Annotated[str, AfterValidator(_known_zone)] = LOCAL
    jobs_at_once: int = Field(default=4, ge=1)
    history_days: int = Field(default=30, ge=1)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone itself."""
        if self.timezone == LOCAL:
            return machine_zone(os.environ, Path("/etc"))
        return ZoneInfo(self.timezone)

    def now(self, clock: Clock) -> datetime:
        """The moment in the owner's time zone."""
        return clock.now().astimezone(self.zone)
