"""Reviewed batches from a look at a folder to its last card (spec 5.2.4, 5.9, 0.5.4)."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from silas.approval import ApprovalDecision, ApprovalScope, ApprovalVerdict, ApprovalVerifier
from silas.audit import Audit
from silas.autonomy.signals import Noted, Signal
from silas.cards import Card
from silas.cards.models import BatchAnswer
from silas.clock import Clock
from silas.work.batches import cards
from silas.work.batches.execution import (
    FAMILY,
    BatchExecution,
    MovedBatch,
    UndoneBatch,
    verdict_signal,
)
from silas.work.batches.folder_names import folder_name
from silas.work.batches.models import Band, FileBatch, FileMove, Folder, SkippedFile
from silas.work.batches.plan import FolderPlan, plan_folder, plan_named_folder
from silas.work.batches.proposals import (
    Thresholds,
    batch_subject,
    chunks,
    file_batch,
    in_bands,
    select_items,
)

AskCard = Callable[[Card[Any]], Awaitable[Any]]
"""Shows the owner a card; its safe answer where nobody answers."""

_MOST_TAUGHT: Final = 5  # endings that are asked about in one go
_DECLINED_IN_A_ROW: Final = 2
_EDITS: Final = 3  # selections of one batch, before it is left


class CardLapsed(Exception):
    """Nobody answered a card in its time: nothing was decided, and no other one is shown."""


class TidiedFolder(NamedTuple):
    """What became of a folder.

    Attributes:
        folder: Which.
        batches: Those that were approved.
        declined: How many batches were not.
        left: What no batch was about, and why.
        unseen: Files whose batches were not shown any more.
        lapsed: Whether a card got no answer, so that whoever asks again shows it again.
    """

    folder: Folder
    batches: tuple[MovedBatch, ...]
    declined: int
    left: tuple[SkippedFile, ...]
    unseen: int
    lapsed: bool = False

    @property
    def moved(self) -> int:
        """How many files were moved."""
        return sum(len(batch.moved) for batch in self.batches)


class FolderReview:
    """Asks about a folder's files batch by batch, and has the approved ones moved.

    Args:
        approval: Mints and verifies.
        execution: Moves, with its journal.
        thresholds: What is in force, asked anew each time: the owner changes it by cards.
        noted: Learns from each verdict.
        audit, clock: The record, and what dates it.
        own: Where Silas's own data is, and what opens the owner's key; they are never tidied.
        shown: Batches whose cards are open, by their ids; kept up to date here.
    """

    def __init__(
        self,
        approval: ApprovalVerifier,
        execution: BatchExecution,
        thresholds: Callable[[], Thresholds],
        noted: Noted,
        audit: Audit,
        clock: Clock,
        own: Sequence[Path],
        shown: MutableMapping[str, FileBatch],
    ) -> None:
        self._approval = approval
        self.execution = execution
        self._thresholds = thresholds
        self._noted = noted
        self._audit = audit
        self._clock = clock
        self._own = own
        self._shown = shown

    async def plan(self, path: Path, only: str = "") -> FolderPlan:
        """What could be moved in a folder; nothing is asked. Raises as `plan_folder`."""
        now = self._clock.now()
        return await asyncio.to_thread(plan_folder, path, self._own, now, only)

    def look(self, path: Path) -> FolderPlan:
        """The same at once, of a folder that the clock goes by.

        Raises:
            BatchRefused: As `plan_named_folder`.
        """
        return plan_named_folder(path, self._own, self._clock.now())

    def is_asked_about(self, folder: Folder) -> bool:
        """Whether a batch of this folder is on an open card."""
        return any(batch.folder.path == folder.path for batch in self._shown.values())

    async def tidy(self, path: Path, ask: AskCard, only: str = "") -> TidiedFolder:
        """Look, ask batch by batch, move what is approved.

        Args:
            path: The folder that the owner named.
            ask: Shows him a card; raises `CardLapsed` where no other one is to be shown.
            only: A pattern that files must fit.

        Raises:
            BatchRefused: The folder cannot be tidied; nothing was asked.
            Stopped: Silas is stopped, or its record changed; what was moved before is recorded.
        """
        return await self.ask_about(await self.plan(path, only), ask)

    async def ask_about(self, plan: FolderPlan, ask: AskCard, goal_id: str = "") -> TidiedFolder:
        """Ask batch by batch about what could be moved, for a goal or for nobody but the owner.

        Raises:
            BatchRefused: As `tidy`, as `Stopped` is.
        """
        run = _Run(self, ask, plan.folder, self._thresholds(), goal_id)
        lapsed = False
        try:
            await run.all(plan.moves)
        except CardLapsed:
            lapsed = True
        return TidiedFolder(
            plan.folder,
            tuple(run.moved),
            run.declined,
            (*plan.left, *run.left),
            run.unseen,
            lapsed,
        )

    async def undo(self, batch_id: str, numbers: Sequence[int] = ()) -> UndoneBatch:
        """Take a batch back, or some of it, and learn from that. Raises as `BatchExecution`."""
        undone = await self.execution.undo(batch_id, numbers)
        if undone.undone:
            await self._noted(Signal(FAMILY, "undo"))
        return undone

    async def ask_owner(
        self, batch: FileBatch, ask: AskCard, number: int, of: int, *, picked: bool
    ) -> BatchAnswer:
        """The owner's answer to a batch's card; while it is open pictures of it can be had."""
        batch_id = batch.proposal.batch_id
        self._shown[batch_id] = batch
        try:
            digest = batch_subject(batch).digest
            card = cards.batch_card(batch, digest, number, of, picked=picked)
            answer: BatchAnswer = await ask(card)
            return answer
        finally:
            del self._shown[batch_id]

    async def record_verdict(self, batch: FileBatch, verdict: str) -> None:
        """Record a verdict and learn from it (5.2.4 step 7)."""
        await self._audit.log(
            "batch_reviewed",
            batch_id=batch.proposal.batch_id,
            folder=str(batch.folder.path),
            verdict=verdict,
            items=len(batch.moves),
            band=batch.band.value,
        )
        await self._noted(Signal(FAMILY, verdict_signal(verdict)))

    async def move(self, batch: FileBatch) -> MovedBatch:
        """Have moved what the owner just approved: a token over exactly these items, spent once.

        Raises:
            ApprovalError: It does not verify; nothing was moved.
        """
        subject = batch_subject(batch)
        token = await self._approval.issue_token(
            subject,
            ApprovalDecision(verdict=ApprovalVerdict.approved),
            scope=ApprovalScope.connection_act,
        )
        await self._approval.require(token, batch_subject(batch))
        return await self.execution.run(batch, subject.digest, token.token_id)

    def rebuilt(self, batch: FileBatch, item_ids: Sequence[str]) -> FileBatch | None:
        """A new proposal of a strict subset; None where it is none."""
        return select_items(batch, item_ids, self._clock.now())

    def batches(
        self, folder: Folder, moves: Sequence[FileMove], band: Band, size: int, goal_id: str = ""
    ) -> list[FileBatch]:
        """Proposals of the configured size."""
        now = self._clock.now()
        return [file_batch(folder, chunk, band, now, goal_id) for chunk in chunks(moves, size)]


class _Run:
    """One folder's cards, in the order of their bands."""

    def __init__(
        self,
        review: FolderReview,
        ask: AskCard,
        folder: Folder,
        thresholds: Thresholds,
        goal_id: str,
    ) -> None:
        self._goal_id = goal_id
        self._review = review
        self._ask = ask
        self._folder = folder
        self._thresholds = thresholds
        self._row = 0  # batches declined one after the other
        self._over = False
        self.moved: list[MovedBatch] = []
        self.left: list[SkippedFile] = []
        self.declined = 0
        self.unseen = 0

    async def all(self, moves: Sequence[FileMove]) -> None:
        """High confidence first, what no rule knows last (5.9)."""
        bands = in_bands(moves, self._thresholds)
        await self._batches(
            [
                batch
                for band in (Band.high, Band.medium)
                for batch in self._make_batches(bands[band], band)
            ]
        )
        await self._attention(bands[Band.low])
        await self._ask_teaching(bands[Band.novel])

    def _make_batches(self, moves: Sequence[FileMove], band: Band) -> list[FileBatch]:
        size = self._thresholds.size
        return self._review.batches(self._folder, moves, band, size, self._goal_id)

    async def _batches(self, batches: Sequence[FileBatch]) -> None:
        for at, batch in enumerate(batches):
            if not self._over and self._row >= _DECLINED_IN_A_ROW:
                card = cards.go_on_card(self._folder, len(batches) - at)
                self._over = not (await self._ask(card)).approved
                self._row = 0
            if self._over:
                self.unseen += len(batch.moves)
                continue
            await self._one(batch, at + 1, len(batches))

    async def _one(self, batch: FileBatch, number: int, of: int) -> None:
        """One batch until it is approved, declined, or edited too often; an edited one is asked
        about anew, because its items are others than those that were shown.
        """
        picked = False
        for _ in range(_EDITS):
            answer = await self._review.ask_owner(batch, self._ask, number, of, picked=picked)
            if answer.verdict == "edit_selection" and not answer.selected_item_ids:
                continue  # where nothing is chosen nothing was decided: it is shown again
            await self._review.record_verdict(batch, answer.verdict)
            if answer.verdict == "approve":
                self.moved.append(await self._review.move(batch))
                self._row = 0
                return
            if answer.verdict != "edit_selection":
                break
            chosen = self._review.rebuilt(batch, answer.selected_item_ids)
            if chosen is not None:
                self._leave(batch, chosen)
                batch, picked = chosen, True
        self.declined += 1
        self._row += 1

    def _leave(self, batch: FileBatch, chosen: FileBatch) -> None:
        kept = set(chosen.moves)
        self.left += [
            SkippedFile(move.name, "you did not choose it")
            for move in batch.moves
            if move not in kept
        ]

    async def _attention(self, moves: Sequence[FileMove]) -> None:
        if not moves or self._over:
            self.unseen += len(moves)
            return
        answer = await self._ask(cards.attention_card(self._folder, moves))
        if answer.selected_value == "batch":
            self._row = 0
            await self._batches(self._make_batches(moves, Band.low))
        else:
            self.left += [SkippedFile(move.name, move.reason) for move in moves]

    def _is_folder(self, name: str) -> bool:
        return (self._folder.path / name).is_dir()

    async def _ask_teaching(self, moves: Sequence[FileMove]) -> None:
        """The endings with the most files are asked about; the others stay, and are told."""
        by_ending = [
            (ending, list(of))
            for ending, of in groupby(sorted(moves, key=lambda m: m.group), lambda m: m.group)
        ]
        by_ending.sort(key=lambda one: (-len(one[1]), one[0]))
        taught: list[FileMove] = []
        for at, (ending, alike) in enumerate(by_ending):
            target = ""
            if at < _MOST_TAUGHT and not self._over:
                answer = await self._ask(cards.teaching_card(self._folder, ending, alike))
                kind = cards.taught_folder(answer.selected_value)
                target = folder_name(kind, self._is_folder) if kind else ""
            if target:
                taught += [move._replace(target=target, reason="you said so") for move in alike]
            else:
                self.left += [SkippedFile(move.name, move.reason) for move in alike]
        self._row = 0
        await self._batches(self._make_batches(taught, Band.novel))
