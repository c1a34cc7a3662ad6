"""Goals: approved, paused, resumed and run, each change with its job in one transaction."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from silas.clock import Clock
from silas.goals.models import Cycle, Goal, GoalRefused, GoalState, Outcome
from silas.goals.store import SqlGoalStore
from silas.jobs.models import JobState
from silas.jobs.port import Jobs
from silas.language import tr, tr_later
from silas.language.calendar import moment_words
from silas.plans.goals.clock_fault import why_not_by_clock
from silas.plans.goals.schedule import next_moment, read_schedule, zone_of
from silas.plans.goals.standing import StandingCaps
from silas.plans.models import WorkItem

KIND: Final = "goal"
"""The kind of the jobs of goals."""

GIVES_UP: Final = 5
"""After so many cycles in a row that found a check failing, or whose work failed, a goal pauses."""

_BACK_OFF: Final = timedelta(minutes=15)
_LONGEST: Final = timedelta(days=1)
_KEPT: Final = timedelta(days=90)
_MOST_MISSED: Final = 10_000
_BROKEN_OFF: Final = tr_later("It was broken off before its end.")

_FAILING: Final = frozenset(
    {
        Outcome.failed,
        Outcome.fixed,
        Outcome.not_fixed,
        Outcome.not_done,
        Outcome.asked,
        Outcome.declined,
        Outcome.over_budget,
    }
)
_TELLS: Final = frozenset({Outcome.failed, Outcome.asked, Outcome.declined, Outcome.over_budget})

RecordGoal = Callable[..., object]
"""Writes an entry of the audit log, in the transaction that is open: event, then its fields."""


def _failing_after(goal: Goal, outcome: Outcome) -> int:
    """How many cycles in a row failed; one whose work put it right begins to count anew."""
    if outcome is Outcome.fixed:
        return 1
    return goal.failing + 1 if outcome in _FAILING else 0


def _back_off(failing: int) -> timedelta:
    """How long a goal waits that failed so often in a row."""
    if failing < 2:
        return timedelta(0)
    return min(_BACK_OFF * 2 ** min(failing - 2, 10), _LONGEST)


class Goals:
    """What Silas looks after by the clock.

    Args:
        store: The rows.
        jobs: What wakes Silas at their moments.
        clock: Effective time (decision B19).
        zone: The owner's zone.
        record: The audit log.
        enabled: Whether anything runs by the clock.
        caps: The most that one yes to a goal can be.
    """

    def __init__(
        self,
        store: SqlGoalStore,
        jobs: Jobs,
        clock: Clock,
        zone: ZoneInfo,
        record: RecordGoal,
        *,
        enabled: bool,
        caps: StandingCaps,
    ) -> None:
        self.store = store
        self._jobs = jobs
        self._clock = clock
        self._zone = zone
        self._record = record
        self._enabled = enabled
        self._caps = caps

    def unable(self, item: WorkItem) -> str:
        """Why a goal could not run now, in one sentence; nothing for what is none."""
        now, caps = self._clock.now(), self._caps
        return why_not_by_clock(item, now, self._zone, caps, enabled=self._enabled)

    def next_moments(self, schedule: str, most: int) -> list[datetime]:
        """When a schedule comes next, in UTC; at most so many, fewer where there are fewer."""
        read, moment, found = read_schedule(schedule), self._clock.now(), list[datetime]()
        while len(found) < most:
            coming = next_moment(read, self._zone, moment)
            if coming is None:
                break
            found.append(coming)
            moment = coming
        return found

    def say_moment(self, moment: datetime, schedule: str) -> str:
        """A moment of a goal as a person says it, by the clock that its schedule goes by."""
        return moment_words(moment, zone_of(schedule, self._zone))

    def coming(self, goal_id: str) -> list[datetime]:
        """When a goal runs next, which is after the cycle that is under way; nothing where it does
        not.
        """
        jobs, goal = self._jobs.list(KIND, goal_id), self.store.get(goal_id)
        if goal is not None and any(job.state is JobState.running for job in jobs):
            return self.next_moments(goal.schedule, 1)
        return [job.due for job in jobs][:1]

    def coming_words(self, goal_id: str) -> str:
        """When a goal runs next as a person says it; empty where it does not."""
        moments, goal = self.coming(goal_id), self.store.get(goal_id)
        return self.say_moment(moments[0], goal.schedule) if moments and goal is not None else ""

    def begin_approved(self, item: WorkItem) -> None:
        """A goal was approved: it runs from now on. Writes in the transaction that is open."""
        schedule = item.schedule
        if schedule is None:
            raise GoalRefused(f"{item.id} has no schedule.", code="E_GOAL_SCHEDULE")
        with self.store.db.write():
            self._begins_anew(item.id)
            self._cancel_waiting(item.id)
            self.store.save_approved(item.id, schedule, self._clock.now())
            self._enqueue_next(item.id, schedule)
            self._record("goal.approved", work_item_id=item.id, schedule=schedule)

    def get(self, goal_id: str) -> Goal:
        """One goal. Raises `GoalRefused` where there is none of this id."""
        found = self.store.get(goal_id)
        if found is None:
            raise GoalRefused(
                f"There is no goal {goal_id!r}; `silas goals list` shows them.",
                code="E_GOAL_UNKNOWN",
            )
        return found

    def get_goal(self, goal_id: str) -> Goal | None:
        """One goal; None where there is none of this id."""
        return self.store.get(goal_id)

    def only_goal(self) -> str:
        """The id of the one goal that is not over; empty where there are more, or none."""
        going = [one.id for one in self.store.all() if one.state is not GoalState.ended]
        return going[0] if len(going) == 1 else ""

    def pause(self, goal_id: str, why: str = "") -> Goal:
        """It runs no more until it is resumed. What is under way ends.

        Args:
            goal_id: Which.
            why: Said where it is listed as paused; empty where its owner did it.

        Raises:
            GoalRefused: There is none, or it does not run.
        """
        goal = self.get(goal_id)
        if goal.state is not GoalState.active:
            raise GoalRefused(f"{goal_id} is {goal.state} already.", code="E_GOAL_STATE")
        with self.store.db.write():
            self.store.stands(goal_id, GoalState.paused, why)
            self._cancel_waiting(goal_id)
            self._record("goal.paused", work_item_id=goal_id, by_owner=not why)
        return self.get(goal_id)

    def resume(self, goal_id: str) -> Goal:
        """It runs again from now on; what was due meanwhile is not made up for.

        Raises:
            GoalRefused: There is none, it runs already, or its one moment is past.
        """
        goal = self.get(goal_id)
        if goal.state is GoalState.active:
            raise GoalRefused(f"{goal_id} is not paused.", code="E_GOAL_STATE")
        if not self.next_moments(goal.schedule, 1):
            raise GoalRefused(f"The moment of {goal_id} is past.", code="E_GOAL_PAST")
        with self.store.db.write():
            self._begins_anew(goal_id)
            self.store.stands(goal_id, GoalState.active)
            self.store.counts(goal_id, 0, quiet=False)
            self._enqueue_next(goal_id, goal.schedule)
            self._record("goal.resumed", work_item_id=goal_id)
        return self.get(goal_id)

    def run_now(self, goal_id: str) -> None:
        """One cycle as soon as possible, beside those of the schedule.

        Raises:
            GoalRefused: There is none, it does not run, or a cycle of it is under way.
        """
        goal = self.get(goal_id)
        if goal.state is not GoalState.active:
            raise GoalRefused(
                f"{goal_id} is {goal.state}; `silas goals resume {goal_id}` first.",
                code="E_GOAL_STATE",
            )
        with self.store.db.write():
            jobs = self._jobs.list(KIND, goal_id)
            if any(job.state is JobState.running for job in jobs):
                raise GoalRefused(
                    f"A cycle of {goal_id} is under way; `silas goals history {goal_id}`.",
                    code="E_GOAL_UNDER_WAY",
                )
            self._begins_anew(goal_id)
            self._cancel_waiting(goal_id)
            self._jobs.start(KIND, goal_id)
            self._record("goal.run_now", work_item_id=goal_id)

    # -- what runs the cycles asks

    def begin(self, goal_id: str, slot: str, due: datetime) -> Cycle | None:
        """The cycle of a job; None where the goal does not run any more, or the cycle is over."""
        goal = self.store.get(goal_id)
        if goal is None or goal.state is not GoalState.active:
            return None
        now = self._clock.now()
        cycle = self.store.begin(goal_id, slot, due, self._count_missed(goal, due, now), now)
        return cycle if cycle.outcome is Outcome.begun else None

    def end_cycle(
        self, cycle: Cycle, outcome: Outcome, words: str, checks: dict[str, bool]
    ) -> None:
        """A cycle is over: counted, recorded, and its goal paused where it is no use to go on."""
        now, goal = self._clock.now(), self.store.get(cycle.goal_id)
        failing = 0 if goal is None else _failing_after(goal, outcome)
        if goal is not None and goal.state is GoalState.active:
            # it stands for what came while it ran, or while nothing did after a crash, and for
            # what is put off now
            goes_on = outcome is not Outcome.refused and not self.gives_up(goal, outcome)
            until = now + _back_off(failing) if goes_on else now
            cycle = cycle._replace(
                missed=max(cycle.missed, self._count_missed(goal, cycle.due, until))
            )
        with self.store.db.write():
            self.store.end(cycle, outcome, words, now)
            self.store.prune(cycle.goal_id, now - _KEPT)
            self._record_cycle(cycle, outcome, checks)
            if goal is None:
                return
            again = outcome is not Outcome.fixed and goal.quiet
            quiet = failing > 0 and (again or outcome in _TELLS)
            self.store.counts(goal.id, failing, quiet=quiet)
            if goal.state is not GoalState.active:
                return
            if outcome is Outcome.refused:
                self.store.stands(goal.id, GoalState.paused, words)
                self._record("goal.paused", work_item_id=goal.id, by_owner=False)
            elif self.gives_up(goal, outcome):
                self.store.stands(goal.id, GoalState.paused, f"It failed {failing} times in a row.")
                self._record("goal.paused", work_item_id=goal.id, by_owner=False)

    def gives_up(self, goal: Goal, outcome: Outcome) -> bool:
        """Whether a goal pauses after a cycle that ends so."""
        # a report costs nothing, and a budget that is used has room again
        counts = outcome in _FAILING - {Outcome.failed, Outcome.over_budget}
        return counts and _failing_after(goal, outcome) >= GIVES_UP

    def next_cycle(self, goal_id: str, now: datetime) -> datetime | None:
        """When the next cycle comes, once one has ended; None where none does.

        A cycle that is due while another runs, and what was missed, are one: the next after now.
        After a second failure in a row it waits, twice as long after each further one.
        """
        with self.store.db.write():
            goal = self.store.get(goal_id)
            if goal is None or goal.state is not GoalState.active:
                self._break_off(goal_id)
                return None
            self._cancel_waiting(goal_id)
            until = now + _back_off(goal.failing)
            coming = next_moment(read_schedule(goal.schedule), self._zone, until)
            if coming is None:
                self.store.stands(goal_id, GoalState.ended)
            return coming

    def _count_missed(self, goal: Goal, due: datetime, now: datetime) -> int:
        """How many moments passed after the one that is due."""
        schedule, count = read_schedule(goal.schedule), 0
        if not schedule.cron:
            return 0
        moment = next_moment(schedule, self._zone, due)
        while moment is not None and moment <= now and count < _MOST_MISSED:
            count, moment = count + 1, next_moment(schedule, self._zone, moment)
        return count

    def _begins_anew(self, goal_id: str) -> None:
        """What was put off after failures is not: it was missed up to now only."""
        goal = self.store.get(goal_id)
        if goal is None or not goal.failing:
            return
        for cycle in self.store.history(goal_id, 1):
            missed = self._count_missed(goal, cycle.due, self._clock.now())
            if missed < cycle.missed:
                self.store.save_missed(cycle, missed)

    def _enqueue_next(self, goal_id: str, schedule: str) -> None:
        self._cancel_waiting(goal_id)
        for moment in self.next_moments(schedule, 1):
            self._jobs.at(moment, KIND, goal_id, zone=self._zone.key)

    def _cancel_waiting(self, goal_id: str) -> None:
        for job in self._jobs.list(KIND, goal_id):
            self._jobs.cancel(job.id)  # what runs is not cancelled by this
        self._break_off(goal_id)

    def _break_off(self, goal_id: str) -> None:
        """A cycle that has no job any more comes to no other end: it was to be tried again."""
        goal, now = self.store.get(goal_id), self._clock.now()
        going = {job.slot for job in self._jobs.list(KIND, goal_id)}
        for cycle in self.store.list_unended(goal_id):
            if cycle.slot in going:
                continue
            missed = 0 if goal is None else self._count_missed(goal, cycle.due, now)
            over = cycle._replace(missed=max(cycle.missed, missed))
            self.store.end(over, Outcome.broken_off, tr(_BROKEN_OFF), now)
            self._record_cycle(over, Outcome.broken_off, {})

    def _record_cycle(self, cycle: Cycle, outcome: Outcome, checks: dict[str, bool]) -> None:
        self._record(
            "goal.cycle",
            work_item_id=cycle.goal_id,
            slot=cycle.slot,
            outcome=outcome.value,
            checks=checks,
            task_id=cycle.task_id,
            missed=cycle.missed,
        )
