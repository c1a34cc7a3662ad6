"""Work whose changes a crash caught applied and not yet recorded: recorded, not repeated (B4)."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from silas.audit import Audit
from silas.errors import SandboxError
from silas.plans import WorkItem, WorkItemResult, WorkItemStore
from silas.sandbox.journal import Journal
from silas.sandbox.tree import remove_tree
from silas.work.record import TaskRecord
from silas.work.unbroken import unbroken
from silas.work.undo import SHOWN_PATHS, Undo


def applied_note(item: WorkItem, result: WorkItemResult) -> str:
    """What the journal of a change keeps: under which approval, and what is to be recorded."""
    return json.dumps({"token": _token(item), "result": result.model_dump(mode="json")})


def _token(item: WorkItem) -> str:
    return "" if item.approval_token is None else item.approval_token.token_id


class Recovery:
    """Finishes the record of what was applied before a crash.

    A token is spent on one run, and a run applies its verified changes once, as its last step. So
    a whole change under the item's own token means that the run had come to its end.
    """

    def __init__(self, undoing: Undo, scratch: Path, store: WorkItemStore, audit: Audit) -> None:
        self._undoing = undoing
        self._record = TaskRecord(store, audit)
        self._audit = audit
        self._scratch = scratch

    async def swept(self) -> None:
        """Remove the private copies that a crash left; whatever resumes makes a fresh one."""
        await unbroken(asyncio.to_thread(_sweep, self._scratch))

    async def finished(self, item: WorkItem) -> bool:
        """Record an interrupted item as done where its changes were applied; False where not.

        Raises:
            DatabaseError: It could not be recorded; the next start tries again.
        """
        journal = self._undoing.applied(item.id)
        result = None if journal is None else _result(journal, item)
        if journal is None or result is None:
            return False
        paths = [change.path for change in journal.changes][:SHOWN_PATHS]
        await self._audit.log("workspace_applied_before", work_item_id=item.id, paths=paths)
        item.verification_results = result.verification_results
        item.budget_used = result.budget_used
        await self._record.finished(item, result)
        return True


def _sweep(scratch: Path) -> None:
    with suppress(OSError, SandboxError):  # what cannot be removed now is removed by its next run
        for leftover in sorted(scratch.iterdir()):
            remove_tree(leftover)


def _result(journal: Journal, item: WorkItem) -> WorkItemResult | None:
    """What this item's own run meant to record; None where the journal is of another."""
    try:
        note = json.loads(journal.note)
        if not _token(item) or note["token"] != _token(item):
            return None
        result = WorkItemResult.model_validate(note["result"])
    except (ValueError, KeyError, TypeError, ValidationError):
        return None  # a journal of an earlier version: the item resumes
    return result if result.work_item_id == item.id else None
