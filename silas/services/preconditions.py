"""What must hold before anything has an effect: not stopped, an unchanged record, a sandbox."""

from collections.abc import Awaitable, Callable

from silas.audit.kept_head import KeptAuditLog
from silas.plans import WorkItem
from silas.sandbox import RefusingSandbox, Sandbox
from silas.stop import Sentinel
from silas.work.changes.undo import Undo


class Preconditions:
    """Refuses effects that could not be stopped, recorded, contained or taken back.

    Args:
        sentinel: Whether Silas is stopped.
        record: The audit log, which knows whether it was changed.
        sandbox: Where work would run.
        undoing: Knows the workspaces that a crash left half-changed.
        refresh: Brings the tools of others up to what is trusted now.
    """

    def __init__(
        self,
        sentinel: Sentinel,
        record: KeptAuditLog,
        sandbox: Sandbox,
        undoing: Undo,
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._sentinel = sentinel
        self._record = record
        self._sandbox = sandbox
        self._undoing = undoing
        self._refresh = refresh

    def require_ready(self) -> None:
        """Before anything has an effect: raises `Stopped` where Silas is, or its record changed."""
        self._sentinel.require_running()
        self._record.require_whole()

    async def require_able(self, item: WorkItem) -> None:
        """Before a plan is asked about.

        Raises:
            Stopped: As `require_ready`.
            SandboxUnavailable: There is no sandbox here.
            SandboxError: Its workspace was left half-changed by a crash.
        """
        self.require_ready()
        if isinstance(self._sandbox, RefusingSandbox):
            raise self._sandbox.reason
        await self._undoing.files.require_whole(item.workspace)
        await self._refresh()
