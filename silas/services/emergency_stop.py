"""The emergency stop, wired: what a running Silas does when it comes, and the owner's commands."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from silas.audit import Audit
from silas.audit.log import AuditLog
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import DatabaseError, Stopped
from silas.home.database import open_database
from silas.home.keyless import NoKey
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.plans.store import SqlWorkItemStore
from silas.stop.epochs import StopEpochs
from silas.stop.halt import StoppableWork
from silas.stop.runs import end_runs
from silas.stop.sentinel import Sentinel
from silas.stop.watch import Watch
from silas.work.executor import RunItem
from silas.work.models import Notify, ProgressEvent

SETTLE_SECONDS = 5.0
"""How long the stopping process waits for others to record what became of their work; a little
more than a process has to end."""

_LOOK_SECONDS = 0.1
_STOPPED = (
    "Silas was stopped while this was under way; nothing of it was applied. After `silas resume` "
    "it needs a new approval."
)


@dataclass(frozen=True)
class EmergencyStop:
    """The parts of the stop in one process.

    Attributes:
        sentinel: Whether Silas is stopped.
        epochs: Which tokens are void.
        halt: The work under way here.
    """

    sentinel: Sentinel
    epochs: StopEpochs
    halt: StoppableWork

    @classmethod
    def of(cls, config: SilasConfig, db: Database, clock: Clock) -> "EmergencyStop":
        """For one home and its database."""
        sentinel = Sentinel(config.data_dir, config.scheduler.zone)
        return cls(sentinel, StopEpochs(db, clock, sentinel), StoppableWork(sentinel))

    @contextmanager
    def watch_stop(self, audit: Audit, overdue: Callable[[], None]) -> Generator[None]:
        """Notice the stop from here on; one that is in force already is put on record.

        Args:
            audit: Where a stop made by hand is recorded.
            overdue: What to do when work here does not end, as the event loop is blocked.

        Raises:
            DatabaseError: The stop is in force and cannot be recorded.
        """
        record = partial(self.epochs.reconcile, partial(_record_stop, audit))
        record()

        def notice() -> bool:
            if self.sentinel.stands():  # else the owner was quicker, and this is new work
                self.halt.ring()
            with suppress(DatabaseError, OSError):  # `silas resume` records it at the latest
                record()
            return not self.halt.busy

        loop = asyncio.get_running_loop()
        with Watch(self.sentinel, loop, notice, overdue, self.halt):
            yield


@dataclass(frozen=True)
class PausedByStop:
    """A way to run work items; the stop ends it, the item is `paused`, and the owner is told."""

    run: RunItem
    halt: StoppableWork
    store: WorkItemStore

    async def __call__(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Run an item to its end or to the stop."""
        try:
            return await self.halt.run_unless_stopped(partial(self._run_item, item, notify))
        except Stopped:  # `run` was cancelled, and has kept the status
            result = _paused_result(item)
            with suppress(DatabaseError):
                await self.store.save_result(result)
            await notify(ProgressEvent(item.id, "paused", result.summary, item.attempts))
            return result

    async def _run_item(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        return await self.run(item, notify)


def _record_stop(audit: Audit) -> None:
    audit.log_now("emergency.stopped")


def _paused_result(item: WorkItem) -> WorkItemResult:
    return WorkItemResult(
        work_item_id=item.id,
        status=WorkItemStatus.paused,
        summary=_STOPPED,
        last_error=_STOPPED,
        budget_used=item.budget_used,
    )


@dataclass(frozen=True)
class StopService:
    """The record of the stop alone: no key, no model, no sandbox."""

    sentinel: Sentinel
    epochs: StopEpochs
    store: WorkItemStore
    audit: Audit
    clock: Clock

    def record(self) -> None:
        """Put the stop that is in force on record. Raises `DatabaseError`."""
        self.epochs.reconcile(partial(_record_stop, self.audit))

    async def settle(self, patience_seconds: float) -> list[str]:
        """Let processes record what became of their work; do it for those that cannot.

        Returns:
            The ids of the items whose end was recorded here.
        """
        looks = int(patience_seconds / _LOOK_SECONDS)
        while looks and await self._running_items():
            await self.clock.sleep(_LOOK_SECONDS)
            looks -= 1
        left = await self._running_items()
        for item in left:
            item.status = WorkItemStatus.paused
            await self.store.save_result(_paused_result(item))
            await self.store.save(item)
            await self.audit.log("work_item_stopped", work_item_id=item.id)
        return [item.id for item in left]

    async def _running_items(self) -> list[WorkItem]:
        return list(await self.store.list_by_status(WorkItemStatus.running))

    async def resume(self) -> list[str]:
        """End the stop: everything approved before it is void, and nothing restarts by itself.

        Returns:
            The ids of the items that were still recorded as running.

        Raises:
            DatabaseError, OSError: Silas stays stopped.
        """
        end_runs(self.sentinel.folder)
        interrupted = await self.settle(0.0)
        self.epochs.resume(
            partial(_record_stop, self.audit),
            partial(self.audit.log_now, "emergency.resumed", interrupted=interrupted),
        )
        return interrupted


@contextmanager
def open_stop(config: SilasConfig) -> Generator[StopService]:
    """The stop of an initialised Silas; needs no passphrase, because nothing is signed.

    Raises:
        DatabaseError: The database cannot be used.
    """
    clock, sentinel = SystemClock(), Sentinel(config.data_dir, config.scheduler.zone)
    with open_database(config, clock) as db:
        audit = AuditLog(db, clock, NoKey())
        store = SqlWorkItemStore(db, clock)
        yield StopService(sentinel, StopEpochs(db, clock, sentinel), store, audit, clock)
