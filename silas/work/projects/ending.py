"""How a project ends, or waits; of what was not begun when it ended nothing begins later."""

from collections.abc import Sequence
from typing import Final

from silas.audit import Audit
from silas.language import tr
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.plans.characters import show_exactly
from silas.work.end_words import tell_end
from silas.work.models import PATCH
from silas.work.record import TaskRecord, result_of
from silas.work.report import AttemptOutput, cut_report

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
        if any(child.status is not WorkItemStatus.done for child in item.children):
            words = f"{words.rstrip()}\n{_ask_for_rest(item)}"
        for child in left:
            why = tr(
                "Not begun, because its project {project} is {status}.",
                project=item.id,
                status=tr(status.value),
            )
            if child.attempts:
                await self.record.record_end(child, WorkItemStatus.blocked, why)
            else:
                await self.record.record_not_begun(child, why)
        if left:
            names = ", ".join(map(_title, left))
            rest = tr("Not begun: {names}.", names=names)
            words = f"{words.rstrip()}\n{rest}"
        return await self._keep_result(item, status, words)

    async def waits(self, item: WorkItem, tasks: Sequence[WorkItem]) -> WorkItemResult:
        """Changes of these tasks wait for the owner's yes; what was not begun may begin later."""
        first, left = tasks[0], [one.id for one in item.children if one.status in _OPEN]
        more, name = len(tasks) - 1, show_exactly(first.id)
        whose = tr("{task} and of {more} more", task=name, more=more) if more else name
        then = tr("with {tasks}", tasks=", ".join(left)) if left else tr("to its end")
        words = tr(
            "The changes of its task {whose} wait for your yes (`silas approvals approve {task}`). "
            "On a yes the project goes on {then}, on a no it has failed.",
            whose=whose,
            task=first.id,
            then=then,
        )
        return await self._keep_result(item, WorkItemStatus.blocked, words)

    async def end_failed(self, item: WorkItem, task: WorkItem, short: str) -> WorkItemResult:
        """A task did not end well, and that ends the project.

        Args:
            item: The project.
            task: The first that did not end well.
            short: How much less than its own budget the project had left for it; or nothing.
        """
        known = await self._store.get_result(task.id)
        why = tr(task.status.value) if known is None else known.summary
        stopped = task.status is WorkItemStatus.paused
        status = WorkItemStatus.paused if stopped else WorkItemStatus.failed
        words = tr(
            "The task {task} is {status}:\n{why}",
            task=_title(task),
            status=tr(task.status.value),
            why=tell_end(why),
        )
        if short and task.status is WorkItemStatus.stuck:
            left = tr("The project's budget had {short} left for it.", short=short)
            words = f"{words.rstrip()}\n{left}"
        return await self.over(item, status, words)

    async def _keep_result(
        self, item: WorkItem, status: WorkItemStatus, words: str
    ) -> WorkItemResult:
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
            left=AttemptOutput(report=_words_of_tasks(results)),
        )
        return await self.record.save_result(item, result)


def expired_words(item: WorkItem, task: WorkItem) -> str:
    """That the time of a project's approval was over before this task of it came to its end."""
    return tr(
        "The approval of {project} holds for a day and expired before its task {task} came to its "
        "end, so nothing of that task was applied.",
        project=item.id,
        task=task.id,
    )


def _ask_for_rest(item: WorkItem) -> str:
    return tr(
        "`silas projects rest {project}` asks about what is not done as a new project, with a "
        "budget and an approval of its own; what is done stays.",
        project=item.id,
    )


def _title(task: WorkItem) -> str:
    """A task as its owner knows it."""
    return tr("“{words}”", words=show_exactly(task.title))


def _words_of_tasks(results: Sequence[tuple[WorkItem, WorkItemResult | None]]) -> str:
    """What the executors of the tasks say, each below its task's title: often the answer."""
    said = [
        f"{_title(child)}: {one.report}" for child, one in results if one is not None and one.report
    ]
    return cut_report("\n".join(said))


def _heading(task: WorkItem) -> str:
    """Whose changes follow in a patch, and where; a comment, which `git apply` passes over."""
    where = f" in {show_exactly(task.workspace)}" if task.workspace else ""
    return f"# Task {show_exactly(task.id)}{where}"
