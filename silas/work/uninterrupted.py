"""Letting a step end that must not stop half-way."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def finish_work(work: Coroutine[Any, Any, T]) -> T:
    """Wait for work to its end, whoever cancels meanwhile; the cancellation is passed on then.

    A thread cannot be cancelled: without this its caller would go on, and clean up, beside it.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        error = None if task.cancelled() else task.exception()
        raise asyncio.CancelledError from error
    return task.result()
