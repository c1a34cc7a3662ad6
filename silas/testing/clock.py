"""A clock that moves only when told."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from silas.clock import Uptime

_MACHINES: Final = count(1)


class MockClock:
    """Time for tests: `advance` moves it and wakes whoever slept past the new moment."""

    def __init__(self, start: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) -> None:
        self._now = start
        self._elapsed = 0.0
        self._asleep = 0.0
        self._boot = f"mock {next(_MACHINES)}"
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self._waiters: list[tuple[datetime, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """The mock moment."""
        return self._now

    def monotonic(self) -> float:
        """Seconds advanced so far."""
        return self._elapsed

    def uptime(self) -> Uptime:
        """Seconds advanced and slept through so far; no two mock machines were started together."""
        return Uptime(self._boot, self._elapsed + self._asleep)

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced this far; zero only yields."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._elapsed + seconds, future))
        await future

    async def until(self, moment: datetime) -> None:
        """Wait until the clock shows this moment, or was set."""
        if moment <= self._now:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((moment, future))
        try:
            await future
        finally:
            self._waiters = [one for one in self._waiters if one[1] is not future]

    @property
    def waited_for(self) -> list[datetime]:
        """The moments that somebody waits for, the first one first."""
        return sorted(moment for moment, _ in self._waiters)

    def set_to(self, moment: datetime) -> None:
        """Set the wall clock, as an owner or a time server does; no time passes."""
        self._now = moment
        self._ring(self._waiters)

    def suspend(self, seconds: float) -> None:
        """The machine sleeps: the wall clock goes on, monotonic time does not (as on Linux)."""
        self._now += timedelta(seconds=seconds)
        self._asleep += seconds
        self._ring(self._waiters)

    def off(self, seconds: float) -> None:
        """The machine is off, and started again: nothing tells how much time passed meanwhile."""
        self.set_to(self._now + timedelta(seconds=seconds))
        self._boot = f"mock {next(_MACHINES)}"

    def _ring(self, waiters: list[tuple[datetime, asyncio.Future[None]]]) -> None:
        for _, future in waiters:
            if not future.done():
                future.set_result(None)

    def advance(self, seconds: float) -> None:
        """Move time forward and wake the sleepers that are due."""
        self._elapsed += seconds
        self._now += timedelta(seconds=seconds)
        self._ring([one for one in self._waiters if one[0] <= self._now])
        due = [f for at, f in self._sleepers if at <= self._elapsed]
        self._sleepers = [(at, f) for at, f in self._sleepers if at > self._elapsed]
        for future in due:
            if not future.done():
                future.set_result(None)
