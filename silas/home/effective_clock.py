"""Effective time over a database: approvals, links, sessions and limits go by it (B19)."""

from silas.approval.effective_clock import EffectiveClock
from silas.audit import Audit
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import SilasError
from silas.home.database import database_path, open_database


def effective_time(db: Database, clock: Clock, audit: Audit) -> EffectiveClock:
    """The clock of authority.

    Args:
        db: Where its mark is; every process over it goes on from the same one.
        clock: The machine's.
        audit: Where a jump is recorded, with the mark that it moved.
    """
    return EffectiveClock(db, clock, audit.log_now)


def clock_finding(config: SilasConfig) -> tuple[str, bool, str]:
    """The row of `silas doctor` about the machine's clock; changes nothing."""
    name = "clock"
    if not database_path(config).exists():
        return name, True, "not looked at yet"
    clock = SystemClock()
    try:
        with open_database(config, clock, ()) as db:
            state = EffectiveClock(db, clock, _refuse_record).peek()
    except SilasError as error:
        return name, False, str(error)
    words = state.words(config.scheduler.zone)
    return name, not words, words or "it agrees with what approvals have come to"


def _refuse_record(*_: object, **__: object) -> None:
    raise AssertionError("looking records nothing")
