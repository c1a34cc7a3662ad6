"""Processes of one home tell each other that the table of jobs changed: one byte through a pipe.

Nobody polls: a process that waits has a named pipe of its own in a directory, and whoever changes
the table writes into each of them.
"""

import asyncio
import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from silas.types import new_id

_ENDING = ".pipe"
_ABOUT = "."  # behind what a pipe is about, which has none in it
_READ_AT_ONCE = 4096


class ProcessNotifier:
    """The pipes of a home.

    Args:
        folder: Where they are, readable by the owner alone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mine = ""
        self._heard = _nobody

    def notify(self) -> None:
        """Wake whoever waits, here and elsewhere, once the transaction that is open has ended.

        No transaction is open across an await, so the event loop's next turn is after it.
        """
        self._heard()
        try:
            asyncio.get_running_loop().call_soon(self._write)
        except RuntimeError:
            self._write()

    def _write(self) -> None:
        with suppress(OSError):  # nobody ever waited: there is no directory
            for path in self._folder.glob(f"*{_ENDING}"):
                if path.name != self._mine:
                    _write_one(path)

    def is_heard(self, about: str) -> bool:
        """Whether anybody else listens and has said that it is about this."""
        found = self._folder.glob(f"{about}{_ABOUT}*{_ENDING}")
        return any(_has_reader(path) for path in found if path.name != self._mine)

    @contextmanager
    def listening(self, heard: Callable[[], None], about: str = "") -> Generator[None]:
        """Call `heard` whenever anybody changed the table, as long as this is open.

        Args:
            heard: What is called.
            about: What this is about, for `is_heard`: letters and digits.

        Raises:
            OSError: The pipe cannot be made.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        whose = f"{about}{_ABOUT}" if about else ""
        self._mine = f"{whose}{new_id('jobs')}{_ENDING}"
        path = self._folder / self._mine
        draft = path.with_suffix(".new")  # a pipe that nobody reads would be taken for a dead one's
        os.mkfifo(draft, 0o600)
        # open for both: with the last writer gone it would be readable for ever
        pipe = os.open(draft, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        draft.rename(path)
        loop = asyncio.get_running_loop()

        def read() -> None:
            with suppress(BlockingIOError):
                os.read(pipe, _READ_AT_ONCE)
            heard()

        loop.add_reader(pipe, read)
        self._heard = heard
        try:
            yield
        finally:
            self._heard = _nobody
            loop.remove_reader(pipe)
            path.unlink(missing_ok=True)
            os.close(pipe)


def _nobody() -> None:
    """Nobody waits in this process."""


def _open(path: Path) -> int | None:
    """The pipe, to write; None where its reader crashed, and then the pipe is gone."""
    try:
        return os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:  # its reader crashed; else it may be there still
            path.unlink(missing_ok=True)
        return None


def _has_reader(path: Path) -> bool:
    pipe = _open(path)
    if pipe is not None:
        os.close(pipe)
    return pipe is not None


def _write_one(path: Path) -> None:
    pipe = _open(path)
    if pipe is None:
        return
    try:
        with suppress(BlockingIOError, BrokenPipeError):  # full: it will be read anyway
            os.write(pipe, b"\n")
    finally:
        os.close(pipe)
