"""Clocks that say what somebody waits for."""

import asyncio
from typing import Any

from silas.testing import MockClock


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
