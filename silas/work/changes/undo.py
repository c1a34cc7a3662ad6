"""Undoing what a task changed in its workspace, exactly (decision B3)."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from silas.audit import Audit
from silas.errors import DatabaseError, SandboxError, reason
from silas.plans.rules import is_item_id
from silas.work.changes.file_recovery import FileRecovery, UnreadableChange, half_error
from silas.work.changes.undo_record import SHOWN_PATHS, hold_mark, record_outcome
from silas.work.uninterrupted import finish_work
from silas.workspace.journal import Journal, read_journal
from silas.workspace.tree import TreeEntry
from silas.workspace.undo import undo

_UNTOUCHED = TreeEntry("dir", 0, "", 0)


def next_place(kept: Path) -> Path:
    """A fresh directory for the next change of one work item; names sort by age."""
    numbers = [int(path.name) for path in kept.glob("*") if path.name.isdecimal()]
    return kept / f"{max(numbers, default=0) + 1:06d}"


def _journal(place: Path) -> Journal | None:
    try:
        return read_journal(place)
    except SandboxError:
        return None  # nothing was changed from here


def _shared_path(journal: Journal, later: Journal) -> str | None:
    """A path that both changed, or that later work made in a directory that would go."""
    mine = {journal.root / change.path: change.before for change in journal.changes}
    for change in later.changes:
        path = later.root / change.path
        if path in mine:
            return str(path)
        for above in path.parents:
            before = mine.get(above, _UNTOUCHED)
            if before is None or before.kind != "dir":
                return str(path)
    return None


class Undo:
    """Restores what verified work overwrote, created and deleted.

    Attributes:
        files: What a crash left half-changed in the same folder.
    """

    def __init__(self, folder: Path, audit: Audit) -> None:
        self._folder = folder
        self._audit = audit
        self.files = FileRecovery(folder, audit)

    async def undo(self, work_item_id: str) -> None:
        """Restore the workspace to exactly what it was before the item's last change that stands.

        What a crash left half-changed is brought back first; where that was this item's last
        change, it is all there is to do.

        Raises:
            Stopped: The record was changed outside Silas; nothing was restored.
            SandboxError: There is nothing to undo, or the files changed since, by later work (which
                is named) or by somebody else.
        """
        if work_item_id in await self.files.recover(work_item_id):
            return
        for half in self.files.list_left():
            if half.work_item_id == work_item_id:
                raise half_error(half, half.words)
        self._audit.require_whole()
        place, journal = self._latest_journal(work_item_id)
        self._refuse_before_later(work_item_id, journal)
        paths = [change.path for change in journal.changes][:SHOWN_PATHS]

        async def put_back() -> None:
            with hold_mark(place):
                await self._audit.log("workspace_undoing", work_item_id=work_item_id, paths=paths)
                try:
                    await asyncio.to_thread(undo, place)
                except (SandboxError, OSError) as error:
                    with suppress(DatabaseError):  # the mark stays, and the next start settles it
                        await record_outcome(place, self._audit, why=reason(error))
                    raise
                await record_outcome(place, self._audit, why="")

        await finish_work(put_back())

    def require_readable(self, names: Collection[str]) -> None:
        """Refuse where what work of these ids changed cannot be read any more.

        Raises:
            SandboxError: E_SANDBOX_HALF, with what to do.
        """
        for half in self.files.list_left():
            if isinstance(half, UnreadableChange) and half.work_item_id in names:
                raise SandboxError(half.words, code="E_SANDBOX_HALF")

    def _latest_journal(self, work_item_id: str) -> tuple[Path, Journal]:
        kept = self._folder / work_item_id
        known = is_item_id(work_item_id) and kept.is_dir()
        places = sorted((p for p in kept.iterdir() if p.name.isdecimal()) if known else ())
        found = [(place, journal) for place in places if (journal := _journal(place))]
        standing = [(place, journal) for place, journal in found if journal.phase != "undone"]
        if standing:
            return standing[-1]
        raise SandboxError(
            f"Everything that {work_item_id} changed was undone already; an undo is not undone, "
            "but its plan can run again."
            if found
            else f"There is nothing to undo for {work_item_id!r}; see `silas status` for the ids.",
            code="E_SANDBOX_NO_UNDO",
        )

    def latest_applied(self, work_item_id: str) -> Journal | None:
        """The journal of the item's last change that stands whole; None where there is none."""
        try:
            _, journal = self._latest_journal(work_item_id)
        except SandboxError:
            return None
        return journal if journal.phase == "applied" else None

    def stands(self, work_item_id: str) -> bool:
        """Whether a change of the item, or half of one, was not undone."""
        try:
            self._latest_journal(work_item_id)
        except SandboxError:
            return False
        return True

    def is_undone(self, work_item_id: str) -> bool:
        """Whether the item changed something, and all of it was undone."""
        found = self._journals(work_item_id)
        return bool(found) and all(one is not None and one.phase == "undone" for one in found)

    def undone_at(self, work_item_id: str) -> datetime | None:
        """When the item's change was last undone; None where it was not, or nobody knows when."""
        last = max((one.undone for one in self._journals(work_item_id) if one), default=0)
        return datetime.fromtimestamp(last / 1e9, UTC) if last else None

    def _journals(self, work_item_id: str) -> list[Journal | None]:
        """Of each change of an item; None for one that cannot be read."""
        kept = self._folder / work_item_id
        if not is_item_id(work_item_id) or not kept.is_dir():
            return []
        return [_journal(place) for place in kept.iterdir() if place.name.isdecimal()]

    def _refuse_before_later(self, work_item_id: str, journal: Journal) -> None:
        """What came last goes first: later work began on what this item left."""
        for place in sorted(self._folder.glob("*/*")):
            later = _journal(place)
            if later is None or later.phase != "applied" or later.began <= journal.began:
                continue
            shared = _shared_path(journal, later)
            if shared is not None:
                name = place.parent.name
                raise SandboxError(
                    f"Nothing was undone: {name} changed {shared!r} after {work_item_id}. "
                    f"Undo that first: `silas undo {name}`.",
                    code="E_SANDBOX_CONFLICT",
                )
