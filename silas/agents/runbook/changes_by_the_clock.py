"""What changed since the last time: the plan and the time of a goal that tells it by the clock."""

import re
from typing import Any, Final

from silas.agents.runbook.by_the_clock import RecurringRequest, longest_between
from silas.agents.runbook.library import Library
from silas.language import spoken_language, tr

_NEWEST: Final = "newest-files"
_CHANGES: Final = "changed-files"
_CHANGED: Final = re.compile(r"\b(?:changed|geändert)\b", re.IGNORECASE)
_WEEK: Final = re.compile(r"\b(?:week|woche)\b", re.IGNORECASE)
_DAY: Final = 24 * 60  # minutes


def changes_plan(plan: Any, wanted: RecurringRequest | None, library: Library[Any]) -> Any:
    """The plan that tells what changed since the last time, where that is what is asked for by the
    clock; else the plan that was found.
    """
    if wanted is None or plan.name not in (_NEWEST, _CHANGES):
        return plan
    changes = library.plan_named(_CHANGES) if _CHANGED.search(wanted.request) else None
    if changes is None:
        return plan
    title = tr("Tell what changed in {since}", since=_since(_minutes(wanted)))
    german = changes.in_german and changes.in_german.model_copy(update={"title": title})
    return changes.model_copy(update={"title": title, "in_german": german})


def changes_values(plan: Any, wanted: RecurringRequest | None) -> dict[str, str]:
    """What that plan is filled with; nothing for every other plan."""
    if plan.name != _CHANGES:
        return {}
    minutes = _minutes(wanted)
    return {"minutes": str(minutes), "since": _since(minutes), "language": spoken_language()}


def _minutes(wanted: RecurringRequest | None) -> int:
    """Between two times; a week where one was named, as it is where it is asked for once."""
    if wanted is None:
        return 7 * _DAY
    return max(longest_between(wanted.cron), 7 * _DAY if _WEEK.search(wanted.request) else 0)


def _since(minutes: int) -> str:
    if minutes > _DAY and minutes % _DAY == 0:
        return tr("the last {count} days", count=minutes // _DAY)
    if minutes > 60 and minutes % 60 == 0:
        return tr("the last {count} hours", count=minutes // 60)
    return tr("the last {count} minutes", count=minutes)
