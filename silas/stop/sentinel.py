"""The file whose being there stops Silas; making it by hand is enough."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from silas.errors import Stopped

NAME = "STOPPED"
"""Of the file, in the data directory."""

_NOTE = b"Silas is stopped while this file is here; `silas resume` starts it again.\n"

RequireRunning = Callable[[], None]
"""Raises `Stopped` where Silas is stopped; costs one look at a directory."""


class Sentinel:
    """Answers whether Silas is stopped, by the file alone: no database, no lock, no loop.

    Only a file that is certainly not there means running. One that cannot be looked at, a link
    to nowhere, a directory of that name: all of them stop.
    """

    def __init__(self, folder: Path, zone: tzinfo = UTC) -> None:
        """Look in the data directory; nothing is made.

        Args:
            folder: The data directory.
            zone: Its owner's, in which the moment of the stop is told; UTC for what must stop
                whatever the configuration is, and where this machine knows no zones.
        """
        self._zone = zone
        self.folder = folder
        self.path = folder / NAME

    def stands(self) -> bool:
        """Whether Silas is stopped."""
        return bool(self.words())

    def words(self) -> str:
        """The sentence to say where Silas is stopped; empty where it is not."""
        try:
            at = datetime.fromtimestamp(os.lstat(self.path).st_mtime, self._zone)
            return (
                f"Silas is stopped since {at:%A %-d %B %Y, %H:%M} ({self._zone}); "
                "`silas resume` starts it again."
            )
        except FileNotFoundError:
            return ""
        except (OSError, ValueError, OverflowError):  # there, or not to be known: stopped
            return "Silas is stopped; `silas resume` starts it again."

    def require_running(self) -> None:
        """The check before anything is done.

        Raises:
            Stopped: The emergency stop is in force.
        """
        words = self.words()
        if words:
            raise Stopped(words, code="E_STOPPED_EMERGENCY")

    def place(self) -> bool:
        """Stop Silas; False where it was stopped already.

        Its being there is all that counts, so making it is one system call, and an empty file on a
        full disk stops as well.

        Raises:
            OSError: The file cannot be made.
        """
        try:
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o600)
        except FileExistsError:
            return False
        try:
            with suppress(OSError):
                os.write(descriptor, _NOTE)
        finally:
            os.close(descriptor)
        return True

    def keep(self) -> None:
        """Bring file and directory to the disk, so that a power loss does not resume anything.

        Raises:
            OSError: The disk refused; the stop holds until then.
        """
        for path in (self.path, self.folder):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def remove(self) -> None:
        """Let Silas go on; only `silas resume` does this, after the tokens are void.

        Raises:
            OSError: It cannot be removed; Silas stays stopped.
        """
        self.path.unlink(missing_ok=True)
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
