"""Whose allowance a request to a model uses: least trust, so the owner's only where he asked."""

import asyncio
from contextlib import AbstractAsyncContextManager
from contextvars import Context

import pytest

from silas.agents.call_scope import scope_of_calls
from silas.memory.consolidate import consolidate
from silas.stream.session import Session
from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel
from silas.types import OWNER
from silas.wiring.build import alone
from silas.wiring.parts import Parts
from tests.stream.kit import (
    answering,
    direct,
    done_sandbox,
    entries_of,
    proposing,
    ran,
    said,
    soon,
    to_planner,
)
from tests.support.clocks import SleptClock
from tests.support.plans import sh_plan

LIMIT = 2
SETTINGS = {"limits": {"llm_calls_per_minute_per_scope": LIMIT}}
LOOK = CallTool("shell_exec", {"argv": ["true"]})


def test_where_nobody_said_whose_they_are_they_are_not_the_owners() -> None:
    assert Context().run(scope_of_calls).scope_id != OWNER


@pytest.mark.proves("S18.5-MODEL-CALLS")
async def test_work_that_a_stranger_asked_for_uses_his_allowance_and_waits_for_it() -> None:
    channel = ScriptedChannel(answering("approved"))
    models = {
        "proxy": ScriptedModel([to_planner(), *[direct()] * LIMIT]),
        "planner": ScriptedModel([proposing(sh_plan("true"))]),
        "executor": ScriptedModel([LOOK, ran()]),
    }
    clock, runs = SleptClock(), done_sandbox()
    async with Harness(channel, models=models, settings=SETTINGS, sandbox=runs, clock=clock) as h:
        await soon(h.silas.stream.handle(said(h, "run it", "stranger")))
        (name,) = h.silas.executor.running()
        work = asyncio.create_task(h.silas.wait(name))
        await soon(clock.slept_or_done(60 / LIMIT, work))
        assert models["executor"].remaining == 2  # it waits for the stranger's
        for _ in range(LIMIT):  # none of the owner's is used, so that he waits for nothing
            assert (await soon(h.silas.ask("hello"))).text == "Hello."
        assert models["executor"].remaining == 2
        h.clock.advance(60)
        result = await soon(work)
        assert result is not None
        assert result.status.value == "done"
        assert await entries_of(h, "limit.exceeded") == []  # approved work is not refused


async def test_what_comes_by_the_clock_after_a_strangers_talk_asks_no_model() -> None:
    found: list[Parts] = []

    def beside(parts: Parts, session: Session) -> AbstractAsyncContextManager[object]:
        found.append(parts)
        return alone(parts, session)

    proxy = ScriptedModel([direct(), *[direct()] * LIMIT])
    async with Harness(models={"proxy": proxy}, settings=SETTINGS, beside=beside) as h:
        await soon(h.silas.stream.handle(said(h, "remind me in an hour to call", "stranger")))
        services = found[0].context_services
        await soon(services.review.heartbeat())
        await soon(services.review.wait_until_shown())
        await soon(consolidate(services.remembered.consolidator, h.audit))
        h.clock.advance(2 * 3600)  # what he wanted to be reminded of is due
        assert proxy.remaining == LIMIT
        for _ in range(LIMIT):
            assert (await soon(h.silas.ask("hello"))).text == "Hello."
