"""What the built-in model does about "every morning at seven, list the files": a goal of a plan.

The words that say when are those of reminders; the work is a plan of the library for the rest of
the sentence, and becomes a goal of `cycle: work`, with a condition of `cycle: when` (spec 5.2.3,
decision D504). Nothing is decided here: the goal is shown and signed like any plan.
"""

import json
import os
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
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
from silas.agents.runbook.library import Library, P, RunbookTemplate
from silas.errors import PlanFamilyError
from silas.language import tr, tr_later
from silas.language.calendar import day_words
from silas.plans.goals.standing import StandingAsk, StandingCaps

if TYPE_CHECKING:
    from silas.agents.runbook.limit_words import SaidLimit

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

_LIMITED: Final = re.compile(
    r"mal\b|\d\s*x\b|\b(?:times?|once|twice|until|till|through|bis|for|für|lang|nächsten)\b",
    re.IGNORECASE,
)
"""Without one of these nothing is read that says how far a yes is to go."""

NO_TIMES: Final = tr_later(
    "“{said}” does not say when; say it with a time that comes again, such as “every morning at "
    "seven”, or leave it out to have it done once."
)

_TIDIES: Final = re.compile(
    r"(?=.*(?:\b(?:downloads?|desktop|schreibtisch|documents|dokumente|pictures|bilder|music|musik|"
    r"videos?|folder|directory|ordner|verzeichnis)\b|[~.]?/))"
    r"(?:(?:please\s+)?(?:tidy|clean\s+up|sort\s+out|organi[sz]e|räum(?:e|st)?)\b"
    r"|.*\baufräumen[\s.!]*\Z)",
    re.IGNORECASE,
)
NO_FOLDER: Final = tr_later(
    "A folder is tidied by the clock where you name it alone, with one time: “tidy my Downloads "
    "every Friday at six”, or its path in place of its name. It has no last day and no condition; "
    "pause the goal when it is enough."
)


class RecurringRequest(NamedTuple):
    """Work that is to be done again and again.

    Attributes:
        request: What is to be done, without the words that say when.
        cron: When, as a cron expression; empty where no such expression says it.
        condition: Only where it holds; None where it is done each time.
        fault: Why nothing can be proposed, as a sentence; empty where it can.
        until: The end that the words which say when have, on the wall; None without one.
        standing: How far one yes is to go; None where nothing was said of it.
        notes: Sentences to say before the card: what it takes in place of what was said.
        place: The folder that is to be tidied, as said; empty for any other work.
    """

    request: str
    cron: str
    condition: WatchedCondition | None = None
    fault: str = ""
    until: datetime | None = None
    standing: StandingAsk | None = None
    notes: Sequence[str] = ()
    place: str = ""


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
    rule, _, last = when.rule.partition(";UNTIL=")
    until = datetime.strptime(last, "%Y%m%dT%H%M%S") if last else None
    cron = _cron(rule, when.start)
    if not only_if and not has_condition(rest):
        return RecurringRequest(rest, cron, until=until)
    condition = condition_of(only_if, longest_between(cron)) if only_if else None
    if condition is None or (rest and has_condition(rest)):
        return RecurringRequest(rest, cron, None, tr(NO_CONDITION, said=only_if or rest))
    return RecurringRequest(rest or condition.request, cron, condition, until=until)


def work_by_the_clock(
    text: str, now: datetime, zone: ZoneInfo, library: Library[P], caps: StandingCaps
) -> RecurringRequest | None:
    """Work of the library that is to be done again and again; None for every other message.

    Args:
        text: What is asked for.
        now: The moment.
        zone: The owner's.
        library: The plans.
        caps: The most that one yes can be.
    """
    if (limited := _limited_work(text, now, zone, library, caps)) is not None:
        return limited
    wanted = recurring_request(text, now, zone)
    if wanted is None or wanted.fault:
        return wanted
    plan = library.find(wanted.request)
    if plan is not None:
        return fit_request(wanted, plan.name, plan.shown_title)
    if not _TIDIES.match(wanted.request):
        return None
    from silas.workspace.folder_request import request_of  # noqa: PLC0415 - see `_MAYBE`

    tidied = request_of(wanted.request)
    plain = wanted.condition is None and wanted.until is None
    if tidied is None or tidied.wanted != "tidy" or not plain:
        return wanted._replace(fault=tr(NO_FOLDER))
    return wanted._replace(place=tidied.place)


