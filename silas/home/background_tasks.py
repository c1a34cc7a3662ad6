"""What runs beside an open Silas, and ends with it."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager


@asynccontextmanager
async def running(*tasks: Coroutine[object, object, None]) -> AsyncGenerator[None]:
    """Run these as long as this is open; at its end they are cancelled and waited for."""
    begun = {asyncio.create_task(one) for one in tasks}
    try:
        yield
    finally:
        for task in begun:
            task.cancel()
        if begun:
            await asyncio.wait(begun)
