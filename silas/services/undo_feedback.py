"""Learning from an undo in the terminal as from one in the cockpit (spec 5.1.6)."""

from silas.audit import Audit
from silas.autonomy.preferences import Preferences, PreferencesFit
from silas.autonomy.signals import Signal, is_family
from silas.autonomy.store import SqlAutonomyStore
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import SilasError
from silas.memory.store import SqlMemoryStore
from silas.types import OWNER


async def note_undone(
    config: SilasConfig, db: Database, audit: Audit, rules_fit: PreferencesFit, signal: Signal
) -> None:
    """As `Learning.learn_from_undo`, for a command beside a running Silas; never fails."""
    clock, store = SystemClock(), SqlAutonomyStore(db)
    if signal.scope_id != OWNER or not is_family(signal.family):
        return
    memory = SqlMemoryStore(db, clock)
    preferences = Preferences(config.behavior_preferences, store, memory, rules_fit, audit, clock)
    try:
        if config.autonomy.enabled:
            store.note(signal, clock.now())
        await preferences.observe(signal)
    except SilasError as error:  # what was undone is undone
        await audit.log("review_failed", kind=type(error).__name__)
