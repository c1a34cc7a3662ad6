"""Running work by kind: at once, or in the background with progress and cancellation (5.2)."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from silas.audit import Audit
from silas.errors import DatabaseError, SilasError
from silas.language import tr, tr_later
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemType
from silas.work.left_waiting import LeftWaiting
from silas.work.models import AlreadyRunning, Notify, ProgressEvent

RunItem = Callable[[WorkItem, Notify], Awaitable[WorkItemResult]]
"""Runs one kind of work item to its end."""

Runners = Callable[[RunItem], Mapping[WorkItemType, RunItem]]
"""Makes who runs which kind. A project runs its tasks by what it is given: as any other work."""


class _Running(NamedTuple):
    """Work under way. Only work that has begun can record that it was stopped; `stopped` tells
    whoever listens.
    """

    task: asyncio.Task[WorkItemResult]
    begun: asyncio.Event
    stopped: Callable[[], Awaitable[None]]
    item: WorkItem


class WorkItemExecutor:
    """Executes any work item; knows who is running and can stop them.

    Args:
        runners: Makes who runs which kind. The runner of tasks must be among them: its entry check
            refuses the kinds that have none, on record.
        audit: Where progress that nobody took and failures that nobody saw are recorded.
        left: What an orderly end leaves for the next start, because it only waits.
    """

    def __init__(self, runners: Runners, audit: Audit, left: LeftWaiting) -> None:
        self._runners = runners(self.execute)
        self._otherwise = self._runners[WorkItemType.task]
        self._audit = audit
        self._left = left
        self._running: dict[str, _Running] = {}

    async def execute(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Run an item to its end (spec 4.12); cancelling the caller stops the work.

        Raises:
            AlreadyRunning: It is at work; nothing was started.
            SilasError: It failed in a way that could not be recorded.
        """
        running = self._start(item, self._run, notify)
        try:
            await asyncio.wait([running.task])
        except asyncio.CancelledError:
            await _stop(running)
            raise
        return _outcome(item.id, running.task)

    def dispatch(self, item: WorkItem, notify: Notify) -> None:
        """Run an item in the background; a second dispatch of the same item is refused.

        Raises:
            AlreadyRunning: It is at work; nothing was started.
        """
        self._start(item, self._report_failure, notify)

    def _start(
        self,
        item: WorkItem,
        run: Callable[[WorkItem, Notify], Coroutine[Any, Any, WorkItemResult]],
        notify: Notify,
    ) -> _Running:
        if item.id in self._running:
            raise AlreadyRunning(f"{item.id} is running already.", work_item_id=item.id)
        begun = asyncio.Event()

        async def begin() -> WorkItemResult:
            begun.set()
            return await run(item, self._guard_listener(notify))

        async def report_stop() -> None:
            await self._guard_listener(notify)(
                ProgressEvent(item.id, WorkItemStatus.paused.value, tr(_STOPPED), item.attempts)
            )

        task = asyncio.create_task(begin(), name=f"work:{item.id}")
        running = _Running(task, begun, report_stop, item)
        self._running[item.id] = running
        running.task.add_done_callback(lambda task: self._drop_task(item.id, task))
        return running

    def _drop_task(self, work_item_id: str, task: asyncio.Task[WorkItemResult]) -> None:
        del self._running[work_item_id]
        if not task.cancelled():
            task.exception()  # retrieved, in case its caller was cancelled and never asks

    async def _run(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        return await self._runners.get(item.type, self._otherwise)(item, notify)

    async def _report_failure(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Nobody may be waiting for background work, so its failure is told, not only raised."""
        try:
            return await self._run(item, notify)
        except Exception as error:  # whatever it is, nobody else would ever hear of it
            known = isinstance(error, SilasError)
            words = str(error) if known else f"Silas itself failed ({type(error).__name__})."
            code = error.code if known else "E_SILAS_UNEXPECTED"
            with suppress(DatabaseError):  # it may be the very reason
                await self._audit.log("execution_failed", work_item_id=item.id, code=code)
            await notify(ProgressEvent(item.id, "failed", words, item.attempts))
            return _result(item.id, WorkItemStatus.failed, words)

    def _guard_listener(self, notify: Notify) -> Notify:
        """A listener that is gone or broken must not change what becomes of the work."""

        async def tell(event: ProgressEvent) -> None:
            try:
                await notify(event)
            except Exception as error:  # whatever the listener does wrong
                await self._audit.log(
                    "progress_untold", work_item_id=event.work_item_id, why=type(error).__name__
                )

        return tell

    def running(self) -> tuple[str, ...]:
        """The ids of the items at work now."""
        return tuple(self._running)

    def asked_later(self) -> tuple[str, ...]:
        """The ids of what only waits for its owner: an orderly end leaves it for the next start."""
        return self._left.asked_later([one.item for one in self._running.values()])

    async def wait(self, work_item_id: str) -> WorkItemResult | None:
        """Wait for a running item's result; None where it is not running."""
        running = self._running.get(work_item_id)
        if running is None:
            return None
        await asyncio.wait([running.task])
        return _outcome(work_item_id, running.task)

    async def cancel(self, work_item_id: str) -> bool:
        """Stop a running item and everything in its sandbox; False where there is none to stop."""
        running = self._running.get(work_item_id)
        if running is None or not await _stop(running):
            return False
        await running.stopped()
        return True

    async def stop(self) -> None:
        """Cancel everything that runs and wait for it; what only waits goes on later."""
        all_running = tuple(self._running.values())
        self._left.leave([running.item for running in all_running])
        for running in all_running:
            await running.begun.wait()
            running.task.cancel()
        if all_running:
            await asyncio.wait([running.task for running in all_running])


_STOPPED = tr_later("Stopped; nothing of it was applied.")


async def _stop(running: _Running) -> bool:
    """Cancel and wait; False where it came to its own end before."""
    await running.begun.wait()
    running.task.cancel()
    await asyncio.wait([running.task])
    return running.task.cancelled()


def _outcome(work_item_id: str, task: asyncio.Task[WorkItemResult]) -> WorkItemResult:
    if task.cancelled():
        return _result(work_item_id, WorkItemStatus.paused, _STOPPED)
    return task.result()


def _result(work_item_id: str, status: WorkItemStatus, words: str) -> WorkItemResult:
    return WorkItemResult(work_item_id=work_item_id, status=status, summary=words, last_error=words)
