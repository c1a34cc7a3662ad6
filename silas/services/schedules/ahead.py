"""What is to come and what may run without asking, for commands and the cockpit (spec 0.5.4).

What it lists is changed by the services of reminders and goals; an approval is taken back here.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple
from zoneinfo import ZoneInfo

from silas.approval import ApprovalToken, NonceStore, Stops
from silas.approval.effective_clock import EffectiveClock
from silas.approval.nonces import SqlNonceStore
from silas.approval.revocation import revoke
from silas.audit import Audit
from silas.audit.log import AuditLog
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import ApprovalError, Stopped
from silas.goals.goal_names import GoalName, goal_name, goals_named, name_words
from silas.goals.models import Goal, GoalState
from silas.goals.service import Goals
from silas.home.database import open_existing_database
from silas.home.effective_clock import effective_time
from silas.home.keyless import NoKey
from silas.home.lease import runs_jobs
from silas.language import tr
from silas.plans import WorkItem, WorkItemStore
from silas.plans.effect import effect_sentence
from silas.plans.goals import schedule as goal_schedule
from silas.plans.goals.lapsed import Lapsed
from silas.plans.goals.limits import TIDIES
from silas.plans.store import SqlWorkItemStore
from silas.plans.subject import plan_bytes
from silas.reminders.service import Reminders
from silas.services.approvals import SignedApproval, how_it_stands
from silas.services.projects import ProjectOverview, under_way
from silas.services.record import require_whole_record
from silas.services.schedules.agenda import agenda_words
from silas.services.schedules.goal_runs import GoalRuns, YesUse
from silas.services.schedules.goal_standing import (
    AUTHORISES,
    TAKEN_BACK,
    alone_words,
    question_words,
    repaired_words,
    stands_words,
    used_words,
    why_words,
)
from silas.services.schedules.goals import goals_over
from silas.services.schedules.reminders import notifier_of, reminders_over
from silas.services.schedules.unattended import PausedGoal, UnattendedGoal
from silas.services.schedules.upcoming import (
    Upcoming,
    UpcomingKind,
    more_moments,
    upcoming_reminder,
)
from silas.services.tools.bindings import lapsed_here
from silas.stop import Sentinel
from silas.stop.epochs import StopEpochs
from silas.work.changes.held_store import HeldStore
from silas.work.changes.undo import Undo


class Ahead(NamedTuple):
    """How things stand.

    Attributes:
        now: The moment of the look, of effective time.
        zone: The owner's.
        coming: What comes within the days, the first to come first.
        later: How many more come after them.
        alone: What may run without asking.
        asking: Goals that run and whose approval is over: what they start asks each time.
        paused: What does not run.
        projects: Projects that run, or wait for a yes.
        warnings: That no Silas runs, that nothing runs by the clock, or a clock that is wrong.
        asks: That work of a goal waits for an answer, a sentence for each goal.
    """

    now: datetime
    zone: ZoneInfo
    coming: tuple[Upcoming, ...]
    later: int
    alone: tuple[UnattendedGoal, ...]
    asking: tuple[PausedGoal, ...]
    paused: tuple[PausedGoal, ...]
    projects: tuple[ProjectOverview, ...]
    warnings: tuple[str, ...]
    asks: tuple[str, ...]


@dataclass(frozen=True)
class AheadService:
    """What `silas ahead` and the cockpit's page look at.

    Attributes:
        reminders: What the owner wants to be told.
        goals: What the clock checks.
        store: The plans.
        nonces: What was spent of approvals.
        stops: Emergency stops, which void approvals.
        time: Effective time.
        audit: The record.
        config: The configuration.
        lapsed: Why an approval covers nothing any more.
    """

    reminders: Reminders
    goals: Goals
    store: WorkItemStore
    nonces: NonceStore
    stops: Stops
    time: EffectiveClock
    audit: Audit
    config: SilasConfig
    lapsed: Lapsed

    async def look(self, days: int) -> Ahead:
        """What comes within so many days from now, at least one."""
        now = self.time.now()
        until = now + timedelta(days=days)
        goals = [(goal, await self.store.get(goal.id)) for goal in self.goals.store.all()]
        paused = [one for goal, item in goals if (one := await self._paused_goal(goal, item))]
        off = {one.id for one in paused}  # nothing of it begins when its next cycle is due
        found = [upcoming_reminder(one, until) for one in self.reminders.waiting()]
        runs = [(goal, item) for goal, item in goals if goal.id not in off]
        found += [one for goal, item in runs for one in self._goal(goal, item, until)]
        coming = sorted((one for one in found if one.due < until), key=lambda one: one.due)
        return Ahead(
            now,
            self.config.scheduler.zone,
            tuple(coming),
            len(found) - len(coming),
            await self._unattended_goals([item for _, item in goals if item is not None]),
            tuple([one for goal, item in goals if (one := await self._goal_to_ask(goal, item))]),
            tuple(paused),
            await under_way(
                self.store,
                HeldStore(self.config.data_dir / "held"),
                Undo(self.config.data_dir / "undo", self.audit),
            ),
            tuple(self._warnings()),
            tuple([asks for goal, _ in goals if (asks := await self.question(goal.id))]),
        )

    async def take_back(self, goal_id: str) -> None:
        """Take the approval of a goal back: nothing of it begins any more, and it pauses when it is
        due.

        Raises:
            ApprovalError: It has none that authorises anything.
        """
        item = await self.store.get(goal_id)
        token = None if item is None else item.approval_token
        if item is not None and token is not None:
            given = await self._approval_state(item, token)
            if given.state in AUTHORISES and await revoke(token, self.nonces, self.audit):
                return
        raise ApprovalError(
            f"{goal_id} has no approval that authorises anything any more; nothing was changed.",
            code="E_APPROVAL_OVER",
            work_item_id=goal_id,
        )

    async def why(self, goal_id: str) -> str:
        """How a goal stands and why it is paused, or starts nothing without asking.

        Raises:
            GoalRefused: There is none of this id.
        """
        goal = self.goals.get(goal_id)
        if asks := await self.question(goal_id):
            return asks
        why = await self._why_paused(goal, await self.store.get(goal_id))
        name = await self.goal_name(goal_id)
        return stands_words(goal, name, why, self.goals.coming_words(goal_id))

    async def question(self, goal_id: str) -> str:
        """That work of a goal waits for its owner's answer; empty where none does."""
        return await question_words(goal_id, self.store)

    async def trouble(self, goal_id: str) -> str:
        """Why a goal is paused or starts nothing without asking, or when what it repaired is
        checked again; empty where none of it is so.
        """
        goal = self.goals.get_goal(goal_id)
        if goal is None:
            return ""
        why = await self._why_paused(goal, await self.store.get(goal_id))
        return why or repaired_words(goal, self.goals.coming_words(goal_id))

    async def runs(self, goal_id: str) -> str:
        """How often a goal ran, when it runs next and how much of its yes is used.

        Raises:
            GoalRefused: There is none of this id.
        """
        goal = self.goals.get(goal_id)
        zone = goal_schedule.zone_of(goal.schedule, self.config.scheduler.zone)
        return (await self._runs(goal)).words(zone, await self.goal_name(goal_id))

    async def goals_named(self, which: str) -> tuple[GoalName, ...]:
        """The goals that are not over which the owner means: by id, or words of title or files."""
        return goals_named(which, await self.going())

    async def goal_name(self, goal_id: str) -> str:
        """What its owner calls a goal: its title, and its id where another one has that title."""
        title = _title(await self.store.get(goal_id))
        return name_words(GoalName(goal_id, title), await self.going())

    async def going(self) -> list[GoalName]:
        """The goals that are not over, as they are named."""
        going = [one for one in self.goals.store.all() if one.state is not GoalState.ended]
        return [goal_name(one.id, await self.store.get(one.id)) for one in going]

    async def goal_lines(self, goal_ids: Sequence[str], most: int) -> list[str]:
        """The same for a model, a line each; of those that are not over, so many at most."""
        found = [self.goals.get_goal(one) for one in goal_ids]
        going = [one for one in found if one and one.state is not GoalState.ended][:most]
        return [(await self._runs(one)).line(self.config.scheduler.zone) for one in going]

    async def _runs(self, goal: Goal) -> GoalRuns:
        item = await self.store.get(goal.id)
        token, yes = None if item is None else item.approval_token, None
        if item is not None and token is not None:
            given = await self._approval_state(item, token)
            if given.state in AUTHORISES:
                yes = YesUse(given.used, given.of_all, token.expires_at)
        counts, coming = self.goals.store.count_cycles(goal.id), self.goals.coming(goal.id)
        why = await self.question(goal.id) or await self._why_paused(goal, item)
        return GoalRuns(goal, _title(item), tuple(counts), tuple(coming), yes, why)

    async def alone_words(self) -> str:
        """What may run without asking, a line for each goal."""
        found, there = await self.look(1), await self.going()
        told = (*found.alone, *found.asking, *found.paused)
        names = {one.id: name_words(GoalName(one.id, one.title), there) for one in told}
        words = alone_words(found, lambda one: left_words(one, found.zone), names)
        return "\n".join((words, *await self._tidied_folders(frozenset(names), there)))

    async def _tidied_folders(self, told: frozenset[str], there: Sequence[GoalName]) -> list[str]:
        """The folders that goals look at and ask about, a line for each that is not told of yet."""
        items = [await self.store.get(one.id) for one in there if one.id not in told]
        return [
            f"- {name_words(GoalName(one.id, one.title), there)}: "
            f"{effect_sentence(json.loads(plan_bytes(one)))}"
            for one in items
            if one is not None and one.cycle == TIDIES
        ]

    async def agenda(self, first: int, days: int) -> str:
        """What some days bring by the clock, in words; `first` counts from today."""
        return await agenda_words(self, first, days)

    async def _why_paused(self, goal: Goal, item: WorkItem | None) -> str:
        last = next(iter(self.goals.store.history(goal.id, 1)), None)
        return await why_words(goal, item, last, self._approval_state)

    async def _goal_to_ask(self, goal: Goal, item: WorkItem | None) -> PausedGoal | None:
        """A goal that runs and whose approval is over; None for any other."""
        token = None if item is None else item.approval_token
        if item is None or token is None or goal.state is not GoalState.active:
            return None
        if item.cycle == TIDIES:  # it only asks, and goes on to
            return None
        if (await self._approval_state(item, token)).state in AUTHORISES | TAKEN_BACK:
            return None
        return PausedGoal(goal.id, item.title, await self._why_paused(goal, item))

    async def _paused_goal(self, goal: Goal, item: WorkItem | None) -> PausedGoal | None:
        """A goal that is paused, or that pauses at its next cycle because its approval was taken
        back; None for any other.
        """
        if goal.state is GoalState.paused:
            return PausedGoal(goal.id, _title(item), goal.why)
        token = None if item is None else item.approval_token
        if item is None or token is None or goal.state is not GoalState.active:
            return None
        if (await self._approval_state(item, token)).state not in TAKEN_BACK:
            return None
        return PausedGoal(goal.id, item.title, await self._why_paused(goal, item), resumes=False)

    def _goal(self, goal: Goal, item: WorkItem | None, until: datetime) -> list[Upcoming]:
        """Its next moment and how many follow; nothing where it does not run."""
        if goal.state is not GoalState.active:
            return []
        schedule, zone = goal_schedule.read_schedule(goal.schedule), self.config.scheduler.zone
        again = "" if schedule.moment else goal_schedule.brief_words(goal.schedule)

        def then(moment: datetime) -> datetime | None:
            return goal_schedule.next_moment(schedule, zone, moment)

        return [
            Upcoming(
                due, UpcomingKind.goal, goal.id, _title(item), again, more_moments(due, then, until)
            )
            for due in self.goals.coming(goal.id)
        ]

    async def _unattended_goals(self, items: list[WorkItem]) -> tuple[UnattendedGoal, ...]:
        """What still has uses of a standing approval."""
        found = list[UnattendedGoal]()
        for item in items:
            token = item.approval_token
            if token is None or item.cycle == TIDIES:  # each batch of which has a card
                continue
            given = await self._approval_state(item, token)
            if given.state in AUTHORISES:
                does = effect_sentence(json.loads(plan_bytes(item)))
                used, until = (given.used, given.of_all), token.expires_at
                found.append(UnattendedGoal(item.id, item.title, does, *used, until, given.why))
        return tuple(found)

    async def _approval_state(self, item: WorkItem, token: ApprovalToken) -> SignedApproval:
        now = self.time.now()  # first, since a jump that is noticed here voids the token
        return await how_it_stands(item, token, self.nonces, self.stops, now, self.lapsed)

    def _warnings(self) -> list[str]:
        found = [self._record(), self.time.state().words(self.config.scheduler.zone)]
        if not self.config.scheduler.enabled:
            found.append(tr("Nothing runs by the clock: set `scheduler.enabled` to true."))
        elif not runs_jobs(self.config.data_dir):
            found.append(
                tr(
                    "No Silas is running: what is due waits until `silas start` or `silas chat`; "
                    "`silas service install` starts one whenever you log in."
                )
            )
        return [words for words in found if words]

    def _record(self) -> str:
        """What keeps everything from running while the record is found changed."""
        try:
            self.reminders.require_whole()
        except Stopped as error:
            return error.message
        return ""


def left_words(alone: UnattendedGoal, zone: ZoneInfo) -> str:
    """How much of the owner's yes is used, and until when it holds, by his clock."""
    return used_words(alone.used, alone.uses, alone.until, zone)


def _title(item: WorkItem | None) -> str:
    """What a plan calls it; empty where the plan is not there."""
    return "" if item is None else item.title


@asynccontextmanager
async def open_ahead(config: SilasConfig) -> "AsyncGenerator[AheadService]":
    """The look of an initialised Silas, without starting anything else.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        audit = AuditLog(db, clock, NoKey())
        time = effective_time(db, clock, audit)
        changed = notifier_of(config).notify
        whole = partial(require_whole_record, config, db)
        yield AheadService(
            reminders_over(config, db, time, audit, changed, whole),
            goals_over(config, db, time, audit, changed),
            SqlWorkItemStore(db, clock),
            SqlNonceStore(db, time, config.nonce_store),
            StopEpochs(db, clock, Sentinel(config.data_dir, config.scheduler.zone)),
            time,
            audit,
            config,
            lapsed_here(config, audit),
        )
