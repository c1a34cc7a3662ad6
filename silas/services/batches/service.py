"""Batches of files for commands and turns: the mover and what asks, over a database (5.2.4)."""

from collections.abc import AsyncGenerator, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.autonomy.calibrate import knobs
from silas.autonomy.signals import Noted, Signal
from silas.autonomy.store import SqlAutonomyStore
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.home.effective_clock import effective_time
from silas.language.calendar import moment_words
from silas.services.record import open_record, warn_if_changed
from silas.stop import Sentinel
from silas.types import OWNER
from silas.work.batches.execution import FAMILY, BatchExecution, UndoneBatch
from silas.work.batches.plan import FolderPlan, plan_folder
from silas.work.batches.proposals import Thresholds
from silas.work.batches.store import KeptBatch, SqlBatchStore

if TYPE_CHECKING:
    from silas.work.batches.models import FileBatch
    from silas.work.batches.review import FolderReview


def execution_over(config: SilasConfig, db: Database, audit: Audit, clock: Clock) -> BatchExecution:
    """The mover with its journal; it moves nothing while Silas is stopped or its record changed."""
    sentinel = Sentinel(config.data_dir, config.scheduler.zone)

    def require_ready() -> None:
        sentinel.require_running()
        audit.require_whole()

    return BatchExecution(
        SqlBatchStore(db),
        config.data_dir / "batches",
        audit,
        clock,
        require_ready,
        config.batch_review.undo_minutes,
        config.scheduler.zone,
    )


def thresholds_in_force(config: SilasConfig, db: Database) -> Thresholds:
    """As configured, or as the owner approved by a card since (spec 5.9)."""
    batches = config.batch_review
    known = knobs(config.autonomy, batches.default_size, batches.confidence.high_min)
    kept = SqlAutonomyStore(db).thresholds(OWNER)
    size, high = (
        known[key].in_force(kept.get(key))
        for key in ("batch_review.default_size", "batch_review.confidence.high_min")
    )
    return Thresholds(max(int(size), 1), high, min(batches.confidence.medium_min, high))


def review_over(
    config: SilasConfig,
    db: Database,
    approval: ApprovalVerifier,
    moving: BatchExecution,
    noted: Noted,
    audit: Audit,
    clock: Clock,
    shown: "MutableMapping[str, FileBatch]",
) -> "FolderReview":
    """What asks about a folder batch by batch."""
    from silas.work.batches.review import FolderReview  # noqa: PLC0415 - few turns need it

    return FolderReview(
        approval,
        moving,
        lambda: thresholds_in_force(config, db),
        noted,
        audit,
        clock,
        (config.data_dir, *config.keys.places),
        shown,
    )


@dataclass(frozen=True)
class BatchService:
    """Batches for the commands that look at them or take them back.

    Attributes:
        moving: The mover and its journal.
        noted: Learns from what is taken back.
        warnings: What the owner must be told.
        thresholds: What is in force.
        config, clock: Where Silas's data is, and what ages are counted from.
    """

    moving: BatchExecution
    noted: Callable[[Signal], object]
    warnings: list[str]
    thresholds: Thresholds
    config: SilasConfig
    clock: Clock

    def all(self) -> list[KeptBatch]:
        """The newest batches, the newest first, and every older one that can be taken back."""
        return self.moving.newest()

    def get(self, which: str) -> KeptBatch:
        """One batch. Raises as `BatchExecution.get`."""
        return self.moving.get(which)

    def undo_until(self, kept: KeptBatch) -> datetime | None:
        """Until when it can be taken back; None where it cannot."""
        return self.moving.undo_until(kept)

    def say_moment(self, moment: datetime) -> str:
        """A moment as a person says it, by the owner's clock."""
        return moment_words(moment, self.config.scheduler.zone)

    def plan(self, folder: Path, only: str) -> FolderPlan:
        """What would be proposed. Raises as `plan_folder`."""
        own = (self.config.data_dir, *self.config.keys.places)
        return plan_folder(folder, own, self.clock.now(), only)

    async def undo(self, which: str, numbers: Sequence[int]) -> UndoneBatch:
        """Take a batch back, or some of it. Raises as `BatchExecution.undo`."""
        await self.moving.recover()
        undone = await self.moving.undo(which, numbers)
        if undone.undone:
            self.noted(Signal(FAMILY, "undo"))
        return undone


@asynccontextmanager
async def open_batches(config: SilasConfig) -> "AsyncGenerator[BatchService]":
    """The batches of an initialised Silas, without starting anything else.

    Raises:
        ConfigError: Silas was not set up here.
    """
    warnings: list[str] = []
    clock = SystemClock()
    with open_record(config, warnings) as (db, audit, _):
        warn_if_changed(audit, warnings)
        time = effective_time(db, clock, audit)
        store = SqlAutonomyStore(db)

        def note_signal(signal: Signal) -> None:
            if config.autonomy.enabled:
                store.note(signal, clock.now())

        yield BatchService(
            execution_over(config, db, audit, time),
            note_signal,
            warnings,
            thresholds_in_force(config, db),
            config,
            time,
        )
