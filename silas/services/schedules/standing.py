"""How far one yes to a goal goes, in uses and days, as things are now (spec 5.9)."""

from silas.autonomy.calibrate import TunableSetting, knobs
from silas.autonomy.store import SqlAutonomyStore
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.home.database import database_path, open_existing_database
from silas.plans.goals.standing import AS_SHIPPED, StandingLimit
from silas.types import OWNER

_USES, _DAYS = "standing.max_executions", "standing.expires_at"


def configured_knobs(config: SilasConfig) -> dict[str, TunableSetting]:
    """Every setting of how much Silas asks, as configured."""
    batches = config.batch_review
    return knobs(config.autonomy, batches.default_size, batches.confidence.high_min)


def standing_limit(config: SilasConfig, db: Database) -> StandingLimit:
    """How often and how long one yes to a goal starts work without asking: as configured, or as
    the owner approved by a card since.
    """
    settings, kept = configured_knobs(config), SqlAutonomyStore(db).thresholds(OWNER)

    def value(key: str) -> int:
        return int(settings[key].in_force(kept.get(key)))

    return StandingLimit(value(_USES), value(_DAYS))


def standing_limit_here(config: SilasConfig) -> StandingLimit:
    """The same for a command that opened nothing; as shipped where Silas was not set up."""
    if not database_path(config).exists():
        return AS_SHIPPED
    with open_existing_database(config, SystemClock()) as db:
        return standing_limit(config, db)
