"""What the built-in model does about "every morning at seven, list the files": a goal of a plan.

The words that say when are those of reminders; the work is a plan of the library for the rest of
the sentence, and becomes a goal of `cycle: work`, with a condition of `cycle: when` (spec 5.2.3,
decision D504). Nothing is decided here: the goal is shown and signed like any plan.
"""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.agents.runbook.conditions import (
    NO_CONDITION,
    NO_REPORT,
    REPORTS,
    WatchedCondition,
    condition_of,
    has_condition,
    split_condition,
)
from silas.errors import PlanFamilyError
from silas.language import tr, tr_later

_DAYS: Final = ("SU", "MO", "TU", "WE", "TH", "FR", "SA")  # as cron counts them
_LONGEST: Final = 500  # characters of a message that is read so
_COURTESY: Final = re.compile(
    r"\A(?:and\s+)?(?:please\s+)?(?:tell\s+me|let\s+me\s+know|bitte|sag\s+mir|"
    r"zeig\s+mir(?=\s*[,:]|\s+(?:was|wie|welche\w?)\b))[\s,:]+",  # else it says what is to be done
    re.IGNORECASE,
)
_MAYBE: Final = re.compile(  # nothing of reminders is loaded for other messages
    r"\b(?:every|each|jede\w?|alle|am|on|werktags|weekdays|(?:dai|week|month|year|annual|hour)ly|"
    r"(?:täg|wöchent|monat|jähr|stünd)lich)\b",
    re.IGNORECASE,
)
_TYPE: Final = re.compile(r"^type: *\"?task\"? *$", re.MULTILINE)
_VERIFY: Final = re.compile(r"^verify: *$", re.MULTILINE)
_DAY: Final = 24 * 60  # minutes
_ID: Final = re.compile(r"^id: *\S+ *$", re.MULTILINE)
_PARTS: Final = re.compile(r"---\n(?P<keys>.*?\n)---\n(?P<work>.*)", re.DOTALL)
_CHECKS: Final = re.compile(r"^verify: *\n(?: .*\n)+", re.MULTILINE)
_LEFT: Final = re.compile(r"^  - \{\"name\": \"none_is_left\", .*\n", re.MULTILINE)
"""The check by which a plan of the library says that it takes all that there is."""

NO_SUCH_TIME: Final = tr_later(
    "Work runs by the clock at times such as “every day at seven”, “every Monday at "
    "nine”, “every 15 minutes” or “on the 5th of every month”; please say it again "
    "with such a time."
)


_LIMIT: Final = re.compile(
    r"[,;]?\s+(?:and\s+|und\s+)?(?P<said>"
    r"(?:(?:at\s+most|up\s+to|no\s+more\s+than|höchstens|maximal|bis\s+zu)\s+)?"
    r"\d{1,4}\s*(?:times|mal|x)\b(?:,?\s+(?:and\s+|und\s+)?(?:until|till|bis)\s+[^,;\n]{1,30})?|"
    r"(?:until|till|bis)\s+[^,;\n]{1,30})[\s.!]*\Z",
    re.IGNORECASE,
)
"""How often, or until when, a yes is to count: “30 times until Friday”."""

NO_LIMIT: Final = tr_later(
    "How often and until when one yes starts work stands on the card, and no request can say it; "
    "leave out “{said}”, and narrow it after your yes, in the cockpit or with "
    "`silas approvals narrow`."
)
NO_TIMES: Final = tr_later(
    "“{said}” does not say when; say it with a time that comes again, such as “every morning at "
    "seven”, or leave it out to have it done once."
)


class RecurringRequest(NamedTuple):
    """Work that is to be done again and again.

    Attributes:
        request: What is to be done, without the words that say when.
        cron: When, as a cron expression; empty where no such expression says it.
        condition: Only where it holds; None where it is done each time.
        fault: Why nothing can be proposed, as a sentence; empty where it can.
    """

    request: str
    cron: str
    condition: WatchedCondition | None = None
    fault: str = ""


def recurring_request(text: str, now: datetime, zone: ZoneInfo) -> RecurringRequest | None:
    """What a message wants done by the clock; None for every other message."""
    if not _MAYBE.search(text):
        return None
    from silas.reminders.models import ReminderRefused  # noqa: PLC0415 - see `_MAYBE`
    from silas.reminders.phrase import chosen_phrase  # noqa: PLC0415 - as above
    from silas.reminders.request import said_text  # noqa: PLC0415 - as above
    from silas.reminders.when import read_when  # noqa: PLC0415 - as above

    said, only_if = split_condition(" ".join(text.split()))
    phrase = chosen_phrase(said) if len(said) <= _LONGEST else None
    if phrase is None or phrase.of("every") is None:
        return None
    rest = _COURTESY.sub("", said_text(said, phrase), count=1)
    if not rest and not only_if:
        return None
    try:
        when = read_when(phrase, now, zone)
    except ReminderRefused:
        return RecurringRequest(rest, "")
    cron = _cron(when.rule, when.start)
    if not only_if and not has_condition(rest):
        return RecurringRequest(rest, cron)
    condition = condition_of(only_if, _minutes(cron)) if only_if else None
    if condition is None or (rest and has_condition(rest)):
        return RecurringRequest(rest, cron, None, tr(NO_CONDITION, said=only_if or rest))
    return RecurringRequest(rest or condition.request, cron, condition)


