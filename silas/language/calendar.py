"""The names of days and months, and a moment as a person says it."""

from contextlib import suppress
from datetime import date, datetime
from zoneinfo import ZoneInfo

from silas.language.catalogue import tr, tr_later

WEEKDAYS = (
    tr_later("Monday"),
    tr_later("Tuesday"),
    tr_later("Wednesday"),
    tr_later("Thursday"),
    tr_later("Friday"),
    tr_later("Saturday"),
    tr_later("Sunday"),
)
"""From Monday on, as `datetime.weekday` counts."""

MONTHS = (
    tr_later("January"),
    tr_later("February"),
    tr_later("March"),
    tr_later("April"),
    tr_later("May"),
    tr_later("June"),
    tr_later("July"),
    tr_later("August"),
    tr_later("September"),
    tr_later("October"),
    tr_later("November"),
    tr_later("December"),
)


def day_words(day: date) -> str:
    """`Wednesday 25 November 2026`."""
    return tr(
        "{weekday} {day} {month} {year}",
        weekday=tr(WEEKDAYS[day.weekday()]),
        day=day.day,
        month=tr(MONTHS[day.month - 1]),
        year=day.year,
    )


def near_day_words(at: datetime, now: datetime) -> str:
    """`Today`, `Tomorrow`, or a weekday with its date; both moments are of the owner's zone."""
    away = (at.date() - now.date()).days
    if away in (0, 1):
        return (tr("Today"), tr("Tomorrow"))[away]
    day = tr(
        "{weekday} {day} {month}",
        weekday=tr(WEEKDAYS[at.weekday()]),
        day=at.day,
        month=tr(MONTHS[at.month - 1]),
    )
    return day if at.year == now.year else f"{day} {at.year}"


def date_words(day: date) -> str:
    """`25 November 2026`."""
    return tr("{day} {month} {year}", day=day.day, month=tr(MONTHS[day.month - 1]), year=day.year)


def retold_wall(english: str) -> str:
    """A day, with or without its time, that was written in English, in the owner's language.

    Args:
        english: As `%A %-d %B %Y`, with `, %H:%M` or without, or `%-d %B %Y` write it; anything
            else stays as it is.
    """
    for form, time in (("%A %d %B %Y, %H:%M", ", %H:%M"), ("%A %d %B %Y", ""), ("%d %B %Y", "")):
        with suppress(ValueError):
            at = datetime.strptime(english, form)
            return f"{day_words(at)}{at.strftime(time)}"
    return english


def moment_words(moment: datetime, zone: ZoneInfo) -> str:
    """`Wednesday 25 November 2026, 09:00 (Europe/Vienna, UTC+01:00)`."""
    at = moment.astimezone(zone)
    offset = f"{at:%z}"
    return f"{day_words(at)}, {at:%H:%M} ({zone.key}, UTC{offset[:3]}:{offset[3:]})"
