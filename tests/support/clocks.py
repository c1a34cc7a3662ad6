"""Clocks that say what somebody waits for."""

import asyncio
from datetime import UTC, datetime, tzinfo
from typing import Any

from silas.testing import MockClock


def far_hour(zone: tzinfo = UTC) -> int:
    """An hour of the day, by the machine's clock six hours away at least: what is due then comes
    while no test runs. It is none that a day has twice, or not at all.
    """
    return 21 if 3 <= datetime.now(zone).hour < 15 else 9


class SleptClock(MockClock):
    """Says when somebody waits for a moment of its own.

    Attributes:
        waits: For how many seconds each of them did, in order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.slept = asyncio.Event()
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.slept.set()
        await super().sleep(seconds)

    async def slept_for(self, seconds: float) -> None:
        """Until somebody begins to wait for so long, from the last such call on."""
        while not any(abs(one - seconds) < 1 for one in self.waits):
            self.slept.clear()
            await self.slept.wait()
        self.waits.clear()

    async def slept_or_done(self, seconds: float, work: "asyncio.Task[Any]") -> None:
        """The same, or until this work has ended."""
        slept = asyncio.create_task(self.slept_for(seconds))
        await asyncio.wait({slept, work}, return_when=asyncio.FIRST_COMPLETED)
        slept.cancel()
