"""What a day or some days of the owner's bring by the clock, as an answer: reminders and goals."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from silas.goals.models import GoalState
from silas.jobs.slots import next_slot
from silas.language import tr, tr_later, tr_many
from silas.language.calendar import near_day_words
from silas.plans import show
from silas.plans.goals import schedule as goal_schedule
from silas.reminders.models import Reminder
from silas.services.schedules.upcoming import more_moments

if TYPE_CHECKING:
    from silas.services.schedules.ahead import AheadService

_MOST: Final = 20  # lines
_NOTHING: Final = tr_later(
    "Nothing comes by the clock {when}: no reminder, and no goal. I know of no other calendar."
)
_WHEN: Final = {
    (0, 1): tr_later("today"),
    (1, 1): tr_later("tomorrow"),
    (0, 7): tr_later("within 7 days"),
}
_Then = Callable[[datetime], datetime | None]


class _Entry(NamedTuple):
    due: datetime
    title: str
    more: int


async def agenda_words(service: "AheadService", first: int, days: int) -> str:
    """What comes on days of the owner's calendar, from now on, the first to come first.

    Args:
        service: Reminders, goals and plans.
        first: How many days from today the first one is.
        days: How many there are.
    """
    zone = service.config.scheduler.zone
    now = service.time.now().astimezone(zone)
    midnight = datetime.combine(now.date() + timedelta(days=first), time(), zone)
    end = datetime.combine(midnight.date() + timedelta(days=days), time(), zone)
    span = (max(midnight, now).astimezone(UTC), end.astimezone(UTC))
    found = sorted(await _entries(service, *span), key=lambda one: one.due)
    when = tr(_WHEN.get((first, days), _WHEN[(0, 7)]))
    if not found:
        return tr(_NOTHING, when=when)
    lines, day = list[str](), ""
    for one in found[:_MOST]:
        at = one.due.astimezone(zone)
        if (named := near_day_words(at, now)) != day:
            lines, day = [*lines, f"{named}:"], named
        more = f" ({tr_many(one.more, 'once more', '{count} more times')})" if one.more else ""
        lines.append(f"- {at:%H:%M}  {show(one.title)}{more}")
    if len(found) > _MOST:
        lines.append(tr("{more} more; `silas ahead` shows them.", more=len(found) - _MOST))
    return "\n".join(lines)


async def _entries(service: "AheadService", start: datetime, end: datetime) -> list[_Entry]:
    found = list[_Entry | None]()
    for one in service.reminders.waiting():
        found.append(_entry(one.text, one.due, partial(_again, one), start, end))
    off = {one.id for one in (await service.look(1)).paused}  # nothing of it begins
    titles = Counter([one.title for one in await service.going()])
    for goal in service.goals.store.all():
        if goal.state is not GoalState.active or goal.id in off:
            continue
        item = await service.store.get(goal.id)
        title = goal.id if item is None else item.title
        title = f"{title} ({goal.id})" if titles[title] > 1 else title
        schedule = goal_schedule.read_schedule(goal.schedule)
        then = partial(goal_schedule.next_moment, schedule, service.config.scheduler.zone)
        found += [_entry(title, due, then, start, end) for due in service.goals.coming(goal.id)]
    return [one for one in found if one is not None]


def _again(reminder: Reminder, moment: datetime) -> datetime | None:
    rule = reminder.rule
    return next_slot(rule, reminder.start, reminder.zone, moment) if rule else None


def _entry(title: str, due: datetime, then: _Then, start: datetime, end: datetime) -> _Entry | None:
    """Its first moment of those days, and how many follow; None where it has none."""
    at: datetime | None = due
    if due < start:
        at = then(start - timedelta(microseconds=1))
    if at is None or at >= end:
        return None
    return _Entry(at, title, more_moments(at, then, end))
