"""What becomes of a model's failures in a whole Silas: an attempt, an answer, never a loop."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from silas.agents import ExecutorAgentOutput
from silas.cards import Card, PlanAnswer, PlanCard
from silas.plans import WorkItemStatus
from silas.testing import (
    CallTool,
    FakeSandbox,
    Harness,
    MockClock,
    ScriptedChannel,
    ScriptedModel,
    plan_text,
)
from silas.testing.tools import exit_result
from tests.support.waits import SECONDS

T = TypeVar("T")
LOOK = CallTool("shell_exec", {"argv": ["ls"]})
REPORT = ExecutorAgentOutput(summary="worked")


async def soon(what: Awaitable[T]) -> T:
    async with asyncio.timeout(SECONDS):
        return await what


def a_sandbox() -> FakeSandbox:
    return FakeSandbox(lambda run: exit_result(0, "done"))


def approve(card: Card[Any]) -> Any:
    return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else card.safe


class Waits(MockClock):
    """A clock on which waiting for a provider takes no time and is written down.

    Waits of a minute and more are housekeeping's; they last until somebody moves the clock.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        if seconds >= 60:
            await super().sleep(seconds)
        else:
            self.waited.append(seconds)


@pytest.mark.proves("S5.1.0-EXECUTOR-FALLBACK")
async def test_an_executor_out_of_form_twice_has_failed_its_attempt_and_tries_again() -> None:
    executor = ScriptedModel(["All done!", "Really.", LOOK, REPORT])
    models = {"executor": executor}
    async with Harness(ScriptedChannel(approve), models=models, sandbox=a_sandbox()) as h:
        result = await soon(h.silas.run(plan_text(verify=None)))
    assert result.status is WorkItemStatus.done
    assert result.budget_used.attempts == 2
    assert "executor_structured_output_invalid" in executor.requests[2].text


async def test_doing_nothing_twice_ends_the_work_where_the_planner_cannot_advise() -> None:
    executor = ScriptedModel([REPORT] * 4)
    async with Harness(ScriptedChannel(approve), models={"executor": executor}) as h:
        result = await soon(h.silas.run(plan_text(verify=None, on_stuck="consult_planner")))
    assert result.status is WorkItemStatus.stuck
    assert result.summary == "nothing was done"
    assert result.budget_used.attempts == 2


@pytest.mark.proves("S5.1.0-EXECUTOR-FALLBACK")
async def test_an_executor_that_never_answers_in_form_ends_with_its_attempts() -> None:
    executor = ScriptedModel(["All done!"] * 4)
    models = {"executor": executor}
    plan = plan_text(verify=None, budget={"max_attempts": 2})
    async with Harness(ScriptedChannel(approve), models=models, sandbox=a_sandbox()) as h:
        result = await soon(h.silas.run(plan))
    assert result.status is WorkItemStatus.stuck
    assert result.budget_used.attempts == 2
    assert executor.remaining == 0


@pytest.mark.proves("S18.1-LLM")
async def test_a_provider_that_stays_away_is_waited_for_a_little_and_then_said() -> None:
    proxy, clock = ScriptedModel([ModelHTTPError(503, "scripted")] * 3), Waits()
    async with Harness(models={"proxy": proxy}, sandbox=a_sandbox(), clock=clock) as h:
        reply = await soon(h.silas.ask("hello"))
    assert reply.outcome == "failed"
    assert "Nothing was run" in reply.text
    assert clock.waited == [1.0, 2.0]
    assert proxy.remaining == 0


@pytest.mark.proves("B11-IDLE-CALLS-NOTHING")
async def test_with_nothing_asked_a_day_passes_without_a_model() -> None:
    models = {role: ScriptedModel([]) for role in ("proxy", "planner", "executor", "scorer")}
    async with Harness(models=models, sandbox=a_sandbox()) as h:
        for _ in range(24):
            h.clock.advance(3600)
            for _ in range(50):
                await asyncio.sleep(0)
    assert [model.requests for model in models.values()] == [[]] * 4
