"""The port behind which all foreign code runs (spec 4.6, 4.7, 9.1)."""

from collections.abc import Sequence
from typing import Protocol

from silas.sandbox.models import SandboxFiles, SandboxLimits, SandboxResult


class Sandbox(Protocol):
    """Runs one command, isolated, and leaves nothing behind."""

    @property
    def name(self) -> str:
        """The backend, for `silas doctor` and the audit: `bubblewrap`."""
        ...

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Run an argument list to its end or to a limit; cancellation kills everything in it.

        Raises:
            SandboxUnavailable: A part of the isolation is missing; nothing was run.
            SandboxError: The sandbox could not be set up as asked; nothing was run.
        """
        ...
