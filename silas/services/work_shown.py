"""One piece of work for a command that only looks."""

from silas.clock import Clock, SystemClock
from silas.db import Database
from silas.memory.forgotten import ForgottenLog
from silas.plans import WorkItem, WorkItemResult
from silas.plans.store import SqlWorkItemStore, missing
from silas.services.upkeep import WorkDesk
from silas.stream.scopework import NOT_SHOWN, ScopeWork
from silas.tools.outcomes import SqlOutcomeStore


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
    return await work.item_as_shown(item), await work.result(work_item_id), False


async def patch_shown(desk: WorkDesk, work_item_id: str) -> tuple[str, str]:
    """What a work item changed, as a patch, and why it is not shown where it rests on something
    that was forgotten; changes that wait for a yes are shown, or nobody could decide about them.

    Raises:
        SandboxError: No run of it has finished.
    """
    patch = await desk.patch(work_item_id)
    if not patch or work_item_id in desk.held.ids():
        return patch, ""
    work = scope_work(desk.db, SystemClock())
    gone = await work.rests_on_forgotten(work_item_id, ever=False)
    return ("", NOT_SHOWN) if gone else (patch, "")


def scope_work(db: Database, clock: Clock) -> ScopeWork:
    """Which work is whose, and what of it may still be shown, for a command that only looks."""
    outcomes = SqlOutcomeStore(db, clock)
    return ScopeWork(db, SqlWorkItemStore(db, clock), outcomes, ForgottenLog(db), clock)
