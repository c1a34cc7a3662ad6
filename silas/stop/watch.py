"""A thread that notices the stop, whatever the event loop is doing."""

import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from silas.stop.halt import StoppableWork
from silas.stop.runs import end_runs
from silas.stop.sentinel import Sentinel

PERIOD_SECONDS = 0.05
"""Between two looks while work is under way or Silas is stopped. One look is one system call, and
works on every file system, which notifications do not."""

REST_SECONDS = 0.5
"""Between two looks while there is nothing to end; work that begins does not wait for the next."""

GRACE_LOOKS = 60
"""How many looks, about three seconds, a process has to end its work by itself."""


def never_end() -> None:
    """What a program does that Silas is only a part of: Silas may refuse, but not end it."""


class Watch:
    """Kills the runs of this data directory, then asks the event loop to end the rest.

    Args:
        sentinel: What to look at.
        loop: Where the work is.
        notice: Called on the loop at every look while stopped; whether the work has ended.
        overdue: Called in the thread, once a stop, when `notice` did not say so in time.
        work: What is under way; the less there is, the fewer looks.
    """

    def __init__(
        self,
        sentinel: Sentinel,
        loop: AbstractEventLoop,
        notice: Callable[[], bool],
        overdue: Callable[[], None],
        work: StoppableWork,
    ) -> None:
        self._sentinel = sentinel
        self._loop = loop
        self._notice = notice
        self._overdue = overdue
        self._work = work
        self._closing = False
        self._answered = True
        self._idle = False
        self._late = 0
        self._thread = threading.Thread(target=self._watch, name="silas-stop", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closing = True
        self._work.begun.set()
        self._thread.join()

    def _watch(self) -> None:
        stopped = True
        while not self._closing:
            self._work.begun.wait(PERIOD_SECONDS if stopped or self._work.busy else REST_SECONDS)
            self._work.begun.clear()
            stopped = self._sentinel.stands()
            if stopped:
                self._check_stop()
            else:
                self._idle, self._late = False, 0

    def _check_stop(self) -> None:
        with suppress(OSError):  # the stopping process kills as well, and says what it could not
            end_runs(self._sentinel.folder)
        self._late = 0 if self._answered and self._idle else self._late + 1
        if self._answered:
            self._answered = False
            with suppress(RuntimeError):  # the loop has ended, and its work with it
                self._loop.call_soon_threadsafe(self._on_loop)
        if self._late == GRACE_LOOKS:
            self._overdue()

    def _on_loop(self) -> None:
        self._idle = self._notice()
        self._answered = True
