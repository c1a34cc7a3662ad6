"""When a process that stays looks for objects that nothing can reach any more."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from silas.clock import Clock

EVERY_SECONDS = 60.0
"""How often everything is searched; a thousand pages cost it a tenth of a second."""

_YOUNG, _MIDDLE = 10_000, 20
"""Objects that are made between two searches of the young, and these between two of the middle."""

_NEVER = 1_000_000_000


@asynccontextmanager
async def collect_by_clock(clock: Clock) -> AsyncGenerator[None]:
    """Search by the clock and not by what was made, and never again what is there already.

    What a start makes lives until the end. Searched with everything else, and that whenever enough
    was made, it stopped everything for a third of a second in the middle of a busy time. What no
    cycle holds is given back at once all the same. As it was before at the end.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    searching = asyncio.create_task(_regularly(clock))
    try:
        yield
    finally:
        searching.cancel()
        await asyncio.wait([searching])
        gc.set_threshold(*before)
        gc.unfreeze()


async def _regularly(clock: Clock) -> None:
    while True:
        await clock.sleep(EVERY_SECONDS)
        if any(gc.get_count()[1:]):  # else next to nothing was made: being idle costs nothing
            gc.collect()
