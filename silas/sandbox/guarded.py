"""The sandbox behind which secrets stay: given to a run by descriptor, taken out of what it says.

Everything that leaves a run goes through here: both streams, errors, and what the proxy was asked
for. So nothing above this ever has a secret to store, to show or to send on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pydantic import SecretBytes

from silas.errors import SandboxError, SilasError
from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.models import Credentials, SandboxFiles, SandboxLimits, SandboxResult
from silas.sandbox.network.traffic import DeniedTraffic, NetworkEvent, RecordTraffic
from silas.sandbox.port import Sandbox

Reveal = Callable[[Credentials], Awaitable[bytes]]
"""The secrets of one run as one JSON object; records their use first. Raises `SilasError`."""

Redact = Callable[[str, bool], str]
"""Text without secrets; true where the text was cut at a limit."""


class GuardedSandbox:
    """Another sandbox, from which no known secret comes out.

    Args:
        inner: What really runs.
        refresh: Learns every secret there is; raises `SilasError` where one cannot be opened.
        reveal: Opens the secrets that a run was promised.
        redact: Takes secrets out of a text.
    """

    def __init__(
        self, inner: Sandbox, refresh: Callable[[], None], reveal: Reveal, redact: Redact
    ) -> None:
        self._inner = inner
        self._refresh = refresh
        self._reveal = reveal
        self._redact = redact

    @property
    def name(self) -> str:
        """The backend's name."""
        return self._inner.name

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Run a command; see the port. What could not be kept out of sight is not run."""
        try:
            self._refresh()
            given = await self._guard_files(files)
        except SilasError as error:
            raise SandboxUnavailable(error.message, code="E_SANDBOX_SECRET") from error
        try:
            result = await self._inner.run(argv, limits, given)
        except SandboxError as error:
            clean = SandboxError(self._redact(error.message, False), code=error.code)
            if clean.message == error.message:
                raise
        else:
            return await self._clean_result(result)
        raise clean  # outside the handler, so that the other one does not travel along

    async def _clean_result(self, result: SandboxResult) -> SandboxResult:
        self._refresh()
        cut = result.ended_by != "exit"
        stdout, stderr = await asyncio.gather(
            asyncio.to_thread(self._redact, result.stdout, cut),
            asyncio.to_thread(self._redact, result.stderr, cut),
        )
        return result.model_copy(update={"stdout": stdout, "stderr": stderr})

    async def _guard_files(self, files: SandboxFiles) -> SandboxFiles:
        update: dict[str, object] = {"record": self._guard_record(files.record)}
        if files.credentials.refs:
            update["secrets"] = SecretBytes(await self._reveal(files.credentials))
        return files.model_copy(update=update)

    def _guard_record(self, record: RecordTraffic) -> RecordTraffic:
        async def clean(event: NetworkEvent) -> None:
            if isinstance(event, DeniedTraffic):
                event = event._replace(what=self._redact(event.what, False))
            await record(event)

        return clean
