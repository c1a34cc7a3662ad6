"""Time, as a dependency: nothing else in Silas asks the system what time it is."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What time it is, and how to wait."""

    def now(self) -> datetime:
        """The current moment, timezone-aware, in UTC (spec 3)."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; other tasks run meanwhile."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The current moment in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since an arbitrary start."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(seconds)


class TimeLimitReached(TimeoutError):
    """A `time_limit` broke the work off; a `TimeoutError` of the work's own is not one."""


@asynccontextmanager
async def time_limit(clock: Clock, seconds: float) -> AsyncGenerator[None]:
    """Break off what takes longer than `seconds` on this clock.

    Raises:
        TimeLimitReached: The time was over first.
    """
    loop, ends = asyncio.get_running_loop(), clock.monotonic() + seconds
    limit = asyncio.timeout(None)

    async def end() -> None:
        await clock.sleep(ends - clock.monotonic())
        limit.reschedule(loop.time())

    try:
        async with limit:
            timer = asyncio.ensure_future(end())
            try:
                yield
            finally:
                timer.cancel()
    except TimeoutError as error:
        if limit.expired():
            raise TimeLimitReached from error
        raise
