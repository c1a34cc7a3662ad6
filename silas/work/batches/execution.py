"""Carrying out an approved batch, taking it back, and what a crash left (0.5.5, B4, B18)."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.audit import Audit
from silas.autonomy.signals import Decision
from silas.clock import Clock
from silas.errors import SandboxError, Stopped
from silas.language import tr_later
from silas.work.batches import mover
from silas.work.batches.models import BatchRefused, FileBatch, FileMove, Folder, SkippedFile
from silas.work.batches.store import ItemState, KeptBatch, KeptItem, SqlBatchStore
from silas.work.uninterrupted import finish_work
from silas.workspace.journal import hold_journal

FAMILY: Final = "batch:files"
"""What verdicts about these batches are learned under."""

KEPT: Final = timedelta(days=30)
"""So long after its files were moved a batch is still listed."""

SHOWN_PATHS: Final = 100
_States = dict[int, tuple[ItemState, str]]
_NOT_BEGUN: Final = "Silas ended before it was moved"


class MovedBatch(NamedTuple):
    """How a batch ended.

    Attributes:
        batch_id: Which.
        moved: Its files that were moved, by number.
        left: Those that stay, and why.
        undo_until: Until when they can be taken back with one word, by the owner's clock.
    """

    batch_id: str
    moved: tuple[KeptItem, ...]
    left: tuple[SkippedFile, ...]
    undo_until: datetime


ALL: Final = "all"
"""Names every batch that can still be taken back."""


class UndoneBatch(NamedTuple):
    """What was taken back of a batch, and what was not, with why."""

    batch_id: str
    undone: tuple[KeptItem, ...]
    left: tuple[SkippedFile, ...]


class BatchExecution:
    """The mover and its journal: what is moved is in the journal first.

    Args:
        store: The journal.
        folder: Where a directory a batch is held while it is under way.
        audit: The record; what cannot be recorded is not done.
        clock: Dates everything.
        require_ready: Raises `Stopped` where Silas is, or its record changed.
        undo_minutes: How long a batch can be taken back.
        zone: The owner's.
    """

    def __init__(
        self,
        store: SqlBatchStore,
        folder: Path,
        audit: Audit,
        clock: Clock,
        require_ready: Callable[[], None],
        undo_minutes: int,
        zone: ZoneInfo,
    ) -> None:
        self.store = store
        self._folder = folder
        self._audit = audit
        self._clock = clock
        self._require_ready = require_ready
        self._window = timedelta(minutes=undo_minutes)
        self._zone = zone

    async def run(self, batch: FileBatch, digest: str, token_id: str) -> MovedBatch:
        """Move what an approval that was verified and spent is for; each file or not at all.

        Raises:
            BatchRefused: The folder is another one now; nothing was moved.
            Stopped: Silas was stopped before the first file was moved.
            DatabaseError: It could not be recorded; nothing was moved.
        """
        self._require_ready()
        self.store.prune(self._clock.now() - KEPT)
        batch_id, moves = batch.proposal.batch_id, batch.moves
        with mover.open_folder(batch.folder) as root, hold_journal(self._place(batch_id)):
            made = mover.missing_folders(root, [move.target for move in moves])
            self.store.begin(
                batch,
                digest,
                token_id,
                made,
                self._clock.now(),
                lambda: self._audit.log_now(
                    "batch_moving",
                    batch_id=batch_id,
                    folder=str(batch.folder.path),
                    items=len(moves),
                    digest=digest,
                ),
            )
            states: _States = {n: (ItemState.left, _NOT_BEGUN) for n in range(1, len(moves) + 1)}
            try:
                for number, move in enumerate(moves, 1):
                    self._require_ready()
                    await finish_work(asyncio.to_thread(_move_one, root, number, move, states))
            except Stopped as stopped:
                if not any(state is ItemState.moved for state, _ in states.values()):
                    raise
                states = {
                    n: (state, stopped.message if why == _NOT_BEGUN else why)
                    for n, (state, why) in states.items()
                }
            finally:
                moved = [n for n, (state, _) in states.items() if state is ItemState.moved]
                if not moved:
                    mover.remove_empty(root, made)
                self._record_end(
                    batch_id,
                    batch.folder,
                    states,
                    "batch_moved",
                    [moves[n - 1].goal for n in moved],
                )
        return self._moved_batch(batch_id)

    async def undo(self, batch_id: str, numbers: Sequence[int] = ()) -> UndoneBatch:
        """Take back a whole batch, only its files with these numbers, or every batch by `all`.

        Raises:
            BatchRefused: There is no such batch or number, or the time to undo it is over.
            SandboxError: Another process is at it.
        """
        if batch_id.strip().casefold() == ALL and not numbers:
            return await self._undo_all()
        kept = self.get(batch_id)
        self._undoable_items(kept, numbers)
        with mover.open_folder(kept.folder) as root, hold_journal(self._place(kept.id)):
            self._audit.require_whole()
            kept = self.get(kept.id)  # nobody else is at it from here on
            chosen = self._undoable_items(kept, numbers)
            paths = [item.move.name for item in chosen][:SHOWN_PATHS]
            self.store.undoing(
                kept.id,
                [item.number for item in chosen],
                lambda: self._audit.log_now(
                    "batch_undoing",
                    batch_id=kept.id,
                    folder=str(kept.folder.path),
                    items=len(chosen),
                    paths=paths,
                ),
            )
            states: _States = {item.number: (ItemState.moved, item.why) for item in chosen}
            try:
                for item in chosen:
                    await finish_work(asyncio.to_thread(_move_one_back, root, item, states))
            finally:
                done = [item for item in chosen if states[item.number][0] is ItemState.undone]
                mover.remove_empty(root, kept.made)
                names = [item.move.name for item in done]
                self._record_end(kept.id, kept.folder, states, "batch_undone", names)
        left = tuple(
            SkippedFile(item.move.goal, states[item.number][1])
            for item in chosen
            if item not in done
        )
        return UndoneBatch(kept.id, tuple(done), left)

    async def _undo_all(self) -> UndoneBatch:
        """Take back every batch whose time is not over, the newest first."""
        undone: list[KeptItem] = []
        left: list[SkippedFile] = []
        for kept in self.newest(0):
            if self.undo_until(kept):
                one = await self.undo(kept.id)
                undone += one.undone
                left += one.left
        if not undone and not left:
            raise BatchRefused(
                tr_later("No batch can be taken back any more, so there is nothing to undo."),
                code="E_BATCH_NO_UNDO",
            )
        return UndoneBatch(ALL, tuple(undone), tuple(left))

    def newest(self, most: int = 50) -> list[KeptBatch]:
        """The newest batches, the newest first, and every older one that can be taken back."""
        return self.store.newest(most, self._clock.now() - self._window)

    def get(self, which: str) -> KeptBatch:
        """A batch by its id or the beginning of it; the newest by `last`.

        Raises:
            BatchRefused: `E_BATCH_UNKNOWN`: there is none, or more than one that begins so.
        """
        word = which.strip().casefold()
        if word in ("", "last"):
            found = self.newest(1)[:1]
        else:
            found = self.store.list_by_prefix(
                word if word.startswith("batch-") else f"batch-{word}"
            )
        if len(found) == 1:
            return found[0]
        many = f"There is more than one batch {which!r}; `silas batch list` has the ids."
        none = f"There is no batch {which!r}; `silas batch list` has the ids."
        raise BatchRefused(many if found else none, code="E_BATCH_UNKNOWN")

    def undo_until(self, kept: KeptBatch) -> datetime | None:
        """Until when it can be taken back; None where that is over or nothing was moved."""
        if kept.ended_at is None or not kept.in_state(ItemState.moved):
            return None
        until = kept.ended_at + self._window
        return until if self._clock.now() < until else None

    async def recover(self) -> list[str]:
        """Find out how every batch stands that nobody is at any more; nothing is moved on.

        What was moved before a crash is moved, and can be taken back from now on; the rest stays.

        Returns:
            The ids of those that a crash had interrupted.
        """
        settled: list[str] = []
        for found in self.store.list_unsettled():
            try:
                with hold_journal(self._place(found.id)):
                    kept = self._find_unsettled(found.id)
                    if kept is None:
                        continue  # whoever was at it has ended it
                    states = await finish_work(asyncio.to_thread(_settle_states, kept))
                    at = [n for n, (state, _) in states.items() if state is ItemState.moved]
                    goals = [item.move.goal for item in kept.items if item.number in at]
                    self._record_end(kept.id, kept.folder, states, "batch_recovered", goals)
            except (BatchRefused, SandboxError, OSError):
                continue  # its folder lets nobody look, or somebody is at it: another time
            settled.append(found.id)
        return settled

    def _find_unsettled(self, batch_id: str) -> KeptBatch | None:
        return next((one for one in self.store.list_unsettled() if one.id == batch_id), None)

    def _undoable_items(self, kept: KeptBatch, numbers: Sequence[int]) -> list[KeptItem]:
        moved = kept.in_state(ItemState.moved)
        if unknown := sorted(set(numbers) - {item.number for item in kept.items}):
            raise BatchRefused(
                f"This batch has no file number {unknown[0]}; it has 1 to {len(kept.items)}.",
                code="E_BATCH_UNKNOWN",
            )
        chosen = [item for item in moved if not numbers or item.number in numbers]
        if not chosen:
            raise BatchRefused(
                tr_later("Nothing of that is moved any more, so there is nothing to undo."),
                code="E_BATCH_NO_UNDO",
            )
        if kept.ended_at is not None and self.undo_until(kept) is None:
            ended = (kept.ended_at + self._window).astimezone(self._zone)
            wall = f"{ended:%A} {ended.day} {ended:%B %Y, %H:%M}"
            raise BatchRefused(
                f"The time to undo this batch ended on {wall}; "
                "`silas batch show` names each file and where it is, to move it by hand.",
                code="E_BATCH_NO_UNDO",
            )
        return chosen

    def _place(self, batch_id: str) -> Path:
        place = self._folder / batch_id
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        return place

    def _moved_batch(self, batch_id: str) -> MovedBatch:
        kept = self.get(batch_id)
        left = tuple(
            SkippedFile(item.move.name, item.why) for item in kept.in_state(ItemState.left)
        )
        moved = tuple(kept.in_state(ItemState.moved))
        until = (kept.ended_at or self._clock.now()) + self._window
        return MovedBatch(batch_id, moved, left, until.astimezone(self._zone))

    def _record_end(
        self,
        batch_id: str,
        folder: Folder,
        states: _States,
        event: str,
        paths: list[str],
    ) -> None:
        self.store.save_end(
            batch_id,
            [(number, state, why) for number, (state, why) in states.items()],
            self._clock.now(),
            lambda: self._audit.log_now(
                event,
                batch_id=batch_id,
                folder=str(folder.path),
                items=len(paths),
                paths=paths[:SHOWN_PATHS],
            ),
        )


def _move_one(root: int, number: int, move: FileMove, states: _States) -> None:
    """Move one file and say so in the same breath: who waits for it may be cancelled meanwhile."""
    why = mover.move_file(root, move)
    states[number] = (ItemState.left, why) if why else (ItemState.moved, "")


def _move_one_back(root: int, item: KeptItem, states: _States) -> None:
    """As `_move_one`, for one file that goes back."""
    why = mover.move_back(root, item.move)
    states[item.number] = (ItemState.moved if why else ItemState.undone, why)


def _settle_states(kept: KeptBatch) -> _States:
    """Where each file is that was under way; a folder that moving made and that is empty goes."""
    states: _States = {}
    with mover.open_folder(kept.folder) as root:
        for item in kept.items:
            if item.state not in (ItemState.planned, ItemState.undoing):
                continue
            if mover.settle(root, item.move):
                states[item.number] = (ItemState.moved, "")
            elif item.state is ItemState.undoing:
                states[item.number] = (ItemState.undone, "")
            else:
                states[item.number] = (ItemState.left, _NOT_BEGUN)
        mover.remove_empty(root, kept.made)
    return states


def verdict_signal(verdict: str) -> Decision:
    """An answer as what is learned from."""
    signals: dict[str, Decision] = {"approve": "approved", "edit_selection": "edit_selection"}
    return signals.get(verdict, "declined")
