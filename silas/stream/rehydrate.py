"""Picking up after a restart: unfinished effects become unknown, running work resumes (5.1.3)."""

from typing import NamedTuple

from silas.audit import Audit
from silas.plans import WorkItem, WorkItemStatus, WorkItemStore
from silas.tools.outcomes import OutcomeStore


class Rehydrated(NamedTuple):
    """What was found: items to resume, and how many tool calls have no known outcome."""

    resume: tuple[WorkItem, ...]
    unknown_calls: int


async def rehydrate(store: WorkItemStore, outcomes: OutcomeStore, audit: Audit) -> Rehydrated:
    """Find work that was running when the process ended.

    A call that was attempted and has no outcome is `unknown`: never assumed done, never silently
    repeated (decision B4). Items resume through the same entry check as any other; an approval
    that expired meanwhile blocks them there.
    """
    unknown = len(outcomes.mark_unfinished_unknown())
    running = await store.list_by_status(WorkItemStatus.running)
    if unknown or running:
        await audit.log("rehydrated", resumed=[item.id for item in running], unknown_calls=unknown)
    return Rehydrated(tuple(running), unknown)
