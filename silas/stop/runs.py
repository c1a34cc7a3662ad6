"""Which sandbox runs are alive, as names of files, so that another process can kill them.

A run is entered before its command starts, and only then asks whether Silas is stopped; whoever
stops makes the sentinel first and reads the register afterwards. One of the two therefore always
sees the other, and no run slips through between them.
"""

import os
import re
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from silas.stop.sentinel import Sentinel

FOLDER = "runs"
"""Of the register, in the data directory."""

_NAME = re.compile(r"(\d+)-(\d+)_(\d+)-(\d+)_(\d+)_([0-9a-f-]+)", re.ASCII)
_STARTED = 19  # the field of /proc/PID/stat behind the name: start time in ticks since boot


class Register(Protocol):
    """Where a sandbox reports its runs."""

    def require_running(self) -> None:
        """Raise `Stopped` where nothing may start."""
        ...

    def enter(self, outer: int, init: int) -> Callable[[], None]:
        """Tell of a run whose command waits to start.

        Args:
            outer: The process that keeps the sandbox; killing it kills everything inside.
            init: The first process inside.

        Returns:
            What to call when the run is buried.

        Raises:
            Stopped: Nothing may start.
            OSError: It cannot be entered, so nobody could stop it; it must not start.
        """
        ...


class Unregistered:
    """For a sandbox outside any Silas: there is no data directory, and so no emergency stop."""

    def require_running(self) -> None:
        """There is nobody to ask."""

    def enter(self, outer: int, init: int) -> Callable[[], None]:
        """Nobody is told."""
        del outer, init
        return _nothing


UNREGISTERED = Unregistered()


class RunRegister:
    """The runs of every process on one data directory.

    The name of a file says everything: both processes with their start times, so that a number
    that was given to somebody else is never killed, and the process namespace and boot in which
    the numbers mean anything.
    """

    def __init__(self, sentinel: Sentinel) -> None:
        self._sentinel = sentinel
        self._folder = sentinel.folder / FOLDER

    def require_running(self) -> None:
        """Raise `Stopped` where Silas is stopped."""
        self._sentinel.require_running()

    def enter(self, outer: int, init: int) -> Callable[[], None]:
        """See `Register.enter`."""
        pair = "_".join(f"{pid}-{_start_time(pid)}" for pid in (outer, init))
        path = self._folder / f"{pair}_{_numbers_mean()}"
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        try:
            self.require_running()
        except BaseException:
            _forget(path)
            raise
        return lambda: _forget(path)


class RunsEnded(NamedTuple):
    """What became of the runs: how many were killed, and how many the kernel still holds."""

    killed: int
    left: int


def end_runs(folder: Path, patience_seconds: float = 0.0) -> RunsEnded:
    """Kill every registered run, whoever started it; needs nobody's help.

    Args:
        folder: The data directory.
        patience_seconds: How long to wait for the kernel to have removed all of it.
    """
    killed: list[int] = []
    try:
        for path, pids in _list_runs(folder / FOLDER):
            alive = [found for pid, start in pids if (found := _kill(pid, start)) is not None]
            killed += alive[-1:]  # the inner one: it is gone when all that was inside is
            for other in alive[:-1]:
                os.close(other)
            if not alive:
                _forget(path)  # of a process that could not tidy up
        left = sum(not _wait_until_gone(process, patience_seconds) for process in killed)
    finally:
        for process in killed:
            os.close(process)
    return RunsEnded(len(killed), left if patience_seconds else 0)


def _list_runs(folder: Path) -> Iterator[tuple[Path, list[tuple[int, int]]]]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    here = _numbers_mean()
    for name in names:
        said = _NAME.fullmatch(name)
        if said and f"{said[5]}_{said[6]}" == here:
            numbers = [int(said[at]) for at in range(1, 5)]
            yield folder / name, [(numbers[0], numbers[1]), (numbers[2], numbers[3])]


def _kill(pid: int, start: int) -> int | None:
    """A descriptor of the killed process; None where it is over."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    # The descriptor holds this very process: a number that is given away later is not hit.
    with suppress(ProcessLookupError):
        if _start_time(pid) == start and not _wait_until_gone(process, 0.0):
            with suppress(PermissionError):  # it will show among those that are left
                signal.pidfd_send_signal(process, signal.SIGKILL)
            return process
    os.close(process)
    return None


def _wait_until_gone(process: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _start_time(pid: int) -> int:
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError as error:
        raise ProcessLookupError(pid) from error
    return int(told.rpartition(b")")[2].split()[_STARTED])


def _numbers_mean() -> str:
    """Which process namespace of which boot."""
    space = os.stat("/proc/self/ns/pid").st_ino
    return f"{space}_{Path('/proc/sys/kernel/random/boot_id').read_text().strip()}"


def _forget(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _nothing() -> None:
    return
