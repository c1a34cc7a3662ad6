"""Running work by kind: at once, or in the background with progress and cancellation (5.2)."""

import asyncio
from collections.abc import Awaitable, Callable

from silas.audit import Audit
from silas.errors import SilasError
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemType
from silas.work.models import Notify, ProgressEvent

RunItem = Callable[[WorkItem, Notify], Awaitable[WorkItemResult]]
"""Runs one kind of work item to its end."""


class WorkItemExecutor:
    """Executes any work item; knows who is running and can stop them."""

    def __init__(self, runners: dict[WorkItemType, RunItem], audit: Audit) -> None:
        self._runners = runners
        self._audit = audit
        self._running: dict[str, asyncio.Task[WorkItemResult]] = {}

    async def execute(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Run an item to its end (spec 4.12)."""
        runner = self._runners.get(item.type)
        if runner is None:
            words = f"This version does not run work of the kind {item.type}."
            await self._audit.log("work_item_refused", work_item_id=item.id, reason=words)
            return WorkItemResult(
                work_item_id=item.id,
                status=WorkItemStatus.blocked,
                summary=words,
                last_error=words,
            )
        return await runner(item, notify)

    def dispatch(self, item: WorkItem, notify: Notify) -> None:
        """Run an item in the background; a second dispatch of the same item is refused.

        Raises:
            SilasError: The item is running already.
        """
        if item.id in self._running:
            raise SilasError(f"{item.id} is running already.", work_item_id=item.id)
        task = asyncio.create_task(self._reported(item, notify), name=f"work:{item.id}")
        self._running[item.id] = task
        task.add_done_callback(lambda _: self._running.pop(item.id, None))

    async def _reported(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Nobody may be waiting for background work, so its failure is told, not only raised."""
        try:
            return await self.execute(item, notify)
        except SilasError as error:
            await notify(ProgressEvent(item.id, "failed", str(error), item.attempts))
            return WorkItemResult(
                work_item_id=item.id,
                status=WorkItemStatus.failed,
                summary=str(error),
                last_error=str(error),
            )

    def running(self) -> tuple[str, ...]:
        """The ids of the items at work now."""
        return tuple(self._running)

    async def wait(self, work_item_id: str) -> WorkItemResult | None:
        """Wait for a running item's result; None where it is not running."""
        task = self._running.get(work_item_id)
        return None if task is None else await asyncio.shield(task)

    async def cancel(self, work_item_id: str) -> bool:
        """Stop a running item and everything in its sandbox; False where it is not running."""
        task = self._running.get(work_item_id)
        if task is None:
            return False
        task.cancel()
        await asyncio.wait([task])
        return True

    async def stop(self) -> None:
        """Cancel everything that runs and wait for it."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def ignore_progress(event: ProgressEvent) -> None:
    """For callers who only want the result."""
    del event
