"""A disk that is full: no file of this process may grow beyond a limit while it lasts."""

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class Full:
    """Full from `now` until the block ends; a write beyond the limit fails in the kernel."""

    def __init__(self) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def now(self, path: Path, room: int = 0) -> None:
        """Nothing may be longer than this file is now, and so many bytes more."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room, self._before[1]))

    def over(self) -> None:
        """There is room again."""
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


@contextmanager
def full_disk() -> Generator[Full]:
    """Python ignores SIGXFSZ, so that the limit shows as EFBIG, which SQLite takes for an I/O
    error: what a full or a failing disk is to a program.
    """
    disk = Full()
    try:
        yield disk
    finally:
        disk.over()
