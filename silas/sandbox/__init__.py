"""Where all foreign code runs: isolated, limited, leaving nothing behind. Starts every process."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.models import (
    Credentials,
    Mount,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxResult,
)
from silas.sandbox.network.names import Endpoint
from silas.sandbox.network.outside import NO_OUTSIDE, Outside
from silas.sandbox.network.traffic import (
    DeniedTraffic,
    HostOpened,
    NetworkEvent,
    RecordTraffic,
    Traffic,
)
from silas.sandbox.port import Sandbox
from silas.sandbox.refusing import RefusingSandbox
from silas.stop.runs import UNREGISTERED, Register

if TYPE_CHECKING:
    from silas.sandbox.capability import CapabilityCheck

__all__ = [
    "Credentials",
    "DeniedTraffic",
    "Endpoint",
    "HostOpened",
    "Mount",
    "NetworkEvent",
    "Outside",
    "RecordTraffic",
    "RefusingSandbox",
    "Sandbox",
    "SandboxConfig",
    "SandboxFiles",
    "SandboxLimits",
    "SandboxResult",
    "SandboxUnavailable",
    "Traffic",
    "default",
    "probe",
]


class HasSandboxConfig(Protocol):
    """A whole configuration, of which only this section matters here."""

    @property
    def sandbox(self) -> SandboxConfig:
        """The `sandbox:` section."""
        ...


def default(
    config: SandboxConfig | HasSandboxConfig,
    *,
    forbidden: tuple[Path, ...] = (),
    allowed: tuple[Path, ...] = (),
    outside: Outside = NO_OUTSIDE,
    register: Register = UNREGISTERED,
) -> Sandbox:
    """The strongest backend this machine has (spec 9.1).

    Args:
        config: Which backend is asked for: the `sandbox:` section, or what has one.
        forbidden: Silas's own directories; no mount may show them or what contains them.
        allowed: Exceptions inside them, such as the scratch directory of workspaces.
        outside: The network behind the proxy; without one no named host is ever reached.
        register: Who is told of every run, so that an emergency stop can end it.

    Raises:
        SandboxUnavailable: A part of the isolation is missing; the message says what to run.
    """
    config = config if isinstance(config, SandboxConfig) else config.sandbox
    if config.backend == "docker":
        from silas.sandbox.docker.probe import make_sandbox  # noqa: PLC0415 - see below

        return make_sandbox(config.base_image, forbidden, allowed, register)
    # Imported when needed: `silas --help` has no use for process machinery.
    from silas.sandbox.bubblewrap.process import BubblewrapSandbox  # noqa: PLC0415 - see above
    from silas.sandbox.capability import make_launcher, require  # noqa: PLC0415 - see above
    from silas.sandbox.mounts import Roots  # noqa: PLC0415 - see above

    machinery = require()
    launcher = make_launcher(machinery, Roots.of(forbidden, allowed))
    return BubblewrapSandbox(launcher, outside, register, count_processes=machinery.count_processes)


def probe(config: SandboxConfig) -> "list[CapabilityCheck]":
    """What the sandbox needs and whether it is here: (name, ok, words) for `silas doctor`."""
    if config.backend == "docker":
        from silas.sandbox.docker.probe import probe_docker  # noqa: PLC0415 - as below

        return probe_docker(config.base_image)
    from silas.sandbox.capability import probe as look  # noqa: PLC0415 - heavy, and rarely asked

    return look()
