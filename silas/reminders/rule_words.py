"""A rule of recurrence as a person says it (spec 5.2.3)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from silas.language import tr, tr_later, tr_many
from silas.language.calendar import MONTHS, WEEKDAYS

_DAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WORKDAYS: Final = "MO,TU,WE,TH,FR"
_EVERY: Final[Mapping[str, tuple[str, str]]] = {
    "MINUTELY": (tr_later("every minute"), tr_later("every {count} minutes")),
    "HOURLY": (tr_later("every hour"), tr_later("every {count} hours")),
    "DAILY": (tr_later("every day"), tr_later("every {count} days")),
    "WEEKLY": (tr_later("every week"), tr_later("every {count} weeks")),
    "MONTHLY": (tr_later("every month"), tr_later("every {count} months")),
    "YEARLY": (tr_later("every year"), tr_later("every {count} years")),
}
_NTH: Final[Mapping[int, str]] = {
    1: tr_later(" on the first {day}"),
    2: tr_later(" on the second {day}"),
    3: tr_later(" on the third {day}"),
    4: tr_later(" on the fourth {day}"),
    5: tr_later(" on the fifth {day}"),
    -1: tr_later(" on the last {day}"),
}


def rule_words(rule: str) -> str:
    """A rule of `rule_of` as a person says it; empty for none."""
    if not rule:
        return ""
    parts = dict(one.split("=", 1) for one in rule.split(";"))
    step, frequency = int(parts.get("INTERVAL", "1")), parts["FREQ"]
    words = tr_many(step, *_EVERY[frequency]) + _on(parts, frequency)
    if parts.get("BYDAY") == _WORKDAYS and step == 1:
        words = tr("every workday, Monday to Friday")
    if "UNTIL" in parts:
        last = datetime.strptime(parts["UNTIL"], "%Y%m%dT%H%M%S")  # noqa: DTZ007, RUF100 - a wall time
        month = tr(MONTHS[last.month - 1])
        words += tr(", until {day} {month} {year}", day=last.day, month=month, year=last.year)
    return words


def _on(parts: Mapping[str, str], frequency: str) -> str:
    if "BYDAY" in parts:
        days = parts["BYDAY"].split(",")
        if frequency == "MONTHLY":
            nth, day = int(days[0][:-2]), tr(WEEKDAYS[_DAYS.index(days[0][-2:])])
            return tr(_NTH[nth], day=day)
        names = [tr(WEEKDAYS[_DAYS.index(day)]) for day in days]
        several = tr(" and ").join(filter(None, (", ".join(names[:-1]), names[-1])))
        return tr(" on {days}", days=several)
    if "BYMONTHDAY" not in parts:
        return ""
    day = int(parts["BYMONTHDAY"].split(",")[-1])
    last = "BYSETPOS" in parts
    if frequency == "YEARLY":
        words = tr(" on {day} {month}", day=day, month=tr(MONTHS[int(parts["BYMONTH"]) - 1]))
        return words + (tr(" (28 February in other years)") if last else "")
    return tr(" on day {day}", day=day) + (tr(" (or the month's last)") if last else "")
