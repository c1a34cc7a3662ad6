"""The engine of this process keeps the contract of jobs."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from silas.jobs.models import Job
from tests.contracts.jobs import Engine, JobsContract
from tests.jobs.kit import Bench, settle


class TestEngineOfThisProcess(JobsContract):
    @pytest.fixture(autouse=True)
    def _home(self, tmp_path: Path) -> None:
        self.path = tmp_path / "silas.db"

    def opened(self) -> AbstractAsyncContextManager[Engine]:
        return opened(self.path)


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[Engine]:
    bench = Bench(path)

    def hourly(job: Job, now: datetime) -> datetime:
        del now
        return job.due + timedelta(hours=1)

    kinds = bench.kind("note"), bench.kind("hourly", following=hourly)
    async with AsyncExitStack() as stack:
        serving = AsyncExitStack()
        stack.push_async_exit(serving)
        await serving.enter_async_context(bench.serving(*kinds))

        async def passes(seconds: float) -> None:
            await settle()
            bench.clock.advance(seconds)
            for _ in range(5):
                await settle()

        async def restart() -> None:
            await serving.aclose()
            await serving.enter_async_context(bench.serving(*kinds))

        yield Engine(bench.jobs, bench.clock, bench.ran, passes, restart)
    bench.db.close()
