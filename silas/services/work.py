"""Pieces of work: what every door shows of one, and the service of the commands about them."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.damage import DamagedRow, skip_damaged
from silas.db import Database
from silas.errors import DatabaseError, SandboxError
from silas.home.crash_recovery import recover_after_crash
from silas.home.damaged_rows import all_damaged
from silas.home.effective_clock import effective_time
from silas.home.lease import Lease
from silas.home.runtime import sandbox_of
from silas.language import tr
from silas.memory.forgotten import ForgottenLog
from silas.plans import WaitingPlan, WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.plans.projects.kept import with_tasks
from silas.plans.store import SqlWorkItemStore, missing_item
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.services.batches.service import execution_over
from silas.services.owner_key import settle_succession
from silas.services.record import open_record, warn_if_changed
from silas.services.tools.registry import built_in_tools
from silas.services.tools.uncalled_tools import add_uncalled
from silas.services.workers import nobody_works, offer_delegation
from silas.stream.person_queue import PersonQueues
from silas.stream.scope_work import NOT_SHOWN, ScopeWork
from silas.tools.outcomes import SqlOutcomeStore
from silas.work.changes.file_recovery import LeftBehind
from silas.work.changes.held_store import HeldStore
from silas.work.changes.undo import Undo
from silas.work.effects import Effects
from silas.work.models import PATCH
from silas.work.outcome_resolver import OutcomeResolver
from silas.work.projects.undo import UndoneWork, state_now, taken_back_words, undo_work
from silas.work.unanswered import unanswered_words


class ShownWork(Protocol):
    """Work without what was forgotten; see `ScopeWork`."""

    async def result(self, work_item_id: str) -> WorkItemResult | None:
        """How it ended."""
        ...

    async def item_as_shown(self, item: WorkItem) -> WorkItem:
        """The work with what its checks found."""
        ...


class PieceOfWork(NamedTuple):
    """One piece of work as it may be shown.

    Attributes:
        item: The work, or the plan that waits.
        result: How its last finished run ended; none where the plan waits for an answer.
        waiting: The question that is open about it.
    """

    item: WorkItem
    result: WorkItemResult | None
    waiting: WaitingPlan | None


async def piece_of_work(
    work_item_id: str,
    question: Callable[[str], Awaitable[WaitingPlan | None]],
    store: WorkItemStore,
    shown: ShownWork,
) -> PieceOfWork:
    """One piece of work, for every door.

    Args:
        work_item_id: Of the work, or of a plan that waits.
        question: The open question about a plan of this id.
        store: Where work is.
        shown: Leaves out what was forgotten.

    Raises:
        DatabaseError: There is none of this id.
    """
    waiting = await question(work_item_id)
    if waiting is not None:
        return PieceOfWork(waiting.item, None, waiting)
    item = await store.get(work_item_id)
    if item is None:
        raise missing_item(work_item_id)
    as_shown = await with_tasks(await shown.item_as_shown(item), store)
    return PieceOfWork(as_shown, await result_of(item, shown), None)


async def result_of(item: WorkItem, shown: ShownWork) -> WorkItemResult | None:
    """How work ended; where that was damaged, words that say so."""
    try:
        return await shown.result(item.id)
    except DatabaseError as error:
        if error.code != "E_DB_CORRUPT":
            raise
        return WorkItemResult(
            work_item_id=item.id, status=item.status, summary=error.message, last_error=None
        )


def waits_words(item: WorkItem, store: WorkItemStore) -> str:
    """That running work waits for its owner's answer, in one sentence; empty where it does not."""
    waits = item.status is WorkItemStatus.running and item.id in store.asking()
    return tr("The work waits for your answer to its question.") if waits else ""


async def unanswered_of(item: WorkItem, store: WorkItemStore) -> str:
    """That work ended without an answer to its question, and how to ask anew; else empty."""
    result = await skip_damaged(store.get_result(item.id))
    return unanswered_words(item) if result is not None and result.unanswered else ""


