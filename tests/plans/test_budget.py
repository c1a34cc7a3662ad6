"""Budgets: at the limit is exhausted, and calls together cannot overspend (spec 3.3, B11)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.language import speak
from silas.plans import Budget, BudgetExhausted, BudgetTracker, BudgetUsed
from silas.testing import MockClock


def _tracker(
    clock: MockClock | None = None, used: BudgetUsed | None = None, **limits: Any
) -> BudgetTracker:
    return BudgetTracker(Budget(**limits), used or BudgetUsed(), clock or MockClock())


@pytest.mark.proves("S3.3-BUDGET-AT-LIMIT")
@pytest.mark.parametrize(
    ("limits", "below", "at"),
    [
        ({"max_tokens": 100}, {"tokens": 99}, {"tokens": 100}),
        ({"max_cost_usd": 0.5}, {"cost_usd": 0.49}, {"cost_usd": 0.5}),
        ({"max_attempts": 2}, {"attempts": 1}, {"attempts": 2}),
        ({"max_planner_calls": 2}, {"planner_calls": 1}, {"planner_calls": 2}),
    ],
)
def test_exactly_at_a_limit_is_exhausted(
    limits: dict[str, Any], below: dict[str, Any], at: dict[str, Any]
) -> None:
    tracker = _tracker(**limits)
    assert not tracker.is_exhausted()
    tracker.charge(**below)
    assert not tracker.is_exhausted()
    tracker = _tracker(**limits)
    tracker.charge(**at)
    assert tracker.is_exhausted()


@pytest.mark.proves("S3.3-BUDGET-AT-LIMIT")
def test_wall_time_runs_by_itself_and_goes_on_after_a_restart() -> None:
    clock = MockClock()
    tracker = _tracker(clock, max_wall_time_seconds=60)
    clock.advance(40)
    assert tracker.remaining_seconds() == 20
    resumed = _tracker(clock, tracker.measure_use(), max_wall_time_seconds=60)
    clock.advance(19.5)
    assert not resumed.is_exhausted()
    clock.advance(0.5)
    assert resumed.is_exhausted()
    assert resumed.remaining_seconds() == 0
    assert resumed.measure_use().wall_time_seconds == 60


def test_executor_runs_are_counted_and_limit_nothing() -> None:
    tracker = _tracker()
    tracker.charge(executor_runs=1000)
    assert tracker.measure_use().executor_runs == 1000
    assert not tracker.is_exhausted()


@pytest.mark.parametrize(("limit", "calls"), [(0, [False]), (2, [True, True, False])])
def test_the_planner_is_consulted_as_often_as_the_budget_says(
    limit: int, calls: list[bool]
) -> None:
    tracker = _tracker(max_planner_calls=limit)
    for allowed in calls:
        assert tracker.may_consult_planner() is allowed
        tracker.charge(planner_calls=1)


def test_a_budget_without_planner_calls_or_cost_still_lets_free_work_run() -> None:
    tracker = _tracker(max_planner_calls=0, max_cost_usd=0)
    tracker.charge(tokens=10)
    assert not tracker.is_exhausted()
    tracker.charge(cost_usd=0.01)
    assert tracker.is_exhausted()


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf")])
def test_a_charge_that_is_no_amount_is_refused(amount: float) -> None:
    tracker = _tracker()
    with pytest.raises(ValueError, match="cost_usd cannot be"):
        tracker.charge(cost_usd=amount)
    with (
        pytest.raises(ValueError, match="cost_usd cannot be"),
        tracker.reserve(tokens=0, cost_usd=amount),
    ):
        pass
    assert tracker.measure_use().cost_usd == 0


@pytest.mark.proves("B11-RESERVED")
def test_two_calls_that_fit_alone_do_not_fit_together() -> None:
    tracker = _tracker(max_tokens=100, max_cost_usd=1)
    with tracker.reserve(tokens=60, cost_usd=0.1) as first:
        assert tracker.remaining().tokens == 40
        with pytest.raises(BudgetExhausted) as refused, tracker.reserve(tokens=60, cost_usd=0.1):
            pass
        first.settle(tokens=20, cost_usd=0.05)
    assert refused.value.code == "E_PLAN_BUDGET"
    assert tracker.measure_use().tokens == 20
    with tracker.reserve(tokens=80, cost_usd=0.95) as second:
        second.settle(tokens=80, cost_usd=0.95)
    assert tracker.is_exhausted()


def test_nothing_is_reserved_when_time_or_tokens_are_spent() -> None:
    clock = MockClock()
    tracker = _tracker(clock, max_wall_time_seconds=5)
    clock.advance(5)
    with pytest.raises(BudgetExhausted), tracker.reserve(tokens=0, cost_usd=0):
        pass


def test_a_call_whose_use_is_unknown_is_charged_in_full() -> None:
    tracker = _tracker()
    with pytest.raises(OSError, match="lost"), tracker.reserve(tokens=60, cost_usd=0.1):
        raise OSError("lost")
    assert (tracker.measure_use().tokens, tracker.measure_use().cost_usd) == (60, 0.1)
    assert tracker.remaining().tokens == 200_000 - 60


def test_a_call_that_used_more_than_it_held_is_charged_what_it_used() -> None:
    tracker = _tracker(max_tokens=100)
    with tracker.reserve(tokens=10, cost_usd=0) as held:
        held.settle(tokens=500, cost_usd=0.2)
    assert tracker.measure_use().tokens == 500
    assert tracker.remaining().tokens == 0


@pytest.mark.proves("B11-RESERVED")
@given(st.lists(st.tuples(st.integers(1, 50), st.booleans()), max_size=30))
def test_reservations_never_let_estimates_pass_the_limit(calls: list[tuple[int, bool]]) -> None:
    tracker = _tracker(max_tokens=100)
    open_calls: list[Any] = []
    for tokens, finish in calls:
        call = tracker.reserve(tokens=tokens, cost_usd=0)
        before = tracker.remaining().tokens
        try:
            call.__enter__()
        except BudgetExhausted:
            assert tokens > before or before == 0
            continue
        open_calls.append(call)
        if finish:
            open_calls.pop(0).__exit__(None, None, None)
    for call in open_calls:
        call.__exit__(None, None, None)
    assert tracker.measure_use().tokens <= 100


def test_use_and_limits_are_told_in_words() -> None:
    clock = MockClock()
    tracker = _tracker(clock)
    tracker.charge(tokens=1200, cost_usd=0.0234, attempts=1)
    clock.advance(61.4)
    assert tracker.describe() == (
        "1,200 of 200,000 tokens, $0.02 of $2.00, 61 of 1,800 seconds, 1 of 5 attempts, "
        "0 of 3 planner calls"
    )
    speak("de")
    try:
        assert tracker.describe().startswith(
            "1.200 von 200.000 Token, $0,02 von $2,00, 61 von 1.800 Sekunden, "
        )
    finally:
        speak("en")


@pytest.mark.proves("S3.3-BUDGET-MERGE")
def test_a_parent_carries_everything_its_children_used() -> None:
    child = BudgetUsed(
        tokens=1, cost_usd=0.5, wall_time_seconds=2, attempts=3, planner_calls=4, executor_runs=5
    )
    assert child.merge(child) == BudgetUsed(
        tokens=2, cost_usd=1, wall_time_seconds=4, attempts=6, planner_calls=8, executor_runs=10
    )
