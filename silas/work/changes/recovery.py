"""Work whose changes a crash caught applied and not yet recorded: recorded, not repeated (B4)."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from silas.audit import Audit
from silas.canonical import canonical_json
from silas.errors import SandboxError
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.work.changes.undo import Undo
from silas.work.changes.undo_record import SHOWN_PATHS
from silas.work.record import TaskRecord
from silas.work.uninterrupted import finish_work
from silas.workspace.journal import Journal
from silas.workspace.tree import remove_tree

_ENDS: Mapping[str, str] = {
    "work_item_finished": "",
    "work_item_not_begun": "",
    "work_item_cancelled": "paused",
    "work_item_stopped": "paused",
}
"""The entries that end a run, and the status of an item whose entry does not say it."""

_OPEN = frozenset({WorkItemStatus.pending, WorkItemStatus.running})


class RecoveryAudit(Audit, Protocol):
    """The audit log, to write and to look back in."""

    def newest_first(self, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Event and data of the entries that hold this text, the newest first."""
        ...


def applied_note(item: WorkItem, result: WorkItemResult) -> str:
    """What the journal of a change keeps: under which approval, and what is to be recorded."""
    return json.dumps({"token": _token(item), "result": result.model_dump(mode="json")})


def _token(item: WorkItem) -> str:
    return "" if item.approval_token is None else item.approval_token.token_id


class Recovery:
    """Finishes the record of what was applied before a crash.

    A token is spent on one run, and a run applies its verified changes once, as its last step. So
    a whole change under the item's own token means that the run had come to its end. So does an
    entry that says so: what stands in the item's own row is believed only as far as the record.
    """

    def __init__(
        self, undoing: Undo, scratch: Path, store: WorkItemStore, audit: RecoveryAudit
    ) -> None:
        self._undoing = undoing
        self._record = TaskRecord(store, audit)
        self._store = store
        self._audit = audit
        self._scratch = scratch

    async def remove_copies(self) -> None:
        """Remove the private copies that a crash left; whatever resumes makes a fresh one."""
        await finish_work(asyncio.to_thread(_sweep, self._scratch))

    async def finish_recorded(self, item: WorkItem) -> bool:
        """Record an interrupted item as ended where it had ended; False where it had not.

        Raises:
            DatabaseError: It could not be recorded; the next start tries again.
        """
        ended = self._recorded_end(item)
        if ended is not None:
            item.status = ended
            await self._store.save(item)
            await self._audit.log("work_item_had_ended", work_item_id=item.id, status=ended.value)
            return True
        journal = self._undoing.latest_applied(item.id)
        result = None if journal is None else _result(journal, item)
        if journal is None or result is None:
            return False
        paths = [change.path for change in journal.changes][:SHOWN_PATHS]
        await self._audit.log("workspace_applied_before", work_item_id=item.id, paths=paths)
        item.verification_results = result.verification_results
        item.budget_used = result.budget_used
        await self._record.save_result(item, result)
        return True

    def _recorded_end(self, item: WorkItem) -> WorkItemStatus | None:
        """How its run under this approval ended, as the record has it; None where it did not."""
        for event, about in self._audit.newest_first(canonical_json(item.id)):
            if about.get("work_item_id") != item.id:
                continue
            if event == "approval.used" and about.get("token_id") == _token(item):
                return None
            if event in _ENDS:
                return _status(about.get("status", _ENDS[event]))
        return None


def _status(said: object) -> WorkItemStatus:
    known = [status for status in WorkItemStatus if status.value == said]
    return known[0] if known and known[0] not in _OPEN else WorkItemStatus.blocked


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
