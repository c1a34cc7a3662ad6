"""Why the clock would never run a goal as its plan asks: of a run and of a check (spec 5.2.3)."""

from datetime import datetime
from zoneinfo import ZoneInfo

from silas.plans.goals.schedule import next_moment, read_schedule
from silas.plans.goals.standing import StandingCaps, why_not_standing
from silas.plans.models import WorkItem, WorkItemType


def why_not_by_clock(
    item: WorkItem, now: datetime, zone: ZoneInfo, caps: StandingCaps, *, enabled: bool
) -> str:
    """Why a goal could not run now, in one sentence; nothing for what is none.

    Args:
        item: The plan.
        now: The moment of the question.
        zone: The owner's.
        caps: The most that one yes can be.
        enabled: Whether anything runs by the clock here.
    """
    if item.type is not WorkItemType.goal or item.schedule is None:
        return ""
    if not enabled:
        return "Nothing runs by the clock: set `scheduler.enabled` to true."
    if next_moment(read_schedule(item.schedule), zone, now) is None:
        return f"The moment of {item.id} is past; give it a later `schedule`."
    return why_not_standing(item.standing, caps, now, zone)
