"""Runs the year: processes one after the other, each opened anew on what the one before it left."""

import asyncio
import random
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import silas.wiring.session
from benchmarks.year.planned import START, PlannedGoal, PlannedReminder, goals, reminders
from benchmarks.year.world import World
from silas.agents.runbook.model import RunbookModel
from silas.audit import ChainVerdict
from silas.goals.models import Cycle, GoalRefused, GoalState
from silas.goals.service import Goals
from silas.jobs.store import SqlJobStore
from silas.plans.goals.standing import StandingLimit
from silas.reminders.models import ReminderState, ReminderTelling
from silas.stream.session import Session
from silas.testing import Harness
from silas.testing.clock import MockClock
from silas.wiring.parts import Parts
from tests.chaos.faults import Faults

_SETTINGS = {
    "suggestions": {"enabled": False},
    "audit": {"checkpoint_minutes": 24 * 60},
    "memory": {"consolidation_interval_minutes": 24 * 60},
    "nonce_store": {"prune_interval_minutes": 24 * 60},
}
LAST_DAY = timedelta(days=1)
"""Before its end the owner is there: what waits to be told again would be judged as never told."""

_LONG_PAUSE_AFTER = 2  # processes; so that something is missed in the shortest year, too
_TURNS, _LOOKS, _PAUSE = 25, 100_000, 0.001  # of the event loop; seconds between two looks


def _once(*_: object) -> StandingLimit:
    """One yes to a goal starts work once."""
    return StandingLimit(uses=1)


class Window(NamedTuple):
    """From when until when a goal ran."""

    begin: datetime
    end: datetime


class Year(NamedTuple):
    """What a year left.

    Attributes:
        goals, reminders: What was planned.
        world: What is outside Silas.
        windows: From when until when each goal ran, by its id.
        cancelled: When each reminder was cancelled, by its text.
        cycles, tellings: What Silas keeps of each, by id and by text.
        kills: How many processes were killed; `lives`: how many there were.
        stray: Model calls in steps in which no work was done and no card was shown.
        chain: Whether the record's chain holds.
        until: When the year ended.
    """

    goals: list[PlannedGoal]
    reminders: list[PlannedReminder]
    world: World
    windows: dict[str, list[Window]]
    cancelled: dict[str, datetime]
    cycles: dict[str, list[Cycle]]
    tellings: dict[str, list[ReminderTelling]]
    kills: int
    lives: int
    stray: int
    chain: ChainVerdict
    until: datetime


