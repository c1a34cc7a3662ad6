"""Who picks up interrupted work: a process that is alone, so that nothing is run twice.

Interrupted work is picked up only by a process that no other one stands beside, and only by
commands that stay: `chat`, `start`, or a program that opens Silas.
"""

import asyncio
import fcntl
import os
from pathlib import Path
from typing import Self

_FREE, _ALONE = fcntl.LOCK_SH, fcntl.LOCK_EX | fcntl.LOCK_NB


class Lease:
    """Every Silas on a data directory holds one; the first may recover what a crash left.

    Work of another living process looks just like interrupted work, so only a process that is
    alone may resume anything. While it looks for interrupted work the others wait at the door;
    after `settle` they come in, and none of them is alone any more. The locks are the operating
    system's: they end with the process, however it ends.

    Attributes:
        alone: Whether no other process is here, until `settle`.
    """

    def __init__(self, folder: Path) -> None:
        self._present = _open(folder / "silas.lock")
        self._door = _open(folder / "silas.door")
        self.alone = False

    async def __aenter__(self) -> Self:
        # Whoever has the door is the only one who may try to be alone, so that `settle` can give
        # up the exclusive lock without anybody taking it in between.
        if _lock_file(self._door):
            self.alone = _lock_file(self._present)
        if not self.alone:
            try:
                # in a thread: another process, or another Silas in this one, may be recovering
                await asyncio.to_thread(fcntl.flock, self._present, _FREE)
            except BaseException:
                self._close()
                raise
            fcntl.flock(self._door, fcntl.LOCK_UN)
        return self

    def settle(self) -> None:
        """Recovery is over: stay, and let others in."""
        fcntl.flock(self._present, _FREE)
        fcntl.flock(self._door, fcntl.LOCK_UN)
        self.alone = False

    async def __aexit__(self, *error: object) -> None:
        self._close()

    def _close(self) -> None:
        for file in (self._present, self._door):
            os.close(file)
        self.alone = False


class JobsLease:
    """Which process of a home runs jobs: the first that takes this, until it ends.

    A process that stays takes it as soon as it is free. The lock is the operating system's: it ends
    with the process, however it ends.
    """

    def __init__(self, folder: Path) -> None:
        self._file = _open(folder / "silas.jobs")

    def take(self) -> bool:
        """Whether it is this process; asked as often as one likes."""
        return _lock_file(self._file)

    def close(self) -> None:
        """Leave it to another process."""
        os.close(self._file)


def runs_jobs(folder: Path) -> bool:
    """Whether a process runs the jobs of a home now."""
    lease = JobsLease(folder)
    try:
        return not lease.take()
    finally:
        lease.close()


def _open(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)


def _lock_file(file: int) -> bool:
    try:
        fcntl.flock(file, _ALONE)
    except BlockingIOError:
        return False
    return True
