"""One project: entry check, its tasks in dependency order, its own checks (spec 5.2.2).

Each task runs on the same road as a plan of its own. What is done is kept with the task, so whoever
begins an interrupted project again goes on with what was not begun, and repeats nothing.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from silas.audit import Audit
from silas.errors import PlanFamilyError, SandboxError, SilasError, Stopped
from silas.language import tr
from silas.plans import (
    BudgetUsed,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemStore,
    format_failures,
)
from silas.plans.projects.graph import may_begin
from silas.plans.projects.kept import with_tasks
from silas.plans.projects.signed_tasks import foreign_task
from silas.stop.sentinel import RequireRunning
from silas.work.dependencies import inherited_work
from silas.work.entry import EntryCheck
from silas.work.executor import RunItem
from silas.work.left_waiting import LeftWaiting
from silas.work.models import Notify, ProgressEvent
from silas.work.projects.allowances import Allowances, used_of
from silas.work.projects.checks import ProjectChecks
from silas.work.projects.ending import ProjectEnding, expired_words
from silas.work.projects.files_left import FilesLeft
from silas.work.projects.tasks import ChangesWait, ProjectTasks

_DONE: Final = WorkItemStatus.done
_OPEN: Final = frozenset({WorkItemStatus.pending, WorkItemStatus.running})


class ProjectRunner:
    """Runs approved projects.

    Args:
        entry: Asks whether the project may run, and goes on to.
        run_task: Runs one task as any other work.
        allowances: Where what a task may use of the project's budget is noted.
        checks: Runs the project's own checks.
        store: Where the project and its tasks are kept.
        audit: The record.
        left: Lets a task run the files that those before it changed.
        waits: Whether changes of a task wait for the owner's yes.
        require_running: Raises where Silas is stopped or its record was changed.
        left_waiting: What an orderly end leaves for the next start.
    """

    def __init__(
        self,
        entry: EntryCheck,
        run_task: RunItem,
        allowances: Allowances,
        checks: ProjectChecks,
        store: WorkItemStore,
        audit: Audit,
        left: FilesLeft,
        waits: ChangesWait,
        require_running: RequireRunning,
        left_waiting: LeftWaiting,
    ) -> None:
        self._entry = entry
        self._tasks = ProjectTasks(run_task, allowances, self._further, waits, left_waiting.places)
        self._checks = checks
        self._store = store
        self._audit = audit
        self._left = left
        self._require_running = require_running
        self._waits = waits
        self._left_waiting = left_waiting
        self._ending = ProjectEnding(store, audit)

    async def run(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Execute one project to its end; whatever happens, it does not stay `running`.

        Raises:
            DatabaseError: What became of it could not be recorded.
        """
        try:
            result = await self._run_to_end(item, notify)
        except asyncio.CancelledError:
            if self._left_waiting.has_project(item, item.children):
                raise
            ended = await self._ending.record.record_stop(item)
            if ended is not None:
                return ended  # the cancellation came too late
            for child in item.children:
                if child.status is WorkItemStatus.pending:
                    await self._ending.record.record_stop(child)
            raise
        await notify(ProgressEvent(item.id, result.status.value, result.summary, item.attempts))
        return result

    async def _run_to_end(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        try:
            return await self._run_and_check(item, notify)
        except SilasError as error:
            return await self._record_failure(item, error, str(error))
        except Exception as error:  # a mistake of ours: it is recorded, and then shown
            words = f"Silas itself failed ({type(error).__name__})."
            await self._record_failure(item, SilasError(words, code="E_SILAS_UNEXPECTED"), words)
            raise

    async def _record_failure(
        self, item: WorkItem, error: SilasError, words: str
    ) -> WorkItemResult:
        """Record what ended it."""
        await self._audit.log("execution_failed", work_item_id=item.id, code=error.code)
        return await self._ending.over(item, _status_after(error), words)

    async def _run_and_check(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        self._require_running()
        await self._gather(item)
        if refusal := await self._refusal(item):
            return await self._block_item(item, refusal)
        _, missing = await inherited_work(item, self._store)
        if missing:
            return await self._ending.over(item, WorkItemStatus.blocked, missing)
        item.status, item.attempts = WorkItemStatus.running, item.attempts + 1
        await self._store.save(item)
        done = [child.id for child in item.children if child.status is _DONE]
        await self._audit.log("project.begun", work_item_id=item.id, tasks=item.tasks, done=done)
        if refusal := await self._run_tasks(item, notify):
            return await self._block_item(item, refusal)
        if unfinished := [child for child in item.children if child.status is not _DONE]:
            return await self._end_unfinished(item, unfinished)
        return await self._run_checks(item)

    async def _run_tasks(self, item: WorkItem, notify: Notify) -> str:
        """Run all that can be begun; again where the owner said yes to changes meanwhile."""
        while True:
            refusal = await self._tasks.run(item, notify)
            known = {child.id for child in item.children if child.status is _DONE}
            await self._gather(item)
            for child in item.children:
                item.budget_used = item.budget_used.merge(child.budget_used)
            done = {child.id for child in item.children if child.status is _DONE}
            if refusal or done <= known:
                return refusal

    async def _gather(self, item: WorkItem) -> None:
        """The tasks as they are kept; those of whoever gave the project may be older."""
        await with_tasks(item, self._store)
        item.budget_used = BudgetUsed()

    async def _refusal(self, item: WorkItem) -> str:
        """Why it may not run as it is now, or nothing."""
        self._require_running()
        await self._left.accept(item, item.children)
        if refusal := await self._entry.refuse(item, None):
            return refusal
        return foreign_task(item, item.children)

    async def _further(self, item: WorkItem, task: WorkItem) -> str:
        """Why this task of it may not begin, or nothing. What a task names is asked at its own
        entry; the files of the project's own checks, before these run.
        """
        self._require_running()
        refusal = await self._entry.taken_back(item) or foreign_task(item, item.children)
        if not refusal:
            await self._left.accept(task, item.children)
        return refusal

    async def _run_checks(self, item: WorkItem) -> WorkItemResult:
        if not item.verify:
            words = tr("All {many} tasks are done.", many=len(item.children))
            return await self._ending.over(item, _DONE, words)
        if refusal := await self._refusal(item):
            return await self._block_item(item, refusal)
        report = await self._checks.run(item)
        names = ", ".join(result.name for result in report.results)
        if report.all_passed:
            words = tr(
                "All {many} tasks are done, and verified: {names}.",
                many=len(item.children),
                names=names,
            )
            return await self._ending.over(item, _DONE, words)
        words = tr(
            "All tasks are done, and the project is not right: {why}", why=format_failures(report)
        )
        return await self._ending.over(item, WorkItemStatus.failed, words)

    async def _end_unfinished(
        self, item: WorkItem, unfinished: Sequence[WorkItem]
    ) -> WorkItemResult:
        """The first task that did not end well decides; else it waits for what its owner says."""
        ended = [child for child in unfinished if child.status not in _OPEN]
        bad = [child for child in ended if not self._waits(child.id)]
        if bad and bad[0].status is WorkItemStatus.blocked and await self._entry.has_expired(item):
            return await self._ending.over(item, WorkItemStatus.failed, expired_words(item, bad[0]))
        if bad:
            return await self._ending.end_failed(item, bad[0], self._tasks.short(bad[0]))
        if ended:
            return await self._ending.waits(item, ended)
        done = {child.id for child in item.children if child.status is _DONE}
        first = may_begin(item.children, done, done)[0]
        words = tr(
            "Its budget has no room for the task {task}: {used} are used.",
            task=first.id,
            used=used_of(item.budget, [child.budget_used for child in item.children]),
        )
        return await self._ending.over(item, WorkItemStatus.stuck, words)

    async def _block_item(self, item: WorkItem, refusal: str) -> WorkItemResult:
        self._require_running()  # a stop refuses everything; that says nothing about this plan
        await self._audit.log("execution_blocked_no_approval", work_item_id=item.id, reason=refusal)
        left = [child for child in item.children if child.status is not _DONE]
        if left and await self._entry.has_expired(item):
            refusal = expired_words(item, left[0])
        return await self._ending.over(item, WorkItemStatus.blocked, refusal)


def _status_after(error: SilasError) -> WorkItemStatus:
    if isinstance(error, Stopped):
        return WorkItemStatus.paused
    blocking = isinstance(error, SandboxError | PlanFamilyError)
    return WorkItemStatus.blocked if blocking else WorkItemStatus.failed
