"""The emergency stop from any door, in the order that leaves no gap (decision B10).

Imports nothing but `silas.stop`: whoever stops Silas must not wait for imports, a configuration
that is wrong, a model, a queue or a healthy event loop.
"""

from contextlib import suppress
from pathlib import Path

from silas.stop import Sentinel, end_runs
from silas.stop.runs import RunsEnded

_BURIAL_SECONDS = 2.0  # the kernel takes milliseconds; a machine out of memory takes longer


class StopNow:
    """One emergency stop: `place`, so that nothing new begins, then `kill`, then `keep`.

    Attributes:
        sentinel: The file that says that Silas is stopped.
        failure: Why the file could not be made; what runs is killed all the same.
    """

    def __init__(self, folder: Path) -> None:
        """For one data directory; nothing is stopped yet."""
        self.sentinel = Sentinel(folder)
        self.failure: OSError | None = None

    def place(self) -> bool:
        """Refuse every effect from here on; returns whether Silas was not stopped before."""
        try:
            return self.sentinel.place()
        except OSError as error:
            self.failure = error
            return False

    def kill(self) -> RunsEnded:
        """Kill the tools that run, of every process on the directory; waits for their end."""
        return end_runs(self.sentinel.folder, _BURIAL_SECONDS)

    def keep(self) -> None:
        """Let the stop outlive a power loss, which may take its time; it holds without that."""
        with suppress(OSError):  # the database says so as well
            self.sentinel.keep()
