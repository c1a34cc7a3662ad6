"""What a start does about what a crash left, before anything else runs (spec 5.1.3)."""

from silas.config import SilasConfig
from silas.plans import WaitingPlans, WorkItemStore
from silas.stream.rehydrate import Rehydrated, rehydrate
from silas.tools.outcomes import OutcomeStore
from silas.work.recovery import Record, Recovery
from silas.work.undo import Undo


async def picked_up(
    config: SilasConfig,
    undoing: Undo,
    store: WorkItemStore,
    waiting: WaitingPlans,
    outcomes: OutcomeStore,
    audit: Record,
) -> Rehydrated:
    """Files first, then the record, then what is still open; only for a process that is alone."""
    await undoing.recover()
    recovery = Recovery(undoing, config.data_dir / "scratch", store, audit)
    await recovery.swept()
    return await rehydrate(store, waiting, outcomes, recovery.finished, audit)
