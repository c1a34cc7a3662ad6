"""The server's side of a request as ASGI hands it over, in types; and waiting no longer than so."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, TypeVar

from silas.clock import Clock

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

T = TypeVar("T")


async def wait_within(clock: Clock, seconds: float, wanted: Awaitable[T]) -> T | None:
    """What is awaited, or None where it takes longer; then it is cancelled.

    Raises:
        Exception: Whatever `wanted` raises.
    """
    work, timer = asyncio.ensure_future(wanted), asyncio.ensure_future(clock.sleep(seconds))
    try:
        await asyncio.wait({work, timer}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        for task in (work, timer):
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