def tidying_goal(goal_id: str, wanted: RecurringRequest, standing_in: str) -> str:
    """The plan of a goal that has a folder tidied by the clock.

    Args:
        goal_id: What the goal is called.
        wanted: When, and which folder.
        standing_in: The folder that the request is about; empty for none.
    """
    from silas.workspace.folder_request import folder_named  # noqa: PLC0415 - see `_MAYBE`

    here = Path(standing_in) if standing_in else None
    folder = os.path.realpath(folder_named(wanted.place, Path.home(), here))
    title = tr("Tidy {folder}", folder=os.path.basename(folder) or folder)
    keys = {"id": goal_id, "type": "goal", "title": title, "cycle": "tidy"}
    keys |= {"schedule": wanted.cron, "workspace": folder, "writes": "none"}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items()]
    return "\n".join(["---", *lines, "---", ""])


def _limited_work(
    text: str, now: datetime, zone: ZoneInfo, library: Library[P], caps: StandingCaps
) -> RecurringRequest | None:
    """The same, where the words say how far a yes is to go; None where they do not."""
    if len(text) > _LONGEST or not _LIMITED.search(text):
        return None
    from silas.agents.runbook.limit_words import (  # noqa: PLC0415 - see `_MAYBE`
        said_limit,
        within_caps,
    )

    line = " ".join(text.split())
    limit = said_limit(line, now, zone, caps)
    if limit is not None and (wanted := recurring_request(limit.plain, now, zone)) is not None:
        plan = None if wanted.fault else library.find(wanted.request)
        if plan is not None:
            return _limit_work(wanted, limit, plan)
    wanted = recurring_request(line, now, zone)
    if wanted is not None and wanted.until is not None:  # “every morning until Friday”
        plan = None if wanted.fault else library.find(wanted.request)
        if plan is not None:
            until = wanted.until.replace(tzinfo=zone)
            here = now.astimezone(zone)
            words = tr("until {end}", end=day_words(until))
            return _limit_work(wanted, within_caps(words, line, None, until, here, caps), plan)
    if limit is None or wanted is not None or library.find(text) is not None:
        return None
    if library.find(limit.plain) is None:
        return None
    return RecurringRequest(limit.plain, "", fault=tr(NO_TIMES, said=limit.said))


def _limit_work(
    wanted: RecurringRequest, limit: "SaidLimit", plan: RunbookTemplate
) -> RecurringRequest:
    limited = wanted._replace(standing=limit.ask, notes=limit.notes, fault=limit.fault)
    return limited if limited.fault else fit_request(limited, plan.name, plan.shown_title)


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
    times = _times(wanted)
    if wanted.condition is None and (watching := _watching(plan, goal_id, times)):
        return watching
    cycle = "work" if wanted.condition is None else "when"
    told, types = _TYPE.subn(lambda _: f"type: goal\ncycle: {cycle}\n{times}", plan, count=1)
    told, ids = _ID.subn(f"id: {goal_id}", told, count=1)
    checked = 1
    if wanted.condition is not None:
        check = json.dumps(wanted.condition.check(folder), ensure_ascii=False)
        told, checked = _VERIFY.subn(lambda found: f"{found[0]}\n  - {check}", told, count=1)
    if not (types and ids and checked):  # or it would run once, which nobody asked for
        raise PlanFamilyError("Only a task can be done by the clock.", code="E_PLAN_RULE")
    return told


def _times(wanted: RecurringRequest) -> str:
    """The keys that say when it runs, and how far one yes goes where that was said."""
    times = f'schedule: "{wanted.cron}"'
    if wanted.standing is None:
        return times
    return f"{times}\nstanding: {wanted.standing.model_dump_json(exclude_none=True)}"


def _watching(plan: str, goal_id: str, times: str) -> str:
    """The goal that does the work of a plan where its check of what is left fails; empty where the
    plan has no such check, or is no task's.
    """
    parts = _PARTS.fullmatch(plan)
    left = None if parts is None else _LEFT.search(parts["keys"])
    if parts is None or left is None:
        return ""
    keys, checks = _CHECKS.subn(lambda _: f"verify:\n{left[0]}", parts["keys"], count=1)
    keys, types = _TYPE.subn(lambda _: f"type: goal\n{times}", keys, count=1)
    keys, ids = _ID.subn(f"id: {goal_id}", keys, count=1)
    if not (checks and types and ids):
        return ""
    work = json.dumps(f"$failed_checks\n\n{parts['work']}", ensure_ascii=False)
    return f"---\n{keys}on_failure: spawn_task\nfailure_context: {work}\n---\n"


def longest_between(cron: str) -> int:
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
    if parts:  # a position
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
