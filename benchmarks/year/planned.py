"""What a simulated year has: goals as plans, reminders as rules, each with its own reckoning."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from benchmarks.year import calendar
from benchmarks.year.calendar import Days, Rhythm
from silas.reminders.models import ReminderTime
from silas.testing import plan_text

START = datetime(2027, 11, 1, 6, 0, tzinfo=UTC)
"""The year after it has a 29 February and every change of clocks."""

OWNERS = ZoneInfo("Europe/Vienna")
"""The owner's zone, which a cron without a zone goes by."""

ZONES = (
    "Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
    "America/Santiago", "Africa/Cairo", "Pacific/Auckland", "UTC",
)  # fmt: skip
"""Gaps at two in the morning, at midnight, of half an hour; in both halves of the year; none."""

_TIMES = (time(2, 30), time(0, 30), time(1, 30), time(0, 0), time(9, 0), time(17, 45), time(2, 15))
_NAMES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")

Due = Callable[[datetime, datetime], list[datetime]]
"""The moments after one and until another."""


class PlannedGoal(NamedTuple):
    """A goal.

    Attributes:
        id: Its id.
        text: Its plan.
        due: When it is due; None where it goes on by itself after each end.
        pauses: When its owner pauses and resumes it.
        chronic: When no repair of it helps.
    """

    id: str
    text: str
    due: Due | None
    pauses: tuple[tuple[datetime, datetime], ...] = ()
    chronic: tuple[datetime, datetime] | None = None


class PlannedReminder(NamedTuple):
    """A reminder: its words, what is kept of when, and when it is due."""

    text: str
    when: ReminderTime
    due: Due
    cancelled: datetime | None = None


