"""One process at a time picks up interrupted work; a second one must not run it again."""

import fcntl
import os
from pathlib import Path
from typing import Self


class Lease:
    """An advisory lock on a file; the operating system gives it back when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.held = False

    def __enter__(self) -> Self:
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.held = True
        except BlockingIOError:
            self.held = False
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._file)
        self.held = False
