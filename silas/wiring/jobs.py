"""The engine of jobs in a Silas that stays, and everything it runs."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from silas.home.background_tasks import running
from silas.home.lease import JobsLease
from silas.jobs.engine import JobEngine
from silas.jobs.store import SqlJobStore
from silas.jobs.table import JobTable
from silas.services.upkeep import Upkeep, ensure_upkeep, upkeep_kinds
from silas.stream.goal_cycles import GoalAuthority, GoalCycles
from silas.stream.reminder_delivery import ReminderDelivery
from silas.stream.session import Session
from silas.stream.tidy_cycles import TidyCycles, WithoutPlace
from silas.work.checks.goal_checks import GoalChecks
from silas.work.checks.verify import VerificationRunner

if TYPE_CHECKING:
    from silas.wiring.parts import Parts


@asynccontextmanager
async def jobs_served(parts: "Parts", session: Session) -> "AsyncGenerator[None]":
    """Run what comes due, as long as this is open; one process of a home does."""
    config, services, time = parts.config, parts.context_services, parts.time
    store, notifier = SqlJobStore(parts.db), parts.notifier
    jobs = JobTable(store, time, notifier.notify)
    upkeep = Upkeep(
        config,
        time,
        parts.nonces,
        parts.audit,
        services.chronicle,
        parts.db,
        services.remembered.consolidator,
        services.review,
    )
    kinds = upkeep_kinds(upkeep)
    delivery = ReminderDelivery(
        parts.reminders(),
        parts.channel,
        services.chronicle,
        services.context,
        services.items,
        services.conversations.open,
        time,
        parts.secrecy.redact,
    )
    lease = JobsLease(config.data_dir)
    engine = JobEngine(
        store,
        jobs,
        time,
        lease,
        parts.stop.sentinel.stands,
        notifier.listening,
        parts.audit.log_now,
        config.scheduler.jobs_at_once,
        timedelta(days=config.scheduler.history_days),
    )
    try:
        ensure_upkeep(jobs, kinds, time.now())
        cycles = goal_cycles(parts, session, engine.without_place)
        told = (delivery.kind(), cycles.kind()) if config.scheduler.enabled else ()
        async with running(engine.serve((*kinds, *told))):
            yield
    finally:
        lease.close()


def goal_cycles(parts: "Parts", session: Session, without_place: WithoutPlace) -> GoalCycles:
    """What runs the cycles of goals, over a Session that is started."""
    authority = GoalAuthority(
        parts.approval,
        parts.binding,
        session.runs.proposer,
        partial(parts.db.write, durable=True),  # power loss must not bring a spent use back
        parts.preconditions.require_ready,
        without_place,
    )
    return GoalCycles(
        parts.goals(),
        authority,
        GoalChecks(
            VerificationRunner(parts.sandbox, parts.runtime.clock, parts.limits),
            parts.audit,
            parts.config.data_dir / "scratch",
        ),
        TidyCycles(session.tidying, without_place),
        session.runs.dispatcher,
        session.executor,
        parts.store,
        parts.channel,
        parts.audit,
        parts.time,
        parts.secrecy.redact,
        parts.context_services.review.note_signal,
    )
