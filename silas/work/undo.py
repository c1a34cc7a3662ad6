"""Undoing what a task changed in its workspace, exactly (decision B3)."""

import asyncio
from pathlib import Path

from silas.audit import Audit
from silas.errors import SandboxError
from silas.sandbox.workspace import undo


class Undo:
    """Restores what verified work overwrote, created and deleted."""

    def __init__(self, folder: Path, audit: Audit) -> None:
        self._folder = folder
        self._audit = audit

    async def undo(self, work_item_id: str) -> None:
        """Restore the workspace to exactly what it was before this item changed it.

        Raises:
            SandboxError: There is nothing to undo, or the files changed since.
        """
        kept = self._folder / work_item_id
        if Path(work_item_id).name != work_item_id or not kept.is_dir():
            raise SandboxError(
                f"There is nothing to undo for {work_item_id!r}.", code="E_SANDBOX_NO_UNDO"
            )
        await asyncio.to_thread(undo, kept)
        await self._audit.log("workspace_undone", work_item_id=work_item_id)
