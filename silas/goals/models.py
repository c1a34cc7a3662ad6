"""A goal as the clock sees it, and one cycle of it (spec 5.2.3)."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from silas.errors import SilasError


class GoalState(StrEnum):
    """Whether the clock runs a goal."""

    active = "active"
    paused = "paused"
    ended = "ended"
    """Its one moment has passed."""


class Outcome(StrEnum):
    """How a cycle ended."""

    begun = "begun"
    """Not yet: its checks run, or the work that it started does."""
    healthy = "healthy"
    failed = "failed"
    """A check failed and nothing was started."""
    fixed = "fixed"
    """A check failed, and the work that it started succeeded."""
    not_fixed = "not_fixed"
    """A check failed, and so did the work that it started."""
    done = "done"
    """Its own work was done."""
    not_done = "not_done"
    """Its own work failed."""
    asked = "asked"
    """A card about the work waits for its owner."""
    declined = "declined"
    over_budget = "over_budget"
    """A check failed, and today's budget is used."""
    refused = "refused"
    """Its approval does not hold any more; the goal is paused."""
    broken_off = "broken_off"
    """Its job went before its end: the goal was paused, approved anew or run at once meanwhile."""


class Goal(NamedTuple):
    """What the clock knows of a goal; its plan and its approval are a work item.

    Attributes:
        id: Of the work item.
        schedule: As its plan has it.
        state: Whether it runs.
        why: Why it is paused, in one sentence; empty where the owner paused it, or it is not.
        failing: How many cycles in a row found a check that fails, or failed at their work.
        quiet: Whether its owner was asked or told since it was healthy last.
        approved_at: When it was approved last.
        repaired: Whether its last cycle found a check failing and its work succeeded.
    """

    id: str
    schedule: str
    state: GoalState
    why: str
    failing: int
    quiet: bool
    approved_at: datetime
    repaired: bool = False

    @property
    def standing(self) -> str:
        """Its state; of one that runs and whose last cycle found a check failing `failing`, or
        `repaired` where the work that followed succeeded.
        """
        if self.state is not GoalState.active or not self.failing:
            return self.state.value
        return "repaired" if self.repaired else "failing"


class Cycle(NamedTuple):
    """One cycle.

    Attributes:
        goal_id: Whose.
        slot: Of its job.
        due: When it was due.
        outcome: How it ended.
        task_id: The task that it spawned; empty where it spawned none.
        missed: How many moments passed until its end, or are put off after it because it failed
            again; it stands for them, too.
        words: Why it ended so, in one sentence.
        began_at: When it began.
        ended_at: When it ended; None where it did not.
    """

    goal_id: str
    slot: str
    due: datetime
    outcome: Outcome
    task_id: str
    missed: int
    words: str
    began_at: datetime
    ended_at: datetime | None


class CycleCount(NamedTuple):
    """How many cycles of a goal ended in one way.

    Attributes:
        outcome: In which.
        times: How many.
        first: When the first of them began.
        last: When the last of them began.
    """

    outcome: Outcome
    times: int
    first: datetime
    last: datetime


class GoalRefused(SilasError):
    """What is asked of a goal cannot be done; the sentence says why."""

    family = "E_GOAL"
