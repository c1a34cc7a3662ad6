"""One piece of work for a command that only looks."""

from silas.clock import Clock, SystemClock
from silas.db import Database
from silas.memory.forgotten import ForgottenLog
from silas.plans import WorkItem, WorkItemResult
from silas.plans.store import SqlWorkItemStore, missing
from silas.stream.scopework import ScopeWork
from silas.tools.outcomes import SqlOutcomeStore
from silas.wiring.upkeep import WorkDesk


async def piece_of_work(
    desk: WorkDesk, work_item_id: str
) -> tuple[WorkItem, WorkItemResult | None, bool]:
    """A work item, how its last finished run ended, and whether its plan waits for an answer.

    Raises:
        DatabaseError: There is none of this id.
    """
    for waiting in await desk.waiting.all():
        if waiting.item.id == work_item_id:
            return waiting.item, None, True
    item = await desk.store.get(work_item_id)
    if item is None:
        raise missing(work_item_id)
    work = scope_work(desk.db, SystemClock())
    return item, await work.result(work_item_id), False


def scope_work(db: Database, clock: Clock) -> ScopeWork:
    """Which work is whose, and what of it may still be shown, for a command that only looks."""
    outcomes = SqlOutcomeStore(db, clock)
    return ScopeWork(db, SqlWorkItemStore(db, clock), outcomes, ForgottenLog(db), clock)
