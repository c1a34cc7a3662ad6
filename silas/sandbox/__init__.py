"""Where all foreign code runs: isolated, limited, leaving nothing behind. Starts every process."""

from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.models import (
    Mount,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxResult,
)
from silas.sandbox.port import Sandbox

__all__ = [
    "Mount",
    "Sandbox",
    "SandboxConfig",
    "SandboxFiles",
    "SandboxLimits",
    "SandboxResult",
    "SandboxUnavailable",
]
