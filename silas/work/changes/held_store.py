"""Verified changes that wait for the owner's yes: kept, shown, applied or dropped (B22).

They are kept before anybody is asked, so neither silence nor a crash loses them. A yes is a signed
approval whose subject is the digest of exactly these changes, and good for one use.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final, Literal, NamedTuple

from silas.approval import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalVerdict,
    ApprovalVerifier,
    Subject,
)
from silas.audit import Audit
from silas.errors import ApprovalError, SandboxError, SilasError, reason
from silas.language import tr, tr_many
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.plans.characters import show_exactly
from silas.plans.rules import is_item_id
from silas.stop.sentinel import RequireRunning
from silas.types import new_nonce
from silas.work.changes.file_recovery import FileRecovery
from silas.work.changes.held_rules import HeldPath
from silas.work.changes.recovery import applied_note
from silas.work.changes.task_workspace import write_back
from silas.work.changes.undo import Undo, next_place
from silas.work.changes.undo_record import SHOWN_PATHS
from silas.work.entry import taken_back
from silas.work.models import PATCH, Secrets
from silas.work.record import TaskRecord, result_of
from silas.work.report import AttemptOutput
from silas.work.uninterrupted import finish_work
from silas.workspace.kept_changes import KeptChanges
from silas.workspace.tree import remove_tree
from silas.workspace.undo import undo

CHANGES: Final = "changes"
"""The kind of an approval's subject that is a set of changes."""

_ABOUT = "held.json"
_DIFF_BYTES = 60_000  # of a diff on a card; `silas diff` has all of it


def changes_id(digest: str) -> str:
    """What an approval calls the changes of a digest."""
    return f"changes-{digest[:32]}"


class HeldChanges(NamedTuple):
    """Changes of one work item that wait.

    Attributes:
        work_item_id, title: Whose.
        paths: What of them needs the owner's word, and why. All or none of them are applied.
        sources: What was read from outside before the last call that followed it; empty where
            none did.
        result: How the work ends where they are applied.
        kept: The changes themselves.
    """

    work_item_id: str
    title: str
    paths: tuple[HeldPath, ...]
    sources: tuple[str, ...]
    result: WorkItemResult
    kept: KeptChanges

    @property
    def subject(self) -> Subject:
        """What the owner's yes binds."""
        digest, parent = self.kept.digest, self.work_item_id
        return Subject(
            id=changes_id(digest),
            kind=CHANGES,
            digest=digest,
            parent=parent,
            canonical=self.kept.canonical,
        )


HeldAnswer = Literal["apply", "drop", "keep"]

AskHeld = Callable[[HeldChanges, str], Awaitable[HeldAnswer]]
"""Shows changes that wait, with their diff; `keep` on anything but a clear word."""


