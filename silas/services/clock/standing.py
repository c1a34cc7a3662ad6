"""How often one yes to a goal starts work without asking, as things are now (spec 5.9)."""

from silas.autonomy.calibrate import TunableSetting, knobs
from silas.autonomy.store import SqlAutonomyStore
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.home.database import database_path, open_existing_database
from silas.plans.goals.schedule import STANDING_USES
from silas.types import OWNER

_KEY = "standing.max_executions"


def configured_knobs(config: SilasConfig) -> dict[str, TunableSetting]:
    """Every setting of how much Silas asks, as configured."""
    batches = config.batch_review
    return knobs(config.autonomy, batches.default_size, batches.confidence.high_min)


def standing_uses(config: SilasConfig, db: Database) -> int:
    """How often one yes to a goal starts work without asking: as configured, or as the owner
    approved by a card since.
    """
    knob = configured_knobs(config)[_KEY]
    kept = float(SqlAutonomyStore(db).thresholds(OWNER).get(_KEY, knob.configured))
    return max(1, min(int(kept), int(knob.cap)))


def standing_uses_here(config: SilasConfig) -> int:
    """The same for a command that opened nothing; as shipped where Silas was not set up."""
    if not database_path(config).exists():
        return STANDING_USES
    with open_existing_database(config, SystemClock()) as db:
        return standing_uses(config, db)
