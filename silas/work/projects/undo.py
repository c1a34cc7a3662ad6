"""Taking back what work changed; of a project, of each of its tasks, what came last first."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.errors import SandboxError
from silas.language import tr
from silas.language.calendar import moment_words
from silas.plans import WorkItem, WorkItemStatus, WorkItemStore, WorkItemType, plan_bytes
from silas.plans.effect import effect_of
from silas.plans.projects.kept import with_tasks
from silas.work.changes.undo import Undo
from silas.work.projects.rest import ProjectRests


class UndoneWork(NamedTuple):
    """What an undo came to.

    Attributes:
        taken_back: The items whose changes are gone, in the order in which that was done.
        stays: Work or tasks that are done and of which something may have left this machine, which
            nothing takes back.
    """

    taken_back: tuple[str, ...]
    stays: tuple[str, ...] = ()

    def words(self, work_item_id: str) -> str:
        """What is said of it."""
        if not self.stays and self.taken_back == (work_item_id,):
            return tr("The workspace is as it was before {work}.", work=work_item_id)
        if self.taken_back == (work_item_id,):
            back = tr("The workspace is as it was before {work}.", work=work_item_id)
            stays = tr("What it sent meanwhile stays sent.")
            return f"{back}\n{stays}"
        lines = [tr("Taken back, in this order: {tasks}.", tasks=", ".join(self.taken_back))]
        if self.stays:
            lines.append(tr("What these sent stays sent: {tasks}.", tasks=", ".join(self.stays)))
        return "\n".join(lines)


async def undo_work(work_item_id: str, undoing: Undo, store: WorkItemStore) -> UndoneWork:
    """Restore each workspace that a piece of work changed.

    Raises:
        Stopped: The record was changed outside Silas; nothing was restored.
        SandboxError: There is nothing to undo, or something changed since. What of a project was
            taken back before that is named and stays taken back.
    """
    item = await store.get(work_item_id)
    if item is None or item.type is not WorkItemType.project:
        await undoing.undo(work_item_id)
        left = item is not None and _left_something(item)
        return UndoneWork((work_item_id,), (work_item_id,) if left else ())
    children = (await with_tasks(item, store)).children
    undoing.require_readable({child.id for child in children})
    standing = [
        (journal.began, child.id)
        for child in children
        if (journal := undoing.latest_applied(child.id)) is not None
    ]
    if not standing:
        raise SandboxError(
            f"There is nothing to undo for {work_item_id!r}: no task of it changed a file, or all "
            "was undone already.",
            code="E_SANDBOX_NO_UNDO",
        )
    taken: list[str] = []
    for _, name in sorted(standing, reverse=True):
        try:
            await undoing.undo(name)
        except SandboxError as error:
            before = f" Taken back before that: {', '.join(taken)}." if taken else ""
            raise SandboxError(
                f"The task {name} was not undone, nor what came before it: {error.message}{before}",
                code=error.code,
                work_item_id=name,
            ) from error
        taken.append(name)
    return UndoneWork(tuple(taken), tuple(child.id for child in children if _left_something(child)))


def all_taken_back(names: Sequence[str], undoing: Undo) -> bool:
    """Whether some of these pieces of work changed something, and none of it stands, nor half of
    it.
    """
    undone = any(undoing.is_undone(name) for name in names)
    return undone and not any(undoing.stands(name) for name in names)


UNDONE: Final = "undone"
"""How work stands that ended, done or not, and of which all that it changed was taken back."""

_ENDED: Final = frozenset(
    {WorkItemStatus.done, WorkItemStatus.failed, WorkItemStatus.stuck, WorkItemStatus.blocked}
)


def state_now(item: WorkItem, undoing: Undo) -> str:
    """How work stands: its status, or that it ended and was taken back as a whole."""
    if item.status in _ENDED and all_taken_back(item.tasks or (item.id,), undoing):
        return UNDONE
    return item.status.value


Undone = Callable[[WorkItem], Awaitable[None]]
"""Takes note that the owner took back what a work item changed; never fails."""


@dataclass(frozen=True)
class WorkUndo:
    """Takes back what work changed, and says what was taken back.

    Attributes:
        changes: Has the journals.
        store: Keeps work items.
        undone: Takes note of it.
        zone: The owner's.
        rests: Makes plans of what projects did not come to, or what was taken back of them.
    """

    changes: Undo
    store: WorkItemStore
    undone: Undone
    zone: ZoneInfo
    rests: ProjectRests

    async def undo(self, work_item_id: str) -> UndoneWork:
        """Restore the workspaces that a work item changed; see `undo_work`."""
        taken = await undo_work(work_item_id, self.changes, self.store)
        item = await self.store.get(work_item_id)
        if item is not None:
            await self.undone(item)
        return taken

    def taken_back_words(self, item: WorkItem) -> str:
        """That what it changed was taken back, and when; empty where none of it was."""
        return taken_back_words(item, self.changes, self.zone)

    def state(self, item: WorkItem) -> str:
        """How it stands; see `state_now`."""
        return state_now(item, self.changes)


def taken_back_words(item: WorkItem, undoing: Undo, zone: ZoneInfo) -> str:
    """That what work changed was taken back and when, of a project in part too; empty where none of
    it was.

    Args:
        item: A piece of work; of a project with the ids of its tasks.
        undoing: Has the journals.
        zone: The owner's.
    """
    names = item.tasks or (item.id,)
    undone = [name for name in names if undoing.is_undone(name)]
    if not undone:
        return ""
    last = max((at for name in undone if (at := undoing.undone_at(name))), default=None)
    when = None if last is None else moment_words(last, zone)
    if all_taken_back(names, undoing):
        whole = tr("What it changed was taken back.")
        return whole if when is None else tr("What it changed was taken back: {when}.", when=when)
    tasks = ", ".join(undone)
    if when is None:
        return tr("What it changed was taken back in part: {tasks}.", tasks=tasks)
    return tr(
        "What it changed was taken back in part: {tasks}; the last of it {when}.",
        tasks=tasks,
        when=when,
    )


def _left_something(task: WorkItem) -> bool:
    return task.status is WorkItemStatus.done and bool(
        effect_of(json.loads(plan_bytes(task))).leaves
    )
