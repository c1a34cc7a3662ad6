"""The tasks that a stop of Silas waits for: turns, and questions outside of them (spec 18.2)."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from silas.audit import Audit
from silas.clock import Clock


class TurnTasks:
    """Begins them, waits for them, and ends what is left after the grace period.

    Args:
        audit: Where it is recorded that some were cancelled.
        clock: Measures the grace period.
        grace_seconds: How long a stop waits for them.
    """

    def __init__(self, audit: Audit, clock: Clock, grace_seconds: float) -> None:
        self._audit = audit
        self._clock = clock
        self._grace_seconds = grace_seconds
        self._running: set[asyncio.Task[None]] = set()

    def begin(self, turn: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run it beside whoever asks."""
        task = asyncio.create_task(turn)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def wait(self) -> None:
        """Return when all that run now are over."""
        if self._running:
            await asyncio.wait(self._running)

    async def stop(self) -> None:
        """Give what runs the grace period; what is left then is cancelled, on record."""
        if not self._running:
            return
        grace = asyncio.ensure_future(self._clock.sleep(self._grace_seconds))
        turns = asyncio.ensure_future(asyncio.wait(set(self._running)))
        await asyncio.wait({grace, turns}, return_when=asyncio.FIRST_COMPLETED)
        grace.cancel()
        left = set(self._running)
        for turn in left:
            turn.cancel()
        if left:
            await self._audit.log("turns_cancelled", count=len(left))
        await turns
