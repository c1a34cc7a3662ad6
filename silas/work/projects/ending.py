"""How a project ends, or waits; of what was not begun when it ended nothing begins later."""

from collections.abc import Sequence
from typing import Final

from silas.audit import Audit
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.plans.characters import show_exactly
from silas.work.models import PATCH
from silas.work.record import TaskRecord, result_of

_OPEN: Final = frozenset({WorkItemStatus.pending, WorkItemStatus.running})


class ProjectEnding:
    """Records how projects stand once nothing of them runs.

    Args:
        store: Where projects and their tasks are kept.
        audit: The record.
    """

    def __init__(self, store: WorkItemStore, audit: Audit) -> None:
        self._store = store
        self.record = TaskRecord(store, audit)

    async def over(self, item: WorkItem, status: WorkItemStatus, words: str) -> WorkItemResult:
        """It has ended; nothing of it that was not begun begins later."""
        left = [child for child in item.children if child.status in _OPEN]
        for child in left:
            why = f"Not begun, because its project {item.id} is {status}."
            await self.record.ended(child, WorkItemStatus.blocked, why)
        if left:
            words = f"{words.rstrip()}\nNot begun: {', '.join(child.id for child in left)}."
        return await self._kept(item, status, words)

    async def waits(self, item: WorkItem, tasks: Sequence[WorkItem]) -> WorkItemResult:
        """Changes of these tasks wait for the owner's yes; what was not begun may begin later."""
        first, left = tasks[0], [one.id for one in item.children if one.status in _OPEN]
        others = f" and of {len(tasks) - 1} more" if len(tasks) > 1 else ""
        then = f"with {', '.join(left)}" if left else "to its end"
        words = (
            f"The changes of its task {show_exactly(first.id)}{others} wait for your yes: "
            f"`silas approvals approve {first.id}` asks you. On a yes the project goes on {then}, "
            "on a no it has failed."
        )
        return await self._kept(item, WorkItemStatus.blocked, words)

    async def failed(self, item: WorkItem, task: WorkItem) -> WorkItemResult:
        """A task did not end well, and that ends the project."""
        known = await self._store.get_result(task.id)
        why = task.status.value if known is None else known.summary
        stopped = task.status is WorkItemStatus.paused
        status = WorkItemStatus.paused if stopped else WorkItemStatus.failed
        return await self.over(item, status, f"The task {task.id} is {task.status}: {why}")

    async def _kept(self, item: WorkItem, status: WorkItemStatus, words: str) -> WorkItemResult:
        results = [(child, await self._store.get_result(child.id)) for child in item.children]
        found = [(_heading(child), one) for child, one in results if one is not None]
        patches = [(head, one.artifacts.get(PATCH, "")) for head, one in found]
        patch = "".join(f"{head}\n{text}" for head, text in patches if text)
        result = result_of(
            item,
            status,
            words,
            artifacts={PATCH: patch} if patch else {},
            diff="\n".join(f"{head}\n{one.diff}" for head, one in found if one.diff),
        )
        return await self.record.finished(item, result)


def _heading(task: WorkItem) -> str:
    """Whose changes follow in a patch, and where; a comment, which `git apply` passes over."""
    where = f" in {show_exactly(task.workspace)}" if task.workspace else ""
    return f"# Task {show_exactly(task.id)}{where}"
