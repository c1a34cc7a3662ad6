"""What keeps Silas in order by the clock: one list of everything that comes again."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from silas.approval.effective_clock import EffectiveClock
from silas.approval.nonces import NonceStore
from silas.approval.pruning import prune_nonces
from silas.audit import Audit
from silas.config import SilasConfig
from silas.context.chronicle import SqlChronicleStore
from silas.context.pruning import prune_chronicle
from silas.db import Database
from silas.home.witnesses import write_checkpoint
from silas.jobs.models import Finish, Job, JobKind, nothing
from silas.jobs.port import Jobs
from silas.memory.consolidate import Consolidator, consolidate
from silas.plans.projects.questions import prune_questions
from silas.schedule import next_due
from silas.stream.review import ReviewQueue

REF: Final = "silas"
"""What these jobs are about: Silas itself."""


class Upkeep(NamedTuple):
    """The rooms that are kept in order."""

    config: SilasConfig
    time: EffectiveClock
    nonces: NonceStore
    audit: Audit
    chronicle: SqlChronicleStore
    db: Database
    consolidator: Consolidator
    review: ReviewQueue


def upkeep_kinds(of: Upkeep) -> tuple[JobKind, ...]:
    """The kinds of what comes again by itself."""
    config = of.config
    kinds = [
        _regular(
            "nonces",
            lambda: prune_nonces(of.nonces, of.time, config.nonce_store),
            _minutes(config.nonce_store.prune_interval_minutes),
        ),
        _regular("conversations", lambda: _prune_conversations(of), _minutes(60)),
        _regular(
            "checkpoint",
            lambda: write_checkpoint(of.audit),
            _minutes(config.audit.checkpoint_minutes),
        ),
        _regular(
            "consolidation",
            lambda: consolidate(of.consolidator, of.audit),
            _minutes(config.memory.consolidation_interval_minutes),
        ),
    ]
    if config.scheduler.enabled and config.suggestions.enabled:
        cron, zone = config.suggestions.heartbeat_cron, config.scheduler.zone
        kinds.append(
            _regular("suggestions", of.review.heartbeat, lambda now: next_due(cron, zone, now))
        )
    return tuple(kinds)


async def _prune_conversations(of: Upkeep) -> None:
    """Forget what was said, and what work that has ended asked, before the days that are kept."""
    await prune_chronicle(of.chronicle, of.audit)
    if of.time.may_forget():
        kept = timedelta(days=of.config.context.chronicle.retention_days)
        prune_questions(of.db, of.time.now() - kept)


def ensure_upkeep(jobs: Jobs, kinds: Sequence[JobKind], now: datetime) -> None:
    """One job of each kind waits; one whose moment passed while nothing ran is run at once."""
    for kind in kinds:
        moment = kind.following(_NEVER_RAN._replace(kind=kind.name), now)
        if moment is not None:
            jobs.ensure(moment, kind.name, REF)


_NEVER_RAN: Final = Job("", REF, "", "", datetime.min)


def _minutes(number: float) -> Callable[[datetime], datetime]:
    return lambda now: now + timedelta(minutes=number)


def _regular(
    name: str, work: Callable[[], Awaitable[object]], following: Callable[[datetime], datetime]
) -> JobKind:
    async def run(job: Job) -> Finish:
        del job
        await work()
        return nothing

    def again(job: Job, now: datetime) -> datetime:
        del job
        return following(now)

    return JobKind(name, run, again)
