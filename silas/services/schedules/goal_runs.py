"""How often a goal ran, when it runs next and how much of its yes is used (spec 5.2.3, 5.9)."""

from datetime import datetime, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.audit.outcomes import outcome_word
from silas.context.render import day_and_time
from silas.goals.models import CycleCount, Goal, GoalState, Outcome
from silas.language import tr
from silas.language.calendar import moment_words
from silas.language.catalogue import group_digits
from silas.services.schedules.goal_standing import used_words

_TITLE: Final = 60
"""Characters of a goal's title that stand in view."""

_NO_RUN: Final = frozenset({Outcome.refused, Outcome.broken_off, Outcome.declined})
"""Ends of cycles in which nothing of the goal was looked at or done."""


class YesUse(NamedTuple):
    """How much of the owner's yes is used, and when that ends, in UTC."""

    used: int
    uses: int
    until: datetime


class GoalRuns(NamedTuple):
    """What the clock did of a goal and will do next.

    Attributes:
        goal: Which.
        title: What its plan calls it.
        counts: How its cycles ended, the way of the newest last.
        coming: When it runs next; empty where it does not.
        yes: What is used of its approval; None where that authorises nothing.
        why: Why it is paused, or starts nothing without asking.
    """

    goal: Goal
    title: str
    counts: tuple[CycleCount, ...]
    coming: tuple[datetime, ...]
    yes: YesUse | None
    why: str

    @property
    def ran(self) -> int:
        """How many cycles looked at what it watches, or did its work."""
        return sum(one.times for one in self._real)

    @property
    def _real(self) -> tuple[CycleCount, ...]:
        return tuple(one for one in self.counts if one.outcome not in _NO_RUN)

    def line(self, zone: tzinfo) -> str:
        """One line for a model, in the words of the other blocks in view."""
        said = [f'{self.goal.id} "{" ".join(self.title.split())[:_TITLE]}": {self.goal.standing}']
        said += [f"next {day_and_time(one, zone)}" for one in self.coming]
        if real := self._real:
            ways = ", ".join(f"{one.times} {one.outcome.value}" for one in real)
            first = day_and_time(min(one.first for one in real), zone)
            last = day_and_time(real[-1].last, zone)
            said.append(f"ran {self.ran} times since {first} ({ways}), last {last}")
        else:
            said.append("did not run yet")
        if self.yes is not None:
            until = day_and_time(self.yes.until, zone)
            used, uses = self.yes.used, self.yes.uses
            said.append(f"may start work {uses} times by itself until {until}, {used} of them used")
        if self.why:
            said.append(" ".join(self.why.split()))
        return "; ".join(said)

    def words(self, zone: ZoneInfo, name: str) -> str:
        """The same as sentences for its owner, who calls the goal by this name."""
        said = [self._count_words(zone, name)]
        if self.coming:
            coming = moment_words(self.coming[0], zone)
            said.append(tr("It runs next on {coming}.", coming=coming))
        elif self.goal.state is GoalState.paused:
            said.append(tr("It is paused."))
        else:
            said.append(tr("It comes no more."))
        if self.yes is not None:
            said.append(tr("Your yes: {left}.", left=used_words(*self.yes, zone)))
        return " ".join(said)

    def _count_words(self, zone: ZoneInfo, name: str) -> str:
        real = self._real
        if not real:
            return tr("{goal} did not run yet.", goal=name)
        ways = ", ".join(f"{one.times} × {outcome_word(one.outcome.value)}" for one in real)
        last, how = moment_words(real[-1].last, zone), outcome_word(real[-1].outcome.value)
        if self.ran == 1:
            return tr("{goal} ran once, on {last}: {how}.", goal=name, last=last, how=how)
        return tr(
            "{goal} ran {times} times since {first}: {ways}. The last time was {last}: {how}.",
            goal=name,
            times=group_digits(self.ran),
            first=moment_words(min(one.first for one in real), zone),
            ways=ways,
            last=last,
            how=how,
        )
