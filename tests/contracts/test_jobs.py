"""The engine of this process keeps the contract of jobs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from silas.jobs.models import Job, JobKind
from silas.jobs.port import Jobs
from silas.testing.clock import MockClock
from tests.contracts.jobs import HELD, LEASE, Engine, JobsContract
from tests.jobs.kit import Bench, FreeLease, settle


class TestEngineOfThisProcess(JobsContract):
    @pytest.fixture(autouse=True)
    def _home(self, tmp_path: Path) -> None:
        self.path = tmp_path / "silas.db"

    def opened(self) -> AbstractAsyncContextManager[Engine]:
        return opened(self.path)


class LeaseByTheClock:
    """Held by one engine until it is let go of, or `LEASE` after its holder was killed."""

    def __init__(self, clock: MockClock) -> None:
        self._clock = clock
        self._holder: Bench | None = None
        self._until: datetime | None = None

    def of(self, bench: Bench) -> FreeLease:
        """As one engine sees it."""
        lease = self

        class Seen(FreeLease):
            def take(self) -> bool:
                return lease.take(bench)

        return Seen()

    def take(self, bench: Bench) -> bool:
        over = self._until is not None and self._until <= self._clock.now()
        if self._holder is None or over:
            self._holder, self._until = bench, None
        return self._holder is bench

    def killed(self) -> None:
        self._until = self._clock.now() + LEASE


class Process:
    """One engine with a connection of its own to the rows."""

    def __init__(
        self, path: Path, clock: MockClock, lease: LeaseByTheClock, ran: list[str]
    ) -> None:
        self.bench = Bench(path, clock)
        self.bench.ran = ran
        self.bench.lease = lease.of(self.bench)
        self.serving = AsyncExitStack()
        self.alive = True

    def kinds(self) -> tuple[JobKind, ...]:
        bench = self.bench

        def hourly(job: Job, now: datetime) -> datetime:
            del now
            return job.due + timedelta(hours=1)

        async def held(job: Job) -> None:
            if bench.ran.count(job.id) == 1:
                await asyncio.Event().wait()

        return (
            bench.kind("note"),
            bench.kind("hourly", following=hourly),
            bench.kind(HELD, held),
        )

    async def start(self) -> None:
        await self.serving.enter_async_context(self.bench.serving(*self.kinds()))

    async def stop(self) -> None:
        await self.serving.aclose()
        if self.alive:
            self.bench.db.close()

    def kill(self) -> None:
        """Take its connection away, so that no handler of it writes."""
        self.alive = False
        self.bench.db.close()


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[Engine]:
    clock, ran = MockClock(), list[str]()
    lease = LeaseByTheClock(clock)
    first = Process(path, clock, lease, ran)
    async with AsyncExitStack() as processes:
        processes.push_async_callback(first.stop)
        await first.start()

        async def passes(seconds: float) -> None:
            await settle()
            clock.advance(seconds)
            for _ in range(5):
                await settle()

        async def restart() -> None:
            await first.serving.aclose()
            await first.start()

        async def kill() -> None:
            first.kill()
            lease.killed()
            await first.stop()

        async def take_over() -> Jobs:
            other = Process(path, clock, lease, ran)
            processes.push_async_callback(other.stop)
            await other.start()
            return other.bench.jobs

        yield Engine(first.bench.jobs, clock, ran, passes, restart, kill, take_over)