def limited_request(
    text: str, now: datetime, zone: ZoneInfo, known: Callable[[str], bool]
) -> RecurringRequest | None:
    """Why work that is asked for with a limit of its own cannot be proposed; None for all else.

    Args:
        text: What is asked for, as nothing else understands it.
        now: The moment.
        zone: The owner's.
        known: Whether a plan of the library does what a request says.
    """
    found = _LIMIT.search(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    plain = text[: found.start()]
    wanted = recurring_request(plain, now, zone)
    again = RecurringRequest(plain, "") if wanted is None else wanted
    if again.fault or not known(again.request):
        return None
    sentence = NO_TIMES if wanted is None else NO_LIMIT
    return again._replace(fault=tr(sentence, said=found["said"]))


def fit_request(wanted: RecurringRequest, name: str, title: str) -> RecurringRequest:
    """The request with the plan of this name; a condition goes with those that only look."""
    if wanted.condition is None or name in REPORTS:
        return wanted
    return wanted._replace(fault=tr(NO_REPORT, title=title))


def goal_of(plan: str, goal_id: str, wanted: RecurringRequest, folder: str) -> str:
    """The text of a task's plan as that of a goal which does this work by the clock.

    Work that leaves nothing of its kind behind is begun where something is there: a time without
    anything to do is a quiet one, and no failure.

    Args:
        plan: The task's plan.
        goal_id: What the goal is called.
        wanted: When it is done, and where what holds.
        folder: What a condition is about, as an absolute path.

    Raises:
        PlanFamilyError: `E_PLAN_RULE`: it is no task's.
    """
    if wanted.condition is None and (watching := _watching(plan, goal_id, wanted.cron)):
        return watching
    cycle = "work" if wanted.condition is None else "when"
    told, types = _TYPE.subn(
        f'type: goal\ncycle: {cycle}\nschedule: "{wanted.cron}"', plan, count=1
    )
    told, ids = _ID.subn(f"id: {goal_id}", told, count=1)
    checked = 1
    if wanted.condition is not None:
        check = json.dumps(wanted.condition.check(folder), ensure_ascii=False)
        told, checked = _VERIFY.subn(lambda found: f"{found[0]}\n  - {check}", told, count=1)
    if not (types and ids and checked):  # or it would run once, which nobody asked for
        raise PlanFamilyError("Only a task can be done by the clock.", code="E_PLAN_RULE")
    return told


def _watching(plan: str, goal_id: str, cron: str) -> str:
    """The goal that does the work of a plan where its check of what is left fails; empty where the
    plan has no such check, or is no task's.
    """
    parts = _PARTS.fullmatch(plan)
    left = None if parts is None else _LEFT.search(parts["keys"])
    if parts is None or left is None:
        return ""
    keys, checks = _CHECKS.subn(lambda _: f"verify:\n{left[0]}", parts["keys"], count=1)
    keys, types = _TYPE.subn(f'type: goal\nschedule: "{cron}"', keys, count=1)
    keys, ids = _ID.subn(f"id: {goal_id}", keys, count=1)
    if not (checks and types and ids):
        return ""
    work = json.dumps(f"$failed_checks\n\n{parts['work']}", ensure_ascii=False)
    return f"---\n{keys}on_failure: spawn_task\nfailure_context: {work}\n---\n"


def _minutes(cron: str) -> int:
    """The longest time between two moments of an expression that `_cron` makes."""
    minute, hour, day, _, weekday = (cron or "0 0 1 * *").split()
    if minute.startswith("*/"):
        return int(minute[2:])
    if hour == "*" or hour.startswith("*/"):
        return 60 * int(hour[2:] or "1")
    if day != "*":
        return 31 * _DAY
    if weekday == "*":
        return _DAY
    days = sorted(map(int, weekday.split(",")))
    return _DAY * max(
        later - one for one, later in zip(days, [*days[1:], days[0] + 7], strict=True)
    )


def _cron(rule: str, wall: datetime) -> str:
    """A rule of reminders as a cron expression; empty where cron cannot say it."""
    parts = dict(part.split("=", 1) for part in rule.split(";") if part)
    frequency, step = parts.pop("FREQ", ""), int(parts.pop("INTERVAL", "1"))
    days, month_day = parts.pop("BYDAY", ""), parts.pop("BYMONTHDAY", "")
    at = f"{wall.minute} {wall.hour}"
    if parts:  # an end, or a position
        return ""
    match frequency:
        case "MINUTELY" if 60 % step == 0:
            return f"*/{step} * * * *"
        case "HOURLY" if 24 % step == 0:
            return f"{wall.minute} {'*' if step == 1 else f'*/{step}'} * * *"
        case "DAILY" if step == 1:
            return f"{at} * * *"
        case "WEEKLY" if step == 1 and (days or not month_day):
            named = [str(_DAYS.index(day)) for day in days.split(",") if day]
            return f"{at} * * {','.join(sorted(named)) or wall.isoweekday() % 7}"
        case "MONTHLY" if step == 1 and month_day.isdecimal():
            return f"{at} {month_day} * *"
        case _:
            return ""
