"""What a work item may still use; asked before every action (spec 3.3, 5.2.1; decision B11)."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from silas.clock import Clock
from silas.errors import PlanFamilyError
from silas.language import decimal, group_digits, tr
from silas.plans.models import Budget, BudgetUsed

_TIGHT: Final = 0.85
_GRAIN: Final = 1e-6  # seconds: less is a rounding error of the clock, not time


class BudgetExhausted(PlanFamilyError):
    """A budget has no room for what was about to happen; nothing was spent."""


class RemainingBudget(NamedTuple):
    """What is left after use and reservations; never negative. Units as in `Budget`."""

    tokens: int
    cost_usd: float
    wall_time_seconds: float
    attempts: int
    planner_calls: int


class BudgetShare(NamedTuple):
    """One budget: `1,200 of 200,000 tokens`, and which share of 1 of it is used.

    Attributes:
        tight: Hardly any of it is left. Never of attempts and planner calls: they are counted when
            they begin, and the only one of a plan is no reason to worry.
    """

    words: str
    share: float
    tight: bool = False


def shares(used: BudgetUsed, budget: Budget) -> tuple[BudgetShare, ...]:
    """What is used of each limit; a limit of zero is used up as soon as anything is."""
    return tuple(
        BudgetShare(words, _share(part, whole), tight=runs_out and part > _TIGHT * whole)
        for words, part, whole, runs_out in (
            (
                tr(
                    "{used} of {most} tokens",
                    used=group_digits(used.tokens),
                    most=group_digits(budget.max_tokens),
                ),
                used.tokens,
                budget.max_tokens,
                True,
            ),
            (
                tr(
                    "${used} of ${most}",
                    used=decimal(used.cost_usd, 2),
                    most=decimal(budget.max_cost_usd, 2),
                ),
                used.cost_usd,
                budget.max_cost_usd,
                True,
            ),
            (
                tr(
                    "{used} of {most} seconds",
                    used=group_digits(round(used.wall_time_seconds)),
                    most=group_digits(budget.max_wall_time_seconds),
                ),
                used.wall_time_seconds,
                budget.max_wall_time_seconds,
                True,
            ),
            (
                tr("{used} of {most} attempts", used=used.attempts, most=budget.max_attempts),
                used.attempts,
                budget.max_attempts,
                False,
            ),
            (
                tr(
                    "{used} of {most} planner calls",
                    used=used.planner_calls,
                    most=budget.max_planner_calls,
                ),
                used.planner_calls,
                budget.max_planner_calls,
                False,
            ),
        )
    )


def _share(part: float, whole: float) -> float:
    if whole <= 0:
        return 1.0 if part > 0 else 0.0
    return round(min(part / whole, 1.0), 3)


class Reservation:
    """Room held for one call. `settle` says what it really used."""

    def __init__(self, tokens: int, cost_usd: float) -> None:
        self.tokens = tokens
        self.cost_usd = cost_usd
        self.settled = False

    def settle(self, *, tokens: int, cost_usd: float) -> None:
        """Replace the estimate by the real use; more than was held counts, too."""
        _refuse_negative(tokens=tokens, cost_usd=cost_usd)
        self.tokens, self.cost_usd, self.settled = tokens, cost_usd, True


class BudgetTracker:
    """Counts what one work item uses. At a limit is exhausted (`>=`).

    Wall time runs from construction, on top of what was used before (a resumed item goes on
    where it stopped), and stands still within a `pause`. Nothing that counts awaits, so on one
    event loop every answer is atomic.
    """

    def __init__(self, budget: Budget, used: BudgetUsed, clock: Clock) -> None:
        self._budget = budget
        self._used = used
        self._clock = clock
        self._started = clock.monotonic()
        self._held: list[Reservation] = []
        self._waits = 0
        self._stopped = 0.0
        self._going = asyncio.Event()
        self._going.set()

    @contextmanager
    def pause(self) -> Generator[None]:
        """Let wall time stand still: the work waits for its owner (spec 5.2.2), or for the limit of
        requests to the model; may be nested, and entered several times.
        """
        if not self._waits:
            self._stopped = self._clock.monotonic()
            self._going.clear()
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits:
                self._started += self._clock.monotonic() - self._stopped
                self._going.set()

    async def time_over(self) -> None:
        """Wait until the wall time of the budget is used; a pause lasts as long as it lasts."""
        while True:
            await self._going.wait()
            left = self.remaining_seconds()
            if left <= _GRAIN:
                return
            await self._clock.sleep(left)

    def charge(
        self,
        *,
        tokens: int = 0,
        cost_usd: float = 0.0,
        attempts: int = 0,
        planner_calls: int = 0,
        executor_runs: int = 0,
    ) -> None:
        """Add what was used, even beyond a limit: what happened is counted.

        Raises:
            ValueError: A charge is negative or not a number.
        """
        _refuse_negative(
            tokens=tokens,
            cost_usd=cost_usd,
            attempts=attempts,
            planner_calls=planner_calls,
            executor_runs=executor_runs,
        )
        self._used = self._used.merge(
            BudgetUsed(
                tokens=tokens,
                cost_usd=cost_usd,
                attempts=attempts,
                planner_calls=planner_calls,
                executor_runs=executor_runs,
            )
        )

    def measure_use(self) -> BudgetUsed:
        """What was used so far, wall time included, reservations not."""
        elapsed = (self._stopped if self._waits else self._clock.monotonic()) - self._started
        return self._used.merge(BudgetUsed(wall_time_seconds=elapsed))

    def is_exhausted(self) -> bool:
        """Whether any limit is reached: no further attempt may begin."""
        return self.measure_use().exceeds(self._budget)

    @property
    def budget(self) -> Budget:
        """The limits."""
        return self._budget

    def is_spent(self) -> bool:
        """The same but for planner calls, which have a question of their own: that the last one
        was used must not keep its guidance from being followed.
        """
        return self.measure_use().model_copy(update={"planner_calls": 0}).exceeds(self._budget)

    def may_consult_planner(self) -> bool:
        """Whether one more planner consultation is within its limit."""
        return self._used.planner_calls < self._budget.max_planner_calls

    def remaining(self) -> RemainingBudget:
        """What is left, less what is held for calls that are under way."""
        used, budget = self.measure_use(), self._budget
        held_tokens = sum(one.tokens for one in self._held)
        held_cost = sum(one.cost_usd for one in self._held)
        return RemainingBudget(
            tokens=max(budget.max_tokens - used.tokens - held_tokens, 0),
            cost_usd=max(budget.max_cost_usd - used.cost_usd - held_cost, 0.0),
            wall_time_seconds=max(budget.max_wall_time_seconds - used.wall_time_seconds, 0.0),
            attempts=max(budget.max_attempts - used.attempts, 0),
            planner_calls=max(budget.max_planner_calls - used.planner_calls, 0),
        )

    def remaining_seconds(self) -> float:
        """Wall time that is left."""
        return self.remaining().wall_time_seconds

    @contextmanager
    def reserve(self, *, tokens: int, cost_usd: float) -> Generator[Reservation]:
        """Hold room for one call before it is made, so that calls together cannot overspend.

        A call that ends without `settle` is charged in full: unknown use is not free.

        Raises:
            BudgetExhausted: `E_PLAN_BUDGET`: there is less room than this, or none.
            ValueError: The estimate is negative or not a number.
        """
        _refuse_negative(tokens=tokens, cost_usd=cost_usd)
        left = self.remaining()
        if (
            min(left.tokens, left.wall_time_seconds) <= 0
            or tokens > left.tokens
            or cost_usd > left.cost_usd
        ):
            raise BudgetExhausted(
                f"The budget has no room for this call; {self.describe()} are used.",
                code="E_PLAN_BUDGET",
            )
        held = Reservation(tokens, cost_usd)
        self._held.append(held)
        try:
            yield held
        finally:
            self._held = [one for one in self._held if one is not held]
            self.charge(tokens=held.tokens, cost_usd=held.cost_usd)

    def describe(self) -> str:
        """Use and limits in words: `1,200 of 200,000 tokens, $0.02 of $2.00, ...`."""
        return ", ".join(one.words for one in shares(self.measure_use(), self._budget))


def _refuse_negative(**amounts: float) -> None:
    for name, amount in amounts.items():
        if not 0 <= amount < float("inf"):  # false for NaN, too
            raise ValueError(f"{name} cannot be {amount}")
