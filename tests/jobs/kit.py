"""An engine over a database of its own, with a clock that waits to be told."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from silas.clock import Clock
from silas.db import Database
from silas.jobs.engine import JobEngine
from silas.jobs.models import Finish, Job, JobKind, nothing, once
from silas.jobs.store import SqlJobStore
from silas.jobs.table import JobTable
from silas.testing.clock import MockClock
from tests.support.waits import SECONDS


class FreeLease:
    """This process runs jobs, unless a test says otherwise."""

    def __init__(self) -> None:
        self.free = True

    def take(self) -> bool:
        return self.free


class Bench:
    """What an engine stands on; `serving` runs one, as often as a test likes.

    Attributes:
        ran: The ids of jobs in the order in which they began.
        entries: What was recorded.
    """

    def __init__(
        self,
        path: Path,
        clock: MockClock | None = None,
        *,
        limit: int = 4,
        time: Clock | None = None,
    ) -> None:
        self.clock = clock or MockClock()
        self.time = time or self.clock
        self.db = Database(path, self.clock)
        self.db.migrate("silas.jobs")
        self.store = SqlJobStore(self.db)
        self.lease = FreeLease()
        self.stopped = False
        self.limit = limit
        self.ran: list[str] = []
        self.entries: list[tuple[str, dict[str, Any]]] = []
        self._heard: list[Callable[[], None]] = []
        self.jobs = JobTable(self.store, self.time, self._changed)

    def _changed(self) -> None:
        for heard in self._heard:
            heard()

    @contextmanager
    def listening(self, heard: Callable[[], None]) -> Generator[None]:
        self._heard.append(heard)
        try:
            yield
        finally:
            self._heard.remove(heard)

    def record(self, event: str, **data: Any) -> None:
        self.entries.append((event, data))

    @asynccontextmanager
    async def serving(self, *kinds: JobKind) -> AsyncGenerator[JobEngine]:
        engine = JobEngine(
            self.store,
            self.jobs,
            self.time,
            self.lease,
            lambda: self.stopped,
            self.listening,
            self.record,
            self.limit,
            timedelta(days=30),
        )
        task = asyncio.create_task(engine.serve(kinds))
        try:
            yield engine
        finally:
            task.cancel()
            await asyncio.wait([task])

    def kind(
        self,
        name: str = "note",
        work: Callable[[Job], Any] | None = None,
        following: Callable[[Job, datetime], datetime | None] = once,
        **more: Any,
    ) -> JobKind:
        """A kind that notes what ran; `work` may wait, fail, or return what is to be written."""

        async def run(job: Job) -> Finish:
            self.ran.append(job.id)
            result = None if work is None else work(job)
            if asyncio.iscoroutine(result):
                result = await result
            finish: Finish = result if callable(result) else nothing  # pyright: ignore[reportAssignmentType] - a test's
            return finish

        return JobKind(name, run, following, **more)


async def until(done: Callable[[], bool]) -> None:
    """Let the event loop turn until something is so."""
    async with asyncio.timeout(SECONDS):
        while not done():
            await asyncio.sleep(0)


async def settle(turns: int = 20) -> None:
    """Let everything run that can run without time going by."""
    for _ in range(turns):
        await asyncio.sleep(0)


def states(jobs: Sequence[Job]) -> list[str]:
    return [job.state.value for job in jobs]
