"""bubblewrap behind the sandbox port (spec 9.1, decision A20)."""

from collections.abc import Sequence
from contextlib import ExitStack

from silas.sandbox.launch import Launcher
from silas.sandbox.models import SandboxFiles, SandboxLimits, SandboxResult
from silas.sandbox.supervise import Run


class BubblewrapSandbox:
    """Runs commands under bubblewrap. Made by `silas.sandbox.default`, which probes first.

    What it does not do: limit how much a run writes in total to a writable mount, or shield the
    host's loopback services once a plan was approved with network.
    """

    def __init__(self, launcher: Launcher, *, count_processes: bool) -> None:
        self._launcher = launcher
        self._count_processes = count_processes

    @property
    def name(self) -> str:
        """The backend's name."""
        return "bubblewrap"

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Run a command; see the port."""
        with ExitStack() as owned:
            run = Run(limits, owned, count_processes=self._count_processes)
            launch = self._launcher.prepare(argv, limits, files, run.control, owned)
            return await run.result(launch)
