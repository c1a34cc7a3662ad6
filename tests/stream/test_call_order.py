"""Whose request to a model is made next while several of the owner's wait (spec 18.5)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from silas.agents.call_meter import PASSED_OVER
from silas.agents.models import PlannerAdvice
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.testing import CallTool, FakeSandbox, Harness, MockClock, ScriptedChannel, ScriptedModel
from silas.testing.tools import exit_result
from silas.types import OWNER
from silas.work.models import Notify, ProgressEvent
from tests.stream.kit import answering, direct, done_sandbox, ran, soon
from tests.support.clocks import SleptClock
from tests.support.plans import sh_plan

A_MINUTE = {"limits": {"llm_calls_per_minute_per_scope": 1}}
WAITS = "waiting for the limit of requests to the model (1 a minute), about {} s"
LOOK = CallTool("shell_exec", {"argv": ["true"]})


class SeenChannel(ScriptedChannel):
    """Shows what is waited for, and running work; says yes to plans."""

    def __init__(self) -> None:
        super().__init__(answering("approved"))
        self.waited: list[tuple[str, str]] = []
        self.work: list[ProgressEvent] = []
        self._waits: asyncio.Queue[str] = asyncio.Queue()

    def shows_drafts_to(self, recipient_id: str) -> bool:
        return False

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        raise AssertionError("no draft is shown here")

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        raise AssertionError("no draft is answered here")

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        assert recipient_id == OWNER
        self.waited.append((source, words))
        self._heard(words)

    def showing(
        self, item: WorkItem, result: Callable[[str], Awaitable[WorkItemResult | None]]
    ) -> Notify:
        async def notify(event: ProgressEvent) -> None:
            self.work.append(event)
            self._heard(event.message)

        return notify

    def _heard(self, words: str) -> None:
        if words.startswith("waiting for the limit"):
            self._waits.put_nowait(words)

    async def waits_for(self, words: str) -> None:
        """Until a turn, or work, says for the next time that it waits for the limit."""
        assert await soon(self._waits.get()) == words


class OrderedModel(ScriptedModel):
    """Notes who is asked, in a list shared with others."""

    def __init__(self, name: str, order: list[str], *steps: Any) -> None:
        super().__init__(steps)
        self._name, self._order = name, order

    async def request(self, *args: Any, **more: Any) -> Any:
        self._order.append(self._name)
        return await super().request(*args, **more)


def house(
    channel: ScriptedChannel,
    clock: MockClock,
    models: Mapping[str, ScriptedModel],
    sandbox: FakeSandbox | None = None,
) -> Harness:
    runs = sandbox or done_sandbox()
    return Harness(channel, models=models, settings=A_MINUTE, sandbox=runs, clock=clock)


@pytest.mark.proves("S18.5-MODEL-CALLS")
async def test_what_the_owner_says_goes_before_work_that_waits() -> None:
    order, clock, channel = list[str](), MockClock(), SeenChannel()
    models = {
        "executor": OrderedModel("work", order, LOOK, ran()),
        "proxy": OrderedModel("message", order, direct()),
    }
    async with house(channel, clock, models) as h:
        work = asyncio.create_task(h.silas.run(sh_plan("true")))
        await channel.waits_for(WAITS.format(60))
        said = asyncio.create_task(h.silas.ask("hello"))
        await channel.waits_for(WAITS.format(60))  # nobody goes before it
        clock.advance(60)
        await soon(said)
        clock.advance(60)
        await soon(work)
        assert order == ["work", "message", "work"]


async def test_work_is_not_passed_over_for_ever() -> None:
    order, clock, channel = list[str](), MockClock(), SeenChannel()
    many = PASSED_OVER + 1
    models = {
        "executor": OrderedModel("work", order, LOOK, ran()),
        "proxy": OrderedModel("message", order, *[direct()] * many),
    }
    async with house(channel, clock, models) as h:
        work = asyncio.create_task(h.silas.run(sh_plan("true")))
        await channel.waits_for(WAITS.format(60))
        said = asyncio.gather(*[h.silas.ask("hello") for _ in range(many)])
        for passed_over in range(PASSED_OVER):
            await channel.waits_for(WAITS.format(60))
            assert order == ["work", *["message"] * passed_over]
            clock.advance(60)
        await channel.waits_for(WAITS.format(120))
        clock.advance(60)
        await soon(work)
        clock.advance(60)
        await soon(said)
    assert order == ["work", *["message"] * PASSED_OVER, "work", "message"]


async def test_a_message_that_waits_says_so_where_its_turn_is_shown() -> None:
    channel, clock = SeenChannel(), SleptClock()
    async with house(channel, clock, {"proxy": ScriptedModel([direct(), direct()])}) as h:
        await soon(h.silas.ask("hello"))
        channel.waited.clear()
        clock.waits.clear()
        said = asyncio.create_task(h.silas.ask("hello"))
        await soon(clock.slept_for(60))  # and not until it is told: that is what is looked at
        before = list(channel.waited)
        clock.advance(60)
        await soon(said)
        asks = ("turn", "waiting for the model (proxy)")
        assert before == [asks, ("turn", WAITS.format(60))]
        assert channel.waited[2] == asks


async def test_work_that_waits_says_so_and_loses_none_of_its_time() -> None:
    channel, clock = SeenChannel(), MockClock()
    async with house(channel, clock, {"executor": ScriptedModel([LOOK, ran()])}) as h:
        budget = {"max_wall_time_seconds": 30}
        work = asyncio.create_task(h.silas.run(sh_plan("true", budget=budget)))
        await channel.waits_for(WAITS.format(60))
        clock.advance(60)
        await soon(work)
        (item,) = await h.store.list_by_status(WorkItemStatus.done)
        assert item.budget_used.wall_time_seconds == 0
    shown = [step.words for step in channel.work[-1].going.steps]
    assert shown == ["Run true", "Checking: written"]  # the wait was no step of the work


async def test_advice_that_waits_takes_none_of_the_works_time() -> None:
    channel, clock = SeenChannel(), SleptClock()
    planner = ScriptedModel([PlannerAdvice(guidance="Run `true` instead.")])
    sandbox = FakeSandbox(
        lambda run: exit_result(1) if planner.remaining else exit_result(0, "done\n")
    )
    models = {"executor": ScriptedModel([LOOK, ran()] * 3), "planner": planner}
    async with house(channel, clock, models, sandbox) as h:
        budget = {"max_wall_time_seconds": 30}
        work = asyncio.create_task(h.silas.run(sh_plan("true", budget=budget)))
        for _ in range(2 * 3):  # each request but the first, the planner's among them
            await soon(clock.slept_or_done(60, work))
            clock.advance(60)
        assert (await soon(work)).status is WorkItemStatus.done
        assert not planner.remaining
