"""Undoing what a task changed in its workspace, exactly (decision B3)."""

import asyncio
from pathlib import Path

from silas.audit import Audit
from silas.errors import SandboxError
from silas.sandbox.undo import recover, undo


def next_place(kept: Path) -> Path:
    """A fresh directory for the next change of one work item; names sort by age."""
    numbers = [int(path.name) for path in kept.glob("*") if path.name.isdecimal()]
    return kept / f"{max(numbers, default=0) + 1:06d}"


class Undo:
    """Restores what verified work overwrote, created and deleted."""

    def __init__(self, folder: Path, audit: Audit) -> None:
        self._folder = folder
        self._audit = audit

    async def undo(self, work_item_id: str) -> None:
        """Restore the workspace to exactly what it was before this item last changed it.

        Raises:
            SandboxError: There is nothing to undo, or the files changed since.
        """
        kept = self._folder / work_item_id
        if Path(work_item_id).name != work_item_id or not kept.is_dir():
            raise SandboxError(
                f"There is nothing to undo for {work_item_id!r}; see `silas status` for the ids.",
                code="E_SANDBOX_NO_UNDO",
            )
        await asyncio.to_thread(undo, max(kept.iterdir()))
        await self._audit.log("workspace_undone", work_item_id=work_item_id)

    async def recover(self) -> None:
        """Bring workspaces that a crash caught half-changed back to what they were."""
        for place in sorted(self._folder.glob("*/*")):
            if await asyncio.to_thread(recover, place):
                await self._audit.log("workspace_recovered", work_item_id=place.parent.name)
