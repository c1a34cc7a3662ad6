"""Picking up after a restart: what was under way is finished, resumed or asked again (5.1.3)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from silas.audit import Audit
from silas.plans import (
    WaitingPlan,
    WaitingPlans,
    WorkItem,
    WorkItemStatus,
    WorkItemStore,
    WorkItemType,
)
from silas.tools.outcomes import OutcomeStore

Finished = Callable[[WorkItem], Awaitable[bool]]
"""Records an interrupted item as done where its changes were applied already."""


class Rehydrated(NamedTuple):
    """What was found: items to resume, questions to ask again, calls without known outcome."""

    resume: tuple[WorkItem, ...] = ()
    ask: tuple[WaitingPlan, ...] = ()
    unknown_calls: int = 0


async def rehydrate(
    store: WorkItemStore,
    waiting: WaitingPlans,
    outcomes: OutcomeStore,
    finished: Finished,
    audit: Audit,
    *,
    resume: bool,
) -> Rehydrated:
    """Find work and questions that were open when the process ended.

    A call that was attempted and has no outcome is `unknown`: never assumed done, never silently
    repeated (decision B4). Items resume through the same entry check as any other; an approval
    that expired meanwhile blocks them there. An item that was approved and had not begun resumes
    under the use that was spent on it. A plan whose question is open has no approval, so all that
    can become of it is that it is asked about again.

    Without `resume` the record is finished alike, and what is open stays open: nothing is resumed
    and nothing asked.
    """
    unknown = len(outcomes.mark_unfinished_unknown())
    interrupted = [
        *await store.list_by_status(WorkItemStatus.running),
        *(i for i in await store.list_by_status(WorkItemStatus.pending) if i.approval_token),
    ]
    done = {item.id for item in interrupted if await finished(item)}
    for item in interrupted:  # its question was answered: the crash came before that was noted
        await waiting.drop(item)
    left = await waiting.all() if resume else []
    ask = [question for question in left if not question.changes_wanted]  # it was answered
    going_on = [
        item
        for item in interrupted
        if item.id not in done and not await _of_project(item, store)  # which resumes it
    ]
    going_on = [*going_on, *await _waiting_projects(interrupted, store)] if resume else []
    if done or (resume and (unknown or interrupted or ask)):
        await audit.log(
            "rehydrated",
            resumed=[item.id for item in going_on],
            finished=sorted(done),
            asked_again=[plan.item.id for plan in ask],
            unknown_calls=unknown,
        )
    return Rehydrated(tuple(going_on), tuple(ask), unknown)


async def _waiting_projects(items: Sequence[WorkItem], store: WorkItemStore) -> list[WorkItem]:
    """Projects that waited for their owner's yes and have tasks that were not begun: where he
    answered and the process ended before they went on, they do now.
    """
    names = dict.fromkeys(
        item.parent for item in items if item.parent and item.status is WorkItemStatus.pending
    )
    found = [await store.get(name) for name in names]
    return [
        one
        for one in found
        if one is not None
        and one.type is WorkItemType.project
        and one.status is WorkItemStatus.blocked
    ]


async def _of_project(item: WorkItem, store: WorkItemStore) -> bool:
    """Whether an item is a task of a project, which alone begins it."""
    parent = None if item.parent is None else await store.get(item.parent)
    return parent is not None and parent.type is WorkItemType.project
