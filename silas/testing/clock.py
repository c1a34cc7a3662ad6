"""A clock that moves only when told."""

import asyncio
from datetime import UTC, datetime, timedelta


class MockClock:
    """Time for tests: `advance` moves it and wakes whoever slept past the new moment."""

    def __init__(self, start: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) -> None:
        self._now = start
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """The mock moment."""
        return self._now

    def monotonic(self) -> float:
        """Seconds advanced so far."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced this far; zero only yields."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._elapsed + seconds, future))
        await future

    def advance(self, seconds: float) -> None:
        """Move time forward and wake the sleepers that are due."""
        self._elapsed += seconds
        self._now += timedelta(seconds=seconds)
        due = [f for at, f in self._sleepers if at <= self._elapsed]
        self._sleepers = [(at, f) for at, f in self._sleepers if at > self._elapsed]
        for future in due:
            if not future.done():
                future.set_result(None)
