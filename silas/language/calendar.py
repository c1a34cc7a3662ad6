"""The names of days and months, and a moment as a person says it."""

from datetime import datetime
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


def moment_words(moment: datetime, zone: ZoneInfo) -> str:
    """`Wednesday 25 November 2026, 09:00 (Europe/Vienna, UTC+01:00)`."""
    at = moment.astimezone(zone)
    offset = f"{at:%z}"
    day = tr(
        "{weekday} {day} {month} {year}",
        weekday=tr(WEEKDAYS[at.weekday()]),
        day=at.day,
        month=tr(MONTHS[at.month - 1]),
        year=at.year,
    )
    return f"{day}, {at:%H:%M} ({zone.key}, UTC{offset[:3]}:{offset[3:]})"