class HeldStore:
    """The changes that wait, one set for a work item: a folder each, the newest counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ids(self) -> list[str]:
        """The work items of which changes wait, the oldest first."""
        known = [
            (p.stat().st_mtime_ns, p.name) for p in self._folder.glob("*") if self._newest_place(p)
        ]
        return [name for _, name in sorted(known)]

    def all(self) -> list[HeldChanges]:
        """Everything that waits and can be read."""
        return [held for name in self.ids() if (held := self.find(name)) is not None]

    def find(self, work_item_id: str) -> HeldChanges | None:
        """The changes of one item; None where none wait, or they cannot be read."""
        known = is_item_id(work_item_id)
        place = self._newest_place(self._folder / work_item_id) if known else None
        if place is None:
            return None
        try:
            about = json.loads((place / _ABOUT).read_bytes())
            return HeldChanges(
                work_item_id,
                str(about["title"]),
                tuple(HeldPath(str(one[0]), str(one[1])) for one in about["paths"]),
                tuple(map(str, about["sources"])),
                WorkItemResult.model_validate(about["result"]),
                KeptChanges.load(place),
            )
        except (OSError, ValueError, KeyError, TypeError, IndexError, SandboxError):
            return None

    def keep(
        self,
        title: str,
        paths: tuple[HeldPath, ...],
        sources: tuple[str, ...],
        result: WorkItemResult,
        copy: Callable[[Path], None],
    ) -> HeldChanges:
        """Put verified changes on the disk, whole or not at all; they replace former ones.

        Args:
            title, paths, sources, result: See `HeldChanges`.
            copy: Puts the changes into a directory.

        Raises:
            SandboxError: They could not be kept; nothing was applied.
        """
        target = self._folder / result.work_item_id
        making = target / f".new-{new_nonce()[:16]}"
        try:
            making.mkdir(parents=True, mode=0o700)
            copy(making)
            about = {
                "title": title,
                "paths": paths,
                "sources": sources,
                "result": result.model_dump(mode="json"),
            }
            (making / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
            place = next_place(target)
            os.rename(making, place)
        except (OSError, SandboxError) as error:
            remove_tree(making)
            raise SandboxError(
                f"The changes could not be kept ({reason(error)}); nothing was applied.",
                code="E_SANDBOX_KEPT",
            ) from error
        for former in target.glob("*"):
            if former.name < place.name:
                remove_tree(former)
        held = self.find(result.work_item_id)
        assert held is not None
        return held

    def waits(self, work_item_id: str) -> bool:
        """Whether changes of this item wait."""
        return self.find(work_item_id) is not None

    def drop(self, work_item_id: str) -> None:
        """Remove what is kept of an item."""
        target = self._folder / work_item_id
        if is_item_id(work_item_id) and target.is_dir():
            remove_tree(target)

    def _newest_place(self, kept: Path) -> Path | None:
        places = sorted(p for p in kept.glob("*") if p.name.isdecimal() and (p / _ABOUT).is_file())
        return places[-1] if places else None


class ChangeHolder:
    """Keeps changes, asks about them, and does what the owner says."""

    def __init__(
        self,
        held: HeldStore,
        undo_folder: Path,
        approval: ApprovalVerifier,
        store: WorkItemStore,
        audit: Audit,
        ask: AskHeld,
        secrets: Secrets,
        require_running: RequireRunning,
    ) -> None:
        self.held = held
        self._undo_folder = undo_folder
        self._undoing = Undo(undo_folder, audit)
        self._files = FileRecovery(undo_folder, audit)
        self._approval = approval
        self._store = store
        self._record = TaskRecord(store, audit)
        self._audit = audit
        self._ask = ask
        self._secrets = secrets
        self._require_running = require_running

    async def hold(
        self,
        item: WorkItem,
        copy: Callable[[Path], None],
        paths: tuple[HeldPath, ...],
        sources: tuple[str, ...],
        result: WorkItemResult,
    ) -> WorkItemResult:
        """Keep verified changes and record that they wait; nobody is asked yet."""
        keep = partial(self.held.keep, item.title, paths, sources, result, copy)
        held = await finish_work(asyncio.to_thread(keep))
        await self._audit.log(
            "changes_held",
            work_item_id=item.id,
            digest=held.kept.digest,
            paths=[one.path for one in paths][:SHOWN_PATHS],
            sources=len(sources),
        )
        return await self._block_item(item, held, _waiting_words(held))

    async def answer(self, item: WorkItem) -> WorkItemResult:
        """Ask about what is kept of an item, and apply or drop it as the owner says.

        Raises:
            SandboxError: Nothing of it waits.
        """
        held = self._find_held(item.id)
        answer = await self._ask(held, self._secrets.redact(await diff_of(held)))
        await self._audit.log(
            "changes_answered", work_item_id=item.id, digest=held.kept.digest, answer=answer
        )
        if answer == "apply":
            return await self._approve_changes(item, held)
        if answer == "drop":
            return await self.drop(item)
        return await self._block_item(item, held, _waiting_words(held))

    async def drop(self, item: WorkItem) -> WorkItemResult:
        """The owner does not want the changes; nothing of them is kept."""
        return await drop_changes(
            self._find_held(item.id), item, self.held, self._record, self._audit
        )

    async def drop_former(self, item: WorkItem) -> None:
        """Remove what a former run left waiting: a later one has come to its end."""
        held = self.held.find(item.id)
        if held is not None:
            await self._audit.log("changes_dropped", work_item_id=item.id, digest=held.kept.digest)
            self.held.drop(item.id)

    def _find_held(self, work_item_id: str) -> HeldChanges:
        held = self.held.find(work_item_id)
        if held is None:
            raise SandboxError(
                f"No changes of {work_item_id!r} wait for your answer; see `silas approvals list`.",
                code="E_SANDBOX_NOT_HELD",
            )
        return held

    async def _approve_changes(self, item: WorkItem, held: HeldChanges) -> WorkItemResult:
        try:
            # from here a cancellation comes too late: applied and recorded, or neither
            return await finish_work(self._apply_changes(item, held))
        except SilasError as error:
            said = error.message.rstrip(".")
            words = f"{said}. {_waiting_words(held)}"
            return await self._block_item(item, held, words)

    async def _apply_changes(self, item: WorkItem, held: HeldChanges) -> WorkItemResult:
        """Signed, spent, checked against what was signed, written, and recorded; in this order."""
        self._require_running()
        await self._files.require_whole(str(held.kept.original))
        taken = await taken_back(item, self._approval)
        if taken:
            raise ApprovalError(taken, code="E_APPROVAL_REVOKED")
        decision = ApprovalDecision(verdict=ApprovalVerdict.approved)
        token = await self._approval.issue_token(
            held.subject, decision, scope=ApprovalScope.single_step
        )
        await self._approval.require(token, held.subject)
        self._require_running()
        item.verification_results = list(held.result.verification_results)
        journal = self._undoing.latest_applied(item.id)
        if journal is not None and journal.changes == held.kept.changes:
            return await self._finish_item(item, held)  # a crash came after it, before the record
        place = next_place(self._undo_folder / item.id)
        paths = [change.path for change in held.kept.changes][:SHOWN_PATHS]
        # what cannot be recorded does not happen (decision B5)
        await self._audit.log("workspace_applying", work_item_id=item.id, paths=paths)
        note = applied_note(item, held.result)
        kept = KeptChanges.load(held.kept.directory)  # as they lie there now
        apply = partial(kept.apply, token.plan_hash, place, note)
        await asyncio.to_thread(write_back, place, apply)
        try:
            await self._audit.log("workspace_applied", work_item_id=item.id, paths=paths)
            return await self._finish_item(item, held)
        except Exception:  # whatever kept it from being recorded
            await asyncio.to_thread(undo, place)
            raise

    async def _finish_item(self, item: WorkItem, held: HeldChanges) -> WorkItemResult:
        result = await self._record.save_result(item, held.result)
        self.held.drop(item.id)
        return result

    async def _block_item(self, item: WorkItem, held: HeldChanges, words: str) -> WorkItemResult:
        done = held.result
        patch = done.artifacts.get(PATCH, "")
        result = result_of(
            item,
            WorkItemStatus.blocked,
            words,
            artifacts={PATCH: patch} if patch else {},
            left=AttemptOutput(done.output, done.report, done.grounds),
        )
        told = result.model_copy(update={"held": held.kept.digest})
        return await self._record.save_result(item, told)


async def diff_of(held: HeldChanges) -> str:
    """The changes against the original as it is now; words where that is not possible."""
    try:
        return await asyncio.to_thread(held.kept.diff, _DIFF_BYTES)
    except (SandboxError, OSError) as error:
        return f"They cannot be compared with the workspace any more: {reason(error)}.\n"


async def drop_changes(
    held: HeldChanges, item: WorkItem, store: HeldStore, record: TaskRecord, audit: Audit
) -> WorkItemResult:
    """Record that the owner does not want some changes, then remove them."""
    await audit.log("changes_dropped", work_item_id=item.id, digest=held.kept.digest)
    words = "You did not want its changes: nothing was applied, and they are gone."
    result = await record.record_end(item, WorkItemStatus.blocked, words)
    store.drop(item.id)
    return result


def _waiting_words(held: HeldChanges) -> str:
    waits = tr_many(
        len(held.kept.changes),
        "Nothing of it is applied yet: {count} change waits for your yes",
        "Nothing of it is applied yet: {count} changes wait for your yes",
    )
    first, more = held.paths[0], len(held.paths) - 1
    how = f"`silas approvals approve {held.work_item_id}`"
    others = tr(" (and {more} more)", more=more) if more else ""
    return tr(
        "{waits}, because of {path}{others}: {why}. Look at them, then apply or drop them: {how}.",
        waits=waits,
        path=show_exactly(first.path),
        others=others,
        why=first.why,
        how=how,
    )
