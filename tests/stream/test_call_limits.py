"""Requests to models are limited a minute, for each scope and in all (spec 18.5)."""

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from silas.agents.call_meter import OTHERS_TOGETHER
from silas.agents.call_scope import calls_of
from silas.stream.models import Reply
from silas.stream.session import Session
from silas.testing import Harness, MockClock, ScriptedModel
from silas.wiring.build import alone
from silas.wiring.parts import Parts
from tests.context.kit import item, words
from tests.stream.kit import direct, entries_of, said, soon
from tests.support.clocks import SleptClock

LIMIT = 2
SETTINGS = {"limits": {"llm_calls_per_minute_per_scope": LIMIT}}
TOO_MANY = "Silas has asked its model as often as it may within a minute; try again in a minute."


def house(calls: int, clock: MockClock | None = None) -> Harness:
    models = {"proxy": ScriptedModel([direct("Hello.")] * calls)}
    return Harness(models=models, settings=SETTINGS, clock=clock)


async def ask(h: Harness, who: str) -> Reply:
    return await soon(h.silas.stream.handle(said(h, "hello", who)))


@pytest.mark.proves("S18.5-MODEL-CALLS")
async def test_a_stranger_who_asks_too_often_is_told_and_nobody_else_is_kept_waiting() -> None:
    async with house(LIMIT + 3) as h:
        told = [(await ask(h, "one")).text for _ in range(LIMIT + 1)]
        assert told == ["Hello."] * LIMIT + [f"{TOO_MANY} Nothing was run."]
        assert [e["code"] for e in await entries_of(h, "turn_degraded")] == ["E_LLM_CALLS_A_MINUTE"]
        (entry,) = await entries_of(h, "limit.exceeded")
        assert (entry["reason"], entry["who"]) == ("requests to models", "one")
        assert (await ask(h, "other")).text == "Hello."
        assert (await soon(h.silas.ask("hello"))).text == "Hello."
        h.clock.advance(60)
        assert (await ask(h, "one")).text == "Hello."


@pytest.mark.proves("S18.5-MODEL-CALLS")
async def test_all_strangers_together_have_a_limit_that_leaves_the_owner_his() -> None:
    allowed = LIMIT * OTHERS_TOGETHER
    async with house(allowed + 1) as h:
        told = [(await ask(h, f"stranger-{number}")).text for number in range(allowed + 1)]
        assert told == ["Hello."] * allowed + [f"{TOO_MANY} Nothing was run."]
        assert (await soon(h.silas.ask("hello"))).text == "Hello."


@pytest.mark.proves("S18.5-MODEL-CALLS")
async def test_the_owners_message_waits_for_its_turn_and_is_answered() -> None:
    clock = SleptClock()
    async with house(LIMIT + 1, clock) as h:
        for _ in range(LIMIT):
            await soon(h.silas.ask("hello"))
        clock.slept.clear()
        waiting = asyncio.create_task(h.silas.ask("hello"))
        await soon(clock.slept.wait())
        assert clock.waits[-1] == pytest.approx(60 / LIMIT)
        clock.advance(60 / LIMIT)
        assert (await soon(waiting)).text == "Hello."


async def test_the_built_in_model_is_not_counted() -> None:
    async with Harness(settings=SETTINGS) as h:
        for _ in range(LIMIT * 3):
            reply = await soon(h.silas.ask("what is 2 + 3?"))
            assert "5" in reply.text


@pytest.mark.proves("S18.5-MODEL-CALLS")
async def test_a_request_of_the_scorer_that_is_refused_is_on_record_too() -> None:
    found: list[Parts] = []

    def beside(parts: Parts, session: Session) -> AbstractAsyncContextManager[object]:
        found.append(parts)
        return alone(parts, session)

    scorer = ScriptedModel([])
    models = {"proxy": ScriptedModel([direct("Hello.")] * LIMIT), "scorer": scorer}
    async with Harness(models=models, settings=SETTINGS, beside=beside) as h:
        for _ in range(LIMIT):
            await ask(h, "one")
        context = found[0].context_services.context
        context.reserve(h.config.context.total_tokens)  # nothing else has room
        context.add("one", item("old", words(60), turn_number=1))
        with calls_of("one"):
            await soon(context.enforce_budget("one", 40, "mend it"))
        (missing,) = await entries_of(h, "context_scorer_missing")
        assert "E_LLM_CALLS_A_MINUTE" in missing["reason"]
        (entry,) = await entries_of(h, "limit.exceeded")
        assert (entry["reason"], entry["who"]) == ("requests to models", "one")
        assert scorer.requests == []
