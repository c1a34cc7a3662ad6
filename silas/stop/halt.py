"""Ends the work of one process when the stop comes and its event loop still answers."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from silas.errors import Stopped
from silas.stop.sentinel import Sentinel

T = TypeVar("T")


class StoppableWork:
    """The work under way on one event loop. What a blocked loop cannot end, the watch sees to."""

    def __init__(self, sentinel: Sentinel) -> None:
        self._sentinel = sentinel
        self._under_way: set[asyncio.Task[Any]] = set()
        self._cancelled: set[asyncio.Task[Any]] = set()
        self.begun = threading.Event()
        """Set when work begins: whoever watches for the stop looks more often from then on."""

    @property
    def busy(self) -> bool:
        """Whether work is still under way."""
        return bool(self._under_way)

    def require_running(self) -> None:
        """Raise `Stopped` where Silas is stopped."""
        self._sentinel.require_running()

    async def run_unless_stopped(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do something to its end, or cancel it when the stop comes. Does not nest in one task.

        Work that had come too far to be cancelled has its result all the same.

        Raises:
            Stopped: The stop came; the work was cancelled and has ended.
        """
        task = asyncio.current_task()
        if task is None or task in self._under_way:
            raise AssertionError("each work has a task of its own")
        self._under_way.add(task)
        self.begun.set()
        others = task.cancelling()
        try:
            return await work()
        except asyncio.CancelledError as error:
            if task not in self._cancelled or task.cancelling() > others + 1:
                raise  # somebody else wants it to end as well
            words = self._sentinel.words() or "Silas was stopped while this was under way."
            raise Stopped(words, code="E_STOPPED_EMERGENCY") from error
        finally:
            self._under_way.discard(task)
            if task in self._cancelled:
                self._cancelled.discard(task)
                task.uncancel()

    def ring(self) -> None:
        """Cancel what is under way, each thing once; on the event loop only."""
        for task in self._under_way - self._cancelled:
            self._cancelled.add(task)
            task.cancel()