@dataclass(frozen=True)
class WorkService:
    """The work items alone, for the commands that look at them or take them back.

    Attributes:
        warnings: What the owner must be told, such as that the record was changed.
        zone: The owner's.
    """

    store: SqlWorkItemStore
    undoing: Undo
    waiting: SqlWaitingPlans
    held: HeldStore
    settling: OutcomeResolver
    people: PersonQueues
    recover: Callable[[], Awaitable[frozenset[str]]]
    undone: Callable[[WorkItem], Awaitable[None]]
    warnings: list[str]
    db: Database
    zone: ZoneInfo

    def half_changed(self) -> list[LeftBehind]:
        """Directories that are neither as before nor as after some work, or may be."""
        return self.undoing.files.list_left()

    async def questions(self) -> list[WorkItem]:
        """Plans that the owner was asked about and has not answered."""
        return [waiting.item for waiting in await self.waiting.all()]

    async def question(self, work_item_id: str) -> WaitingPlan | None:
        """The oldest open question about a plan of this id; none where there is none."""
        found = (one for one in await self.waiting.all() if one.item.id == work_item_id)
        return next(found, None)

    async def one(self, work_item_id: str) -> PieceOfWork:
        """One piece of work; see `piece_of_work`."""
        shown = scope_work(self.db, SystemClock())
        return await piece_of_work(work_item_id, self.question, self.store, shown)

    def taken_back(self, item: WorkItem) -> str:
        """That what it changed was taken back, and when; empty where none of it was."""
        return taken_back_words(item, self.undoing, self.zone)

    def state(self, item: WorkItem) -> str:
        """How it stands: its status, or `undone`; see `state_now`."""
        return state_now(item, self.undoing)

    def list_damaged(self) -> list[DamagedRow]:
        """What was set aside because it cannot be read."""
        return all_damaged(self.db)

    async def items(self) -> list[WorkItem]:
        """Every work item, newest last."""
        return sorted(await self.store.every(), key=lambda item: (item.created_at, item.id))

    async def taken_back_of(self, work_item_id: str) -> str:
        """The same by its id; empty also where the work is damaged or was never there."""
        item = await skip_damaged(self.store.get(work_item_id))
        return "" if item is None else self.taken_back(item)

    def goal_states(self) -> dict[str, str]:
        """Of each goal by its id how its clock stands: see `Goal.standing`."""
        from silas.goals.store import SqlGoalStore  # noqa: PLC0415 - few commands ask

        return {goal.id: goal.standing for goal in SqlGoalStore(self.db).all()}

    async def undo(self, work_item_id: str) -> UndoneWork:
        """Restore the workspace that a work item changed, and learn from it; see `undo_work`."""
        if work_item_id in await self.recover():
            return UndoneWork((work_item_id,))
        if work_item_id in await self.undoing.files.recover(work_item_id):
            return UndoneWork((work_item_id,))  # as above, missing files included
        taken = await undo_work(work_item_id, self.undoing, self.store)
        item = await self.store.get(work_item_id)
        if item is not None:
            await self.undone(item)
        return taken

    async def leave(self, work_item_id: str) -> None:
        """Keep a half-changed workspace as it is now; see `FileRecovery.leave`."""
        await self.undoing.files.leave(work_item_id)

    async def patch(self, work_item_id: str) -> str:
        """What the last finished run of an item changed, to the byte; empty if nothing.

        Raises:
            SandboxError: No run of it has finished.
        """
        result = await self.store.get_result(work_item_id)
        if result is None:
            raise SandboxError(
                f"No run of {work_item_id!r} has finished; see `silas status` for the ids.",
                code="E_SANDBOX_NO_DIFF",
            )
        return result.artifacts.get(PATCH, "")


@asynccontextmanager
async def open_work(config: SilasConfig) -> "AsyncGenerator[WorkService]":
    """The work items of an initialised Silas, without starting anything else."""
    warnings: list[str] = []
    with open_record(config, warnings) as (db, audit, ring):
        warn_if_changed(audit, warnings)
        await settle_succession(db, audit, ring)
        clock = SystemClock()
        store, outcomes = SqlWorkItemStore(db, clock), SqlOutcomeStore(db, clock)
        registry = built_in_tools(clock, sandbox_of(config))
        add_uncalled(registry, config)
        offer_delegation(config, registry, nobody_works)  # it vouches for what was delegated
        settling = OutcomeResolver(Effects(outcomes, registry), outcomes, store, audit, db.write)
        undoing, waiting = Undo(config.data_dir / "undo", audit), SqlWaitingPlans(db, clock)

        async def recover() -> frozenset[str]:
            taken_back = await undoing.files.recover()
            moving = execution_over(config, db, audit, effective_time(db, clock, audit))
            rest = (config.data_dir, undoing, store, waiting, outcomes, audit, moving.recover)
            async with Lease(config.data_dir) as lease:
                await recover_after_crash(*rest, alone=lease.alone, resume=False)
            return taken_back

        async def learn_from_undo(item: WorkItem) -> None:
            from silas.autonomy.signals import (  # noqa: PLC0415 - looking needs
                STANDING_FAMILY,
                Signal,
                plan_family,
                started_alone,
            )
            from silas.context import TokenCounter  # noqa: PLC0415 - none of these
            from silas.services.memory import rules_within  # noqa: PLC0415 - as above
            from silas.services.undo_feedback import note_undone  # noqa: PLC0415 - as above

            scope_id = scope_work(db, clock).scope_of(item.id)
            fit = rules_within(config, TokenCounter().count)
            signal = Signal(plan_family(item), "undo", scope_id)
            await note_undone(config, db, audit, fit, signal)
            if started_alone(item):
                alone = signal._replace(family=STANDING_FAMILY)
                await note_undone(config, db, audit, fit, alone)

        people = PersonQueues(db, audit, clock)
        held = HeldStore(config.data_dir / "held")
        rest = (recover, learn_from_undo, warnings, db, config.scheduler.zone)
        yield WorkService(store, undoing, waiting, held, settling, people, *rest)


async def patch_shown(service: WorkService, work_item_id: str) -> tuple[str, str]:
    """What a work item changed, as a patch, and why it is not shown where it rests on something
    that was forgotten; changes that wait for a yes are shown, or nobody could decide about them.

    Raises:
        SandboxError: No run of it has finished.
    """
    patch = await service.patch(work_item_id)
    if not patch or work_item_id in service.held.ids():
        return patch, ""
    work = scope_work(service.db, SystemClock())
    gone = await work.rests_on_forgotten(work_item_id, ever=False)
    return ("", NOT_SHOWN) if gone else (patch, "")


def scope_work(db: Database, clock: Clock) -> ScopeWork:
    """Which work is whose, and what of it may still be shown, for a command that only looks."""
    outcomes = SqlOutcomeStore(db, clock)
    return ScopeWork(db, SqlWorkItemStore(db, clock), outcomes, ForgottenLog(db), clock)
