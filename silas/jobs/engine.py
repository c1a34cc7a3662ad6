"""The engine of this process: one timer to the next due moment, and what is due is run."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from typing import Protocol

from silas.clock import Clock
from silas.errors import SilasError, from_foreign
from silas.jobs.models import Finish, Job, JobKind, JobState
from silas.jobs.port import Jobs
from silas.jobs.store import SqlJobStore

LOOK_AGAIN = timedelta(minutes=1)
"""While something is due that this process may not run: stopped, or another has the lease."""


class JobLease(Protocol):
    """Which process runs jobs."""

    def take(self) -> bool:
        """Whether it is this one; it stays so until the process ends."""
        ...


Listening = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Calls the given function when another process changed the table, while it is open."""


RecordJob = Callable[..., object]
"""Writes an entry of the audit log, in the transaction that is open: event, then its fields."""


class JobEngine:
    """Runs jobs as they come due. Nothing due means: no thread, no poll, no write.

    Args:
        store: The rows.
        jobs: Where the next slot of what recurs is made.
        clock: Effective time, so that a clock that is set back repeats nothing (decision B19).
        lease: Which process runs jobs.
        stopped: Whether the emergency stop is in force; schedules are paused then (B10).
        listening: How other processes' changes are heard.
        record: Where failures are recorded.
        limit: How many jobs run at once.
        keep: How long what ended is kept.
    """

    def __init__(
        self,
        store: SqlJobStore,
        jobs: Jobs,
        clock: Clock,
        lease: JobLease,
        stopped: Callable[[], bool],
        listening: Listening,
        record: RecordJob,
        limit: int,
        keep: timedelta,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._clock = clock
        self._lease = lease
        self._stopped = stopped
        self._listening = listening
        self._record = record
        self._limit = limit
        self._keep = keep
        self._kinds: Mapping[str, JobKind] = {}
        self._running: dict[str, tuple[Job, asyncio.Task[None]]] = {}
        self._aside: set[str] = set()
        self._wake = asyncio.Event()
        self._mine = False

    def wake(self) -> None:
        """The table changed: look again."""
        self._wake.set()

    @contextmanager
    def without_place(self, job_id: str) -> Generator[None]:
        """What waits for its owner, for hours, keeps nothing else from being begun."""
        self._aside.add(job_id)
        self._wake.set()
        try:
            yield
        finally:
            self._aside.discard(job_id)

    async def serve(self, kinds: Sequence[JobKind]) -> None:
        """Run jobs of these kinds until this is cancelled; what is under way is left as begun."""
        self._kinds = {kind.name: kind for kind in kinds}
        self._have_lease()
        with self._listening(self.wake):
            try:
                while True:
                    self._wake.clear()
                    await self._wait(self._look())
            finally:
                tasks = [task for _, task in self._running.values()]
                for task in tasks:
                    task.cancel()
                if tasks:
                    await asyncio.wait(tasks)

    def _look(self) -> datetime | None:
        """Begin what is due; returns when to look again, None where nothing waits."""
        first = self._next_due(None)
        if first is None:
            return None
        now = self._clock.now()
        if first > now:
            return first
        if self._stopped() or not self._have_lease():
            later = self._next_due(now)
            return now + LOOK_AGAIN if later is None else min(later, now + LOOK_AGAIN)
        self._begin(now)
        return self._next_due(now)

    def _next_due(self, after: datetime | None) -> datetime | None:
        moment = self._store.next_due(self._kinds, after)
        if after is None and moment is not None and self._running:
            # what this process runs is begun already
            waiting = [
                job
                for job in self._store.list_open("", "")
                if job.kind in self._kinds and job.id not in self._running
            ]
            return min((job.due for job in waiting), default=None)
        return moment

    def _have_lease(self) -> bool:
        self._mine = self._mine or self._lease.take()
        return self._mine

    def _begin(self, now: datetime) -> None:
        busy = {job.queue for job, _ in self._running.values()}
        for job in self._store.list_unfinished(now):
            if job.kind not in self._kinds or job.id in self._running or job.queue in busy:
                continue
            if self._kinds[job.kind].takes_place and self._count_places() >= self._limit:
                continue
            busy.add(job.queue)
            begun = self._store.begin(job.id)  # with the lease: what runs elsewhere, a crash left
            if begun is not None:
                self._running[job.id] = begun, asyncio.create_task(self._run(begun))

    def _count_places(self) -> int:
        return sum(
            self._kinds[job.kind].takes_place and job_id not in self._aside
            for job_id, (job, _) in self._running.items()
        )

    async def _run(self, job: Job) -> None:
        kind = self._kinds[job.kind]
        try:
            try:
                self._record_end(job, kind, JobState.done, await kind.run(job))
            except Exception as error:  # noqa: BLE001, RUF100 - one job's bug must not end the others
                await self._record_failure(job, kind, error)
        finally:
            del self._running[job.id]
            self._wake.set()

    async def _record_failure(self, job: Job, kind: JobKind, error: Exception) -> None:
        """Try again later, or give up; where not even that can be written, after a while."""
        known = from_foreign(error)
        code = "E_SILAS_UNEXPECTED" if known is None else known.code
        again = job.attempts < kind.attempts

        def record_failure() -> None:
            self._record(
                "job.failed", kind=job.kind, ref=job.ref, slot=job.slot, code=code,
                error=type(error).__name__, attempt=job.attempts, again=again,
            )  # fmt: skip

        try:
            if not again:
                self._record_end(job, kind, JobState.failed, record_failure, code)
                return
            with self._store.db.write():
                record_failure()
                wait = min(kind.again * 2 ** min(job.attempts - 1, 20), kind.longest)
                self._store.again(job.id, self._clock.now() + wait)
        except (
            SilasError
        ):  # the disk is full: the row still says that it runs, and it is begun again
            await self._clock.sleep(LOOK_AGAIN.total_seconds())

    def _record_end(
        self, job: Job, kind: JobKind, state: JobState, finish: Finish, fault: str = ""
    ) -> None:
        """Record the end, what the job writes with it, and the next slot: all of it or nothing."""
        now = self._clock.now()
        with self._store.db.write():
            finish()
            self._store.end(job.id, state, now, fault)
            following = kind.following(job, now)
            if following is not None:
                self._jobs.at(following, job.kind, job.ref, queue=job.queue, zone=job.zone)
            self._store.prune(now - self._keep)

    async def _wait(self, moment: datetime | None) -> None:
        """Until the moment, or until something changed; without a moment there is no timer."""
        waits: list[asyncio.Task[object]] = [asyncio.create_task(self._wake.wait())]
        if moment is not None:
            waits.append(asyncio.create_task(self._clock.until(moment)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
