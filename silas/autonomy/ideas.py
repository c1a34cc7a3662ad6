"""What the owner could want next, found in what happened; pure rules, no model (5.1.6)."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from statistics import median_low
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.language import refusal_words, tr
from silas.plans import WorkItem, WorkItemStatus, WorkItemType

STALE_DAYS: Final = 7
"""Work as old as that is left alone."""
_OFTEN: Final = 3  # days of the last `STALE_DAYS` on which the same was done
UNFINISHED: Final = frozenset({WorkItemStatus.failed, WorkItemStatus.stuck, WorkItemStatus.blocked})
"""How work ends without success."""


Asked = Callable[[WorkItem], str]
"""How the owner asks for such work anew: a request that names its folder; empty for none."""


class SuggestionIdea(NamedTuple):
    """Something to suggest.

    Attributes:
        about: What it is about; the owner is asked about the same once, whatever the words.
        words: What would be planned, in a sentence.
        rationale: Why now.
        item_id: The work that it comes from; empty for none.
    """

    about: str
    words: str
    rationale: str
    item_id: str = ""


class StoppedGoal(NamedTuple):
    """A goal that paused by itself.

    Attributes:
        id: Of the goal.
        title: What its plan is called.
        why: The reason, in words.
    """

    id: str
    title: str
    why: str


def unfinished_ideas(
    items: Iterable[WorkItem], followed: Collection[str], now: datetime
) -> list[SuggestionIdea]:
    """Work that ended without success and that nobody went on from.

    Of a project it is the whole: a task of it alone cannot be gone on from, and may never have
    begun.

    Args:
        items: What changed last.
        followed: Ids of those that were gone on from.
        now: The moment.
    """
    since = now - timedelta(days=STALE_DAYS)
    return [
        SuggestionIdea(
            f"{item.status.value} {item.id}",
            tr("Look again at '{title}'", title=item.title),
            tr("It ended as {status}, and nothing has followed.", status=tr(item.status.value)),
            item.id,
        )
        for item in items
        if item.status in UNFINISHED
        and item.parent is None
        and item.created_at > since
        and item.id not in followed
    ]


def failing_ideas(goals: Iterable[StoppedGoal]) -> list[SuggestionIdea]:
    """Goals that paused because they kept failing."""
    return [
        SuggestionIdea(
            f"paused {goal.id}",
            tr("Find out why '{title}' keeps failing", title=goal.title),
            tr("It is paused: {why}", why=refusal_words(goal.why)),
            goal.id,
        )
        for goal in goals
    ]


def repeated_ideas(
    items: Sequence[WorkItem],
    known: Collection[str],
    asked: Asked,
    zone: ZoneInfo,
    now: datetime,
) -> list[SuggestionIdea]:
    """Tasks that the owner asked for again and again in one folder, on days of their own.

    Args:
        items: What changed last, the newest first.
        known: Titles of what comes by itself already, in small letters.
        asked: How such work is asked for.
        zone: On whose calendar a day is a day.
        now: The moment.
    """
    since = now - timedelta(days=STALE_DAYS)
    found: dict[tuple[str, str], list[WorkItem]] = defaultdict(list)
    for item in items:
        title = item.title.casefold()
        if _asked_for(item) and item.created_at > since and title not in known:
            found[title, item.workspace or ""].append(item)
    return [
        SuggestionIdea(
            f"by itself {title} {folder}",
            tr(
                "Every day at {hour}: {title}",
                hour=_usual_hour(same, zone),
                title=request,
            ),
            tr(
                "You asked for it on {days} of the last {most} days.",
                days=len(days),
                most=STALE_DAYS,
            ),
        )
        for (title, folder), same in found.items()
        if len(days := set(_days(same, zone))) >= _OFTEN and (request := asked(same[0]))
    ]


def _asked_for(item: WorkItem) -> bool:
    return (
        item.type is WorkItemType.task
        and item.status is WorkItemStatus.done
        and item.parent is None
        and item.spawned_by is None
        and item.follow_up_of is None
    )


def _days(items: Iterable[WorkItem], zone: ZoneInfo) -> Iterator[date]:
    return (item.created_at.astimezone(zone).date() for item in items)


def _usual_hour(items: Iterable[WorkItem], zone: ZoneInfo) -> str:
    hour = median_low(item.created_at.astimezone(zone).hour for item in items)
    return f"{hour}:00"
