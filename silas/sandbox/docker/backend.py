"""Docker behind the sandbox port (spec 9.1)."""

from collections.abc import Sequence
from contextlib import ExitStack

from silas.errors import SandboxError
from silas.sandbox.docker.command import DockerCommands
from silas.sandbox.docker.engine import Engine
from silas.sandbox.docker.supervisor import DockerRun
from silas.sandbox.models import SandboxFiles, SandboxLimits, SandboxResult
from silas.stop.runs import Register


class DockerSandbox:
    """Runs commands in containers. Made by `silas.sandbox.default`, which probes first.

    What it does not do: let a run reach named hosts, and limit how much a run writes in total to a
    writable mount.
    """

    def __init__(self, engine: Engine, boxer: DockerCommands, register: Register) -> None:
        self._engine = engine
        self._boxer = boxer
        self._register = register

    @property
    def name(self) -> str:
        """The backend and the digest of its image, so that an approval binds both."""
        return f"docker {self._engine.image}"

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Run a command; see the port. While Silas is stopped it raises `Stopped`."""
        self._register.require_running()
        if files.network:
            names = ", ".join(str(endpoint) for endpoint in files.network)
            raise SandboxError(
                f"This run asks for {names}, and a container reaches no host at all; set "
                "`sandbox.backend: subprocess`, which lets it reach exactly those.",
                code="E_SANDBOX_NETWORK",
            )
        if files.secrets:
            raise SandboxError(
                "This run is promised secrets, and a container cannot inherit them unseen; set "
                "`sandbox.backend: subprocess`.",
                code="E_SANDBOX_SECRETS",
            )
        with ExitStack() as owned:
            container = self._boxer.prepare(argv, limits, files, owned)
            run = DockerRun(self._engine.client, container, limits, self._register, owned)
            return await run.result(files.hear)
