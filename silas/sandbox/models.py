"""What a sandbox is given and what it gives back (spec 3.7, 9.1; decision A20)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretBytes, field_validator

from silas.sandbox.network.names import Endpoint
from silas.sandbox.network.traffic import RecordTraffic, Traffic, record_nothing
from silas.types import FrozenModel

Hear = Callable[[bytes], None]
"""Told what a command puts out, piece by piece, as it comes; cheap, and does not raise."""


def unheard(piece: bytes) -> None:
    """Nobody listens."""
    del piece


class SandboxLimits(FrozenModel):
    """Ceilings for one run. All are enforced; reaching one ends the run.

    Attributes:
        memory_mb: Address space per process and resident memory of all processes together.
        cpu_seconds: CPU time per process.
        processes: Processes and threads alive at once.
        file_mb: The size of any one file written.
        output_bytes: Of stdout and of stderr each; what is over is cut and the run ended.
        wall_seconds: Elapsed time.
    """

    memory_mb: int = Field(default=512, ge=16)
    cpu_seconds: int = Field(default=60, ge=1)
    processes: int = Field(default=64, ge=1)
    file_mb: int = Field(default=256, ge=1)
    output_bytes: int = Field(default=100_000, ge=1)
    wall_seconds: float = Field(default=300.0, gt=0)


class Mount(FrozenModel):
    """A host path made visible inside, at the same or another path."""

    source: Path
    target: Path
    writable: bool = False


class Credentials(FrozenModel):
    """Which secrets a run is promised: references, never values.

    Attributes:
        refs: Reference by name, as the approved plan has them.
        work_item_id: Whose plan that is.
    """

    refs: dict[str, str] = Field(default_factory=dict[str, str])
    work_item_id: str = ""


class SandboxFiles(FrozenModel):
    """What a run can see and where it stands. Nothing else of the host is visible.

    Attributes:
        cwd: Working directory inside; created empty and writable when no mount covers it.
        mounts: In order; a later mount may cover part of an earlier one.
        path: Directories in which commands are looked for, before those of the system; each is
            shown read-only.
        env: Environment besides PATH, HOME and LANG. Never inherited.
        home: HOME inside; a private, empty directory unless a mount covers it.
        stdin: Bytes for standard input; empty means closed.
        network: The hosts and ports it may reach, through the proxy alone. Empty means no network.
        record: Where the proxy tells what it connects and refuses; by default nobody, so nothing.
        hear: Who is told what it puts out while it runs, besides the result; by default nobody.
        loopback: Whether TCP works on the sandbox's own loopback, which reaches nothing outside:
            for tests that start a server. Without it, and without network, there is no TCP.
        credentials: The secrets it is promised; by default none.
        secrets: The document of their values, which it inherits as a descriptor; empty means no
            descriptor. Set by `GuardedSandbox` in the moment of the run, and by nobody else.
    """

    cwd: Path
    mounts: tuple[Mount, ...] = ()
    path: tuple[Path, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    home: Path = Path("/tmp/home")  # noqa: S108 - inside the sandbox, where /tmp is private
    stdin: bytes = b""
    network: tuple[Endpoint, ...] = ()
    record: RecordTraffic = record_nothing
    hear: Hear = unheard
    loopback: bool = False
    credentials: Credentials = Credentials()
    secrets: SecretBytes = SecretBytes(b"")


EndedBy = Literal["exit", "signal", "timeout", "memory", "processes", "output", "cancelled"]


class SandboxResult(FrozenModel):
    """What happened, decided by the supervisor outside.

    Attributes:
        exit_code: The command's own; 128 + signal when it was killed.
        stdout, stderr: At most `output_bytes` each, decoded as UTF-8 with replacement.
        ended_by: `exit`, or which limit ended it.
        duration_seconds: Elapsed time.
        traffic: What passed between it and each host it reached.
    """

    exit_code: int
    stdout: str
    stderr: str
    ended_by: EndedBy
    duration_seconds: float
    traffic: tuple[Traffic, ...] = ()

    @property
    def ok(self) -> bool:
        """Ended by itself with exit code 0."""
        return self.ended_by == "exit" and self.exit_code == 0


class ToolsConfig(FrozenModel):
    """Which of the owner's tools runs may use (`sandbox.tools`).

    Attributes:
        discover: Whether they are looked for at all; without it there are the system's commands.
        add: Further directories of programs, absolute or with `~`; each is shown read-only.
    """

    discover: bool = True
    add: tuple[Path, ...] = ()

    @field_validator("add")
    @classmethod
    def _absolute(cls, value: tuple[Path, ...]) -> tuple[Path, ...]:
        places = tuple(Path(os.path.expanduser(path)) for path in value)
        if bad := next((path for path in places if not path.is_absolute()), None):
            raise ValueError(f"must be absolute paths, or begin with `~`; {bad} is neither")
        return places


class SandboxConfig(FrozenModel):
    """The `sandbox:` section of the configuration (spec 11).

    Attributes:
        backend: `subprocess` is bubblewrap; `docker` a container engine on this machine.
        base_image: What is inside a container; it must be here already.
        default_memory_mb, default_cpu_seconds: Limits where a plan names none.
        verify_dir: Where verification keeps its scratch; differs from `customer_context_dir`.
        customer_context_dir: Inside the data directory, not world-writable.
        tools: What commands there are besides the system's.
    """

    backend: Literal["subprocess", "docker"] = "subprocess"
    base_image: str = "python:3.12-slim"
    default_memory_mb: int = Field(default=512, ge=16)
    default_cpu_seconds: int = Field(default=60, ge=1)
    verify_dir: Path = Path("verify")
    customer_context_dir: Path = Path("customer_context")
    tools: ToolsConfig = ToolsConfig()