class Simulation:
    """One year in one home.

    Args:
        home: Where it lives.
        seed: Decides everything.
        days: How long it is.
        goal_count, reminder_count: How much there is.
        kills: About how many processes are killed.
        trust: Whether a goal's approval starts work without asking; else its one use is spent at
            the first time, and every further work has a card.
        earned: Whether the owner accepts what Silas proposes of how much it asks.
    """

    def __init__(
        self,
        home: Path,
        seed: int = 7,
        days: int = 366,
        goal_count: int = 50,
        reminder_count: int = 200,
        kills: int = 100,
        fails: float = 0.02,
        *,
        trust: bool = True,
        earned: bool = False,
    ) -> None:
        self._home, self._days, self._kills, self._trust = home, days, kills, trust
        self._ends = START
        self._chance = random.Random(seed)
        self.until = START + timedelta(days=days)
        self.clock = MockClock(START)
        self.goals = goals(self._chance, self.until, goal_count)
        self.reminders = reminders(self._chance, self.until, reminder_count)
        self.world = World(self.clock, random.Random(seed + 1), self.goals, fails, beside=earned)
        self.windows: dict[str, list[Window]] = {goal.id: [] for goal in self.goals}
        self.cancelled: dict[str, datetime] = {}
        self._ids: dict[str, str] = {}
        self._killed = self._lives = self._stray = 0
        self._renewed: dict[str, datetime] = {}
        self._resumes: dict[str, datetime] = {}
        self._acts = self._owner_moments()
        self._seen = (-1, -1)

    def run(self) -> Year:
        """From the first yes to the last day."""
        with self._patched():
            self._life(self._prepare, Faults())
            while self.clock.now() < self.until:
                self._life(self._live, self._faults())
                self._pause_between()
            result: list[Year] = []

            async def last() -> None:
                async with self._opened() as (parts, h):
                    await self._idle(parts)
                    result.append(await self._year(parts, h))

            self._life(last, Faults())
        return result[0]

    def _faults(self) -> Faults:
        """A process that ends in the middle of something, sooner or later; one in nine does not."""
        points = 40 * 13_000 // max(self._kills, 1) * self._days // 366 + 500
        never = self._kills == 0 or self._chance.random() < 1 / 9
        return Faults(0 if never else int(points ** self._chance.random()) + 50)

    def _life(self, work: Any, faults: Faults) -> None:
        self._lives += 1
        ends = self.clock.now() + timedelta(days=self._chance.randrange(2, 30))
        self._ends = min(ends, self.until)
        with faults.installed():
            survived = faults.run(work)
        self._killed += not survived

    def _pause_between(self) -> None:
        """How long nothing runs: mostly not at all, sometimes hours, twice a year a holiday."""
        draw = self._chance.random()
        hours = 0 if draw < 0.5 else self._chance.randrange(1, 20)
        if draw > 0.98:
            hours = 24 * 6
        if self._lives == _LONG_PAUSE_AFTER:
            hours = 24 * 2
        left = (self.until - self.clock.now()).total_seconds()
        if left > 0:
            self.clock.advance(min(hours * 3600 + 61.0, left))

    # -- one process

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[tuple[Parts, Harness]]:
        found: list[Parts] = []

        @asynccontextmanager
        async def beside(parts: Parts, session: Session) -> AsyncGenerator[None]:
            del session
            found.append(parts)
            yield

        async with Harness(
            self.world.channel, clock=self.clock, sandbox=self.world.sandbox, home=self._home,
            settings=_SETTINGS, beside=beside,
        ) as h:  # fmt: skip
            yield found[0], h

    async def _prepare(self) -> None:
        async with self._opened() as (parts, h):
            for one in self.reminders:
                self._ids[one.text] = parts.reminders().make(one.text, one.when, "owner").id
            for goal in self.goals:
                await h.silas.run(goal.text)
                self.windows[goal.id].append(Window(self.clock.now(), self.until))
            await h.silas.wait_for_work()

    async def _live(self) -> None:
        async with self._opened() as (parts, h):
            while True:
                await self._step(parts, h)
                if self.clock.now() >= self._ends:
                    return
                self._advance()

    async def _step(self, parts: Parts, h: Harness) -> None:
        """Everything that is due, then what the owner does."""
        world = self.world
        before = world.models, world.repaired, len(world.cards)
        await self._idle(parts)
        if world.models > before[0] and (world.repaired, len(world.cards)) == before[1:]:
            self._stray += world.models - before[0]
        await self._owner(parts, h)

    def _advance(self) -> None:
        now = self.clock.now()
        coming = [one for one in self.clock.waited_for if one > now]
        coming += [at for at in self._acts[:1] if at > now]
        moment = min([*coming, self._ends])
        if self._chance.random() < 0.002 and now < self.until - LAST_DAY:
            self.world.go_away()
        self.clock.advance((moment - now).total_seconds())

    async def _idle(self, parts: Parts) -> None:
        """Until nothing runs and nothing is due; what runs in threads is waited for."""
        store = SqlJobStore(parts.db)
        for look in range(_LOOKS):
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            waits = self.clock.waited_for
            if (
                waits
                and waits[0] > self.clock.now()
                and not store.list_unfinished(parts.time.now())
            ):
                return
            await asyncio.sleep(_PAUSE if look else 0)
        left = SqlJobStore(parts.db).list_unfinished(parts.time.now())
        raise AssertionError(f"it does not come to rest at {self.clock.now()}: {left}")

    # -- the owner

    def _owner_moments(self) -> list[datetime]:
        """When he does something, the first time first."""
        found = [at for goal in self.goals for pair in goal.pauses for at in pair]
        found += [one.cancelled for one in self.reminders if one.cancelled is not None]
        return sorted(found)

    async def _owner(self, parts: Parts, h: Harness) -> None:
        """Pauses, resumes, cancels and approves anew, each once, however often it is tried."""
        now, world = self.clock.now(), self.world
        seen = len(world.said), len(world.cards)
        if seen == self._seen and not any(at <= now for at in self._acts[:1]):
            return  # nothing for him to do
        for one in self.reminders:
            if one.cancelled is not None and one.cancelled <= now:
                self._cancel(parts, one)
        for goal in self.goals:
            self._look_after(parts.goals(), goal)
        if self._trust:
            await self._renew(parts, h)
        self._acts = [at for at in self._acts if at > now]
        self._seen = seen

    def _look_after(self, service: Goals, goal: PlannedGoal) -> None:
        now, state = self.clock.now(), service.get(goal.id).state
        self._note(goal, state, since=self._paused_at(service, goal))
        if any(begin <= now < end for begin, end in goal.pauses):
            if state is GoalState.active:
                service.pause(goal.id)
                self._note(goal, GoalState.paused, now)
        elif state is GoalState.paused:  # until its owner is back, or it gave up: a day later
            at = self._resumes.setdefault(goal.id, self._resumed_at(goal, now))
            if at > now:
                self._acts = sorted({*self._acts, at})
                return
            del self._resumes[goal.id]
            with suppress(GoalRefused):  # its one moment passed while it was paused
                service.resume(goal.id)
                self._note(goal, GoalState.active, now)

    def _resumed_at(self, goal: PlannedGoal, now: datetime) -> datetime:
        if any(end <= now for _, end in goal.pauses):
            return now
        return (now + timedelta(days=1)).replace(minute=now.minute | 1, second=30)

    def _paused_at(self, service: Goals, goal: PlannedGoal) -> datetime:
        """Since when it is paused if it is: by its owner, or by itself after its last cycle.

        The process may have been killed before anybody noted it.
        """
        now = self.clock.now()
        by_owner = [begin for begin, end in goal.pauses if begin <= now < end]
        last = service.store.history(goal.id, 1)
        by_itself = [one.ended_at for one in last if one.ended_at is not None]
        return [*by_owner, *by_itself, now][0]

    def _note(self, goal: PlannedGoal, state: GoalState, since: datetime) -> None:
        windows, now = self.windows[goal.id], self.clock.now()
        if state is not GoalState.active and windows[-1].end > now:
            windows[-1] = windows[-1]._replace(end=since)
        elif state is GoalState.active and windows[-1].end < min(now, self.until):
            windows.append(Window(now, self.until))

    def _cancel(self, parts: Parts, one: PlannedReminder) -> None:
        reminder = parts.reminders().store.get(self._ids[one.text])
        assert reminder is not None
        if reminder.state is ReminderState.waiting:
            parts.reminders().cancel(reminder)
        self.cancelled.setdefault(one.text, self.clock.now())

    async def _renew(self, parts: Parts, h: Harness) -> None:
        """A goal whose work was asked for is approved anew: it says that its approval is over."""
        for at, named in self.world.cards[max(self._seen[1], 0) :]:
            task = await parts.store.get(named) if named else None
            goal_id = None if task is None else task.parent
            if goal_id is None or self._renewed.get(goal_id, START) >= at:
                continue
            goal = next(one for one in self.goals if one.id == goal_id)
            if parts.goals().get(goal_id).state is GoalState.active:
                await h.silas.run(goal.text)
                self._renewed[goal_id] = self.clock.now()

    # -- the end

    async def _year(self, parts: Parts, h: Harness) -> Year:
        service, told = parts.goals(), parts.reminders().store
        return Year(
            self.goals,
            self.reminders,
            self.world,
            self.windows,
            self.cancelled,
            {goal.id: service.store.history(goal.id, 100_000)[::-1] for goal in self.goals},
            {text: told.tellings(name) for text, name in self._ids.items()},
            self._killed,
            self._lives,
            self._stray,
            await h.audit.verify_chain(),
            self.until,
        )

    @contextmanager
    def _patched(self) -> Generator[None]:
        """Counts model calls; keeps cycles for the whole year; sets how far trust goes."""
        request, world = RunbookModel.request, self.world

        async def counted(*args: Any, **more: Any) -> Any:
            world.models += 1
            return await request(*args, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RunbookModel, "request", counted)
            patch.setattr("silas.goals.service._KEPT", timedelta(days=1000))
            if not self._trust:
                patch.setattr(silas.wiring.session, "standing_limit", _once)
            yield