def goals(chance: random.Random, until: datetime, count: int = 50) -> list[PlannedGoal]:
    """Of every kind of schedule some; the first ones of each kind where there are fewer."""
    made = [
        *(_cron(f"daily-{n}", "* * *", calendar.daily, n) for n in range(7)),
        _four_times(0),
        *(_cron(f"workday-{n}", "* * 1-5", calendar.on_weekdays(*range(5)), n) for n in range(2)),
        *(
            _cron(f"weekly-{n}", f"* * {(n + 1) % 7}", calendar.on_weekdays(n % 7), n)
            for n in range(22)
        ),
        *(_cron(f"monthly-{n}", f"{d} * *", calendar.on_day(d), n)
          for n, d in enumerate((1, 5, 15, 29, 30, 31))),
        *(_cron(f"leap-{n}", "29 2 *", calendar.leap_day, n) for n in range(2)),
        *(_once(n, chance, until) for n in range(3)),
        *(_always(n, until) for n in range(2)),
        *(_work(n) for n in range(5)),
    ]  # fmt: skip
    if count < len(made):
        step = len(made) / count
        made = [made[int(n * step)] for n in range(count)]
    made[1] = made[1]._replace(chronic=(START + timedelta(days=9), START + timedelta(days=30)))
    paused = [one for one in made if one.due is not None and not one.pauses][:12:2]
    for one in paused:
        first = START + timedelta(minutes=chance.randrange(2_000, _minutes(until) // 2) * 2 + 1)
        length = timedelta(minutes=chance.randrange(1_000, 20_000) * 2)
        made[made.index(one)] = one._replace(pauses=((first, first + length),))
    return made


def _minutes(until: datetime) -> int:
    return int((until - START).total_seconds() // 60)


def _zone(number: int) -> tuple[str, ZoneInfo]:
    """What a schedule begins with, and the zone it goes by."""
    if number % 3 == 0:
        return "", OWNERS
    name = ZONES[number % len(ZONES)]
    return f"CRON_TZ={name} ", ZoneInfo(name)


def _cron(name: str, rest: str, days: Days, number: int) -> PlannedGoal:
    prefix, zone = _zone(number)
    at = _TIMES[number % len(_TIMES)]
    return _goal(
        name, f"{prefix}{at.minute} {at.hour} {rest}", _due(Rhythm(days, (at,), zone, late=False))
    )


def _four_times(number: int) -> PlannedGoal:
    prefix, zone = _zone(number)
    times = tuple(time(hour, 15) for hour in (5, 11, 17, 23))
    rhythm = Rhythm(calendar.daily, times, zone, late=False)
    return _goal(f"often-{number}", f"{prefix}15 5,11,17,23 * * *", _due(rhythm))


def _once(number: int, chance: random.Random, until: datetime) -> PlannedGoal:
    at = START + timedelta(minutes=chance.randrange(100, _minutes(until)))
    return _goal(f"once-{number}", at.isoformat(), _only(at))


def _always(number: int, until: datetime) -> PlannedGoal:
    """Runs for a day at the beginning; its owner pauses it then."""
    paused = START + timedelta(days=1, minutes=3)
    return _goal(f"always-{number}", "always_on", None, agent="ephemeral")._replace(
        pauses=((paused, until + timedelta(days=1)),)
    )


def _work(number: int) -> PlannedGoal:
    weekday = 2 * number % 7
    at, zone = time(7, 5), OWNERS
    rhythm = Rhythm(calendar.on_weekdays(weekday), (at,), zone, late=False)
    return _goal(
        f"work-{number}", f"5 7 * * {(weekday + 1) % 7}", _due(rhythm), cycle="work",
        on_failure="report", failure_context=None, body=f"Do it.\n\n```sh\nwork {number}\n```",
    )  # fmt: skip


def _goal(name: str, schedule: str, due: Due | None, **changes: Any) -> PlannedGoal:
    goal_id = f"goal-{name}"
    fields: dict[str, Any] = {
        "id": goal_id,
        "type": "goal",
        "title": f"Watch {name}",
        "schedule": schedule,
        "verify": [{"name": "state", "run": f"look {goal_id}", "expect": {"equals": "good"}}],
        "on_failure": "spawn_task",
        "failure_context": f"It failed.\n\n$failed_checks\n\n```sh\nrepair {goal_id}\n```",
        "budget": {"max_attempts": 1, "max_planner_calls": 0},
    }
    return PlannedGoal(goal_id, plan_text(**{**fields, **changes}), due)


def reminders(chance: random.Random, until: datetime, count: int = 200) -> list[PlannedReminder]:
    """Half of them come once, half again and again; a tenth of these is cancelled on the way."""
    made: list[PlannedReminder] = []
    for number in range(count):
        zone = ZoneInfo(ZONES[number % len(ZONES)])
        text = f"thing {number}"
        if number % 2 == 0:
            at = START + timedelta(minutes=chance.randrange(30, _minutes(until)))
            wall = at.astimezone(zone).replace(tzinfo=None)
            made.append(PlannedReminder(text, ReminderTime(at, zone, wall), _only(at)))
            continue
        one = _again(text, number // 2, zone, chance)
        if number % 20 == 9:
            at = START + timedelta(minutes=chance.randrange(100, _minutes(until) // 2) * 2 + 1)
            one = one._replace(cancelled=at)
        made.append(one)
    return made


def _again(text: str, number: int, zone: ZoneInfo, chance: random.Random) -> PlannedReminder:
    at = _TIMES[chance.randrange(len(_TIMES))]
    first = START.astimezone(zone).date() + timedelta(days=1 + chance.randrange(6))
    rules = _rules(first)
    rule, days = rules[number % len(rules)]
    if rule == "FREQ=HOURLY;INTERVAL=101":
        start = datetime.combine(first, at)
        begins = start.replace(tzinfo=zone).astimezone(UTC)
        return PlannedReminder(text, ReminderTime(begins, zone, start, rule), _stepped(begins, 101))
    due = _due(Rhythm(_from(first, days), (at,), zone, late=True))
    begins = due(START, START + timedelta(days=800))[0]
    start = datetime.combine(first, at)
    if "INTERVAL=2" not in rule:
        start = datetime.combine(begins.astimezone(zone).date(), at)
    return PlannedReminder(text, ReminderTime(begins, zone, start, rule), due)


def _rules(first: date) -> list[tuple[str, Days]]:
    """Rules as `silas.reminders.recurrence` makes them, beside what they mean."""
    day, weekday = _NAMES[first.weekday()], first.weekday()
    return [
        ("FREQ=DAILY", calendar.daily),
        (f"FREQ=WEEKLY;BYDAY={day}", calendar.on_weekdays(weekday)),
        (f"FREQ=WEEKLY;INTERVAL=2;BYDAY={day}", calendar.every_weeks(2, first)),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", calendar.on_weekdays(*range(5))),
        ("FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1", calendar.last_or(31)),
        (f"FREQ=MONTHLY;BYDAY=2{day}", calendar.nth_weekday(2, weekday)),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1", calendar.end_of_february),
        ("FREQ=HOURLY;INTERVAL=101", calendar.daily),
        (f"FREQ=WEEKLY;BYDAY={day}", calendar.on_weekdays(weekday)),
        ("FREQ=MONTHLY;BYMONTHDAY=15", calendar.on_day(15)),
    ]


def _from(first: date, days: Days) -> Days:
    return lambda day: day >= first and days(day)


def _due(rhythm: Rhythm) -> Due:
    return lambda after, until: calendar.moments(rhythm, after, until)


def _only(at: datetime) -> Due:
    return lambda after, until: [at] if after < at <= until else []


def _stepped(first: datetime, hours: int) -> Due:
    def due(after: datetime, until: datetime) -> list[datetime]:
        found = calendar.steps(first, timedelta(hours=hours), until)
        return [one for one in found if one > after]

    return due
