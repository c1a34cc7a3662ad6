"""The sandbox of a machine that has none: it refuses, and says why."""

from collections.abc import Sequence

from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.models import SandboxFiles, SandboxLimits, SandboxResult


class RefusingSandbox:
    """Stands where a sandbox should be, so that everything else still works."""

    name = "none"

    def __init__(self, reason: SandboxUnavailable) -> None:
        self.reason = reason

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Never runs anything."""
        del argv, limits, files
        raise self.reason
