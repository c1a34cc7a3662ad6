"""What every opening does about what a crash left, before anything else runs (spec 5.1.3, B18)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from silas.plans import WaitingPlans, WorkItemStore
from silas.stream.rehydrate import Rehydrated, rehydrate
from silas.tools.outcomes import OutcomeStore
from silas.work.changes.recovery import Recovery, RecoveryAudit
from silas.work.changes.undo import Undo


async def recover_after_crash(
    data: Path,
    undoing: Undo,
    store: WorkItemStore,
    waiting: WaitingPlans,
    outcomes: OutcomeStore,
    audit: RecoveryAudit,
    settle_batches: Callable[[], Awaitable[object]],
    *,
    alone: bool,
    resume: bool,
) -> Rehydrated:
    """Files first, then the record, then what is still open.

    Args:
        data: The data directory.
        undoing: Brings half-changed directories back, whoever else is open: what a living process
            is writing is left to it.
        store, waiting, outcomes, audit: The record.
        settle_batches: Finds out how batches stand whose files were being moved.
        alone: Whether no other process is open on it: what it has under way looks as interrupted
            as what a crash left, so only who is alone goes on.
        resume: Whether what is open is returned, to be resumed and asked about. The files and the
            record are brought in order without it, too.
    """
    await settle_batches()
    await undoing.files.recover()
    if not alone:
        return Rehydrated()
    recovery = Recovery(undoing, data / "scratch", store, audit)
    await recovery.remove_copies()
    return await rehydrate(store, waiting, outcomes, recovery.finish_recorded, audit, resume=resume)


async def recover_unless_stopped(
    stopped: Callable[[], bool], recover: Callable[[], Awaitable[Rehydrated]]
) -> Rehydrated:
    """What `recover_after_crash` finds; while an emergency stop stands nothing is touched."""
    return Rehydrated() if stopped() else await recover()
