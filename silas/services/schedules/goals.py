"""Goals for commands and the cockpit: the service over a database (spec 5.2.3)."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import NamedTuple

from silas.approval import ApprovalToken
from silas.approval.effective_clock import EffectiveClock
from silas.approval.nonces import SqlNonceStore
from silas.audit import Audit
from silas.audit.log import AuditLog
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.goals.goal_names import goal_name, goals_named, the_one
from silas.goals.models import Goal, GoalState
from silas.goals.service import Goals
from silas.goals.store import SqlGoalStore
from silas.home.database import open_existing_database
from silas.home.effective_clock import effective_time
from silas.home.keyless import NoKey
from silas.home.lease import runs_jobs
from silas.jobs.store import SqlJobStore
from silas.jobs.table import JobTable
from silas.plans import WorkItem
from silas.plans.goals.limits import TIDIES
from silas.plans.store import SqlWorkItemStore
from silas.services.approvals import SignedApproval, how_it_stands
from silas.services.record import record_words
from silas.services.schedules.goal_standing import (
    AUTHORISES,
    HowItStands,
    question_words,
    repaired_words,
    used_words,
    why_words,
)
from silas.services.schedules.reminders import notifier_of
from silas.services.tools.bindings import lapsed_here
from silas.stop import Sentinel
from silas.stop.epochs import StopEpochs


def goals_over(
    config: SilasConfig,
    db: Database,
    time: EffectiveClock,
    audit: Audit,
    changed: Callable[[], None],
) -> Goals:
    """The service over a database that is open."""
    return Goals(
        SqlGoalStore(db),
        JobTable(SqlJobStore(db), time, changed),
        time,
        config.scheduler.zone,
        audit.log_now,
        enabled=config.scheduler.enabled,
        caps=config.autonomy.standing_caps,
    )


class StandingUse(NamedTuple):
    """How much of the owner's yes to a goal is used.

    Attributes:
        used: How often it started work without asking.
        uses: How often it may in all.
        until: When it ends, in UTC.
        words: The same by the owner's clock.
    """

    used: int
    uses: int
    until: datetime
    words: str


class GoalService(NamedTuple):
    """Goals for commands; they work beside a running Silas.

    Attributes:
        goals: The service.
        store: Their plans.
        time: Effective time.
        config: The configuration.
        record: What is wrong with the record, which keeps goals from running; else empty.
        how: How an approval stands.
    """

    goals: Goals
    store: SqlWorkItemStore
    time: EffectiveClock
    config: SilasConfig
    record: str
    how: HowItStands

    @property
    def warnings(self) -> list[str]:
        """What the owner must be told: what keeps them from running, or a wrong clock."""
        found = [self.record, self.time.state().words(self.config.scheduler.zone)]
        active = any(goal.state is GoalState.active for goal in self.goals.store.all())
        if active and not runs_jobs(self.config.data_dir):
            found.append("No Silas is running: goals wait until `silas start` or `silas chat`.")
        return [words for words in found if words]

    async def title(self, goal: Goal) -> str:
        """What its plan calls it; empty where the plan is not there."""
        item = await self.store.get(goal.id)
        return "" if item is None else item.title

    async def find(self, which: str) -> str:
        """The id of the one goal that is meant: by its id, or by words of its title or files.

        Raises:
            GoalRefused: None is, or several are.
        """
        names = [goal_name(one.id, await self.store.get(one.id)) for one in self.goals.store.all()]
        one = the_one(which, goals_named(which, names))
        return self.goals.get(one.id if one else which).id

    async def why(self, goal: Goal) -> str:
        """What its work asks, why a goal is paused, why its approval starts nothing as things are
        now, or when what it repaired is checked again.
        """
        if asks := await question_words(goal.id, self.store):
            return asks
        last = next(iter(self.goals.store.history(goal.id, 1)), None)
        why = await why_words(goal, await self.store.get(goal.id), last, self.how)
        return why or repaired_words(goal, self.goals.coming_words(goal.id))

    async def standing_of(self, goal: Goal) -> StandingUse | None:
        """How much of the owner's yes to it is used; None where that authorises nothing."""
        item = await self.store.get(goal.id)
        token = None if item is None else item.approval_token
        if item is None or token is None or item.cycle == TIDIES:  # nothing spends it
            return None
        given = await self.how(item, token)
        if given.state not in AUTHORISES:
            return None
        used, of, until = given.used, given.of_all, token.expires_at
        return StandingUse(used, of, until, used_words(used, of, until, self.config.scheduler.zone))


@asynccontextmanager
async def open_goals(config: SilasConfig) -> "AsyncGenerator[GoalService]":
    """The goals of an initialised Silas, without starting anything else.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        audit = AuditLog(db, clock, NoKey())
        time = effective_time(db, clock, audit)
        goals = goals_over(config, db, time, audit, notifier_of(config).notify)
        record = record_words(config, db)
        nonces = SqlNonceStore(db, time, config.nonce_store)
        sentinel = Sentinel(config.data_dir, config.scheduler.zone)
        stops, lapsed = StopEpochs(db, clock, sentinel), lapsed_here(config, audit)

        async def how(item: WorkItem, token: ApprovalToken) -> SignedApproval:
            return await how_it_stands(item, token, nonces, stops, time.now(), lapsed)

        yield GoalService(goals, SqlWorkItemStore(db, clock), time, config, record, how)
