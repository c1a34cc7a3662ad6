"""A plan that could not succeed goes back to its planner before anybody is asked about it."""

from typing import Any

import pytest

from silas.agents import AgentResponse
from silas.cards import PlanCard
from silas.testing import Harness, ScriptedChannel, ScriptedModel, plan_text
from tests.stream.kit import (
    answer,
    answering,
    done_sandbox,
    entries_of,
    planned,
    plans_of,
    proposing,
    soon,
)

GOOD = plan_text()
UNREADABLE = plan_text(colour="blue", budget={"max_tokens": "many"}, title=None)
GOAL = plan_text(type="goal")


async def _asked(*steps: AgentResponse) -> tuple[Any, ScriptedChannel, ScriptedModel, list[Any]]:
    """What was answered and shown, what the planner was asked, and what is on record."""
    channel, models = ScriptedChannel(answering("declined")), planned(*steps)
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("do it"))
        faulty = await entries_of(h, "plan_faulty")
    return reply, channel, models["planner"], faulty


def _said(planner: ScriptedModel, request: int) -> str:
    return planner.requests[request].text


async def test_a_plan_goes_back_with_its_own_text_and_all_its_mistakes_at_once() -> None:
    reply, channel, planner, [faulty] = await _asked(proposing(UNREADABLE), proposing(GOOD))
    [card] = plans_of(channel)
    assert isinstance(card, PlanCard)
    assert card.intent == "Write the result"
    first, second = _said(planner, 0), _said(planner, 1)
    assert second.startswith(first)  # a server has read all of that
    assert "returned_plan" in second
    assert 'colour: "blue"' in second
    told = ("unknown key `colour`", "max_tokens` must be", "`title` is missing")
    assert all(words in second.replace(first, "") for words in told)
    assert len(faulty["reasons"]) == 3
    assert "cannot be read" not in reply.text


async def test_the_card_says_what_going_back_cost_and_nothing_where_it_cost_nothing() -> None:
    channel = ScriptedChannel(answering("declined"))
    steps = [proposing(UNREADABLE), proposing(GOOD), proposing(plan_text(id="task-second"))]
    models = planned(*steps) | {"planner": ScriptedModel(steps, tokens=(1_200, 34))}
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.ask("do the other"))
    back, straight = [card.rationale for card in channel.cards if isinstance(card, PlanCard)]
    assert "The plan went back to its planner once, for 1,234 tokens." in back
    assert "went back" not in straight


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (GOAL, "is a goal that never runs"),
        (plan_text(skills=["excel"]), "skills that are not installed: excel"),
        (plan_text(workspace="/nowhere/at/all"), "/nowhere/at/all"),
    ],
    ids=["a goal", "a skill", "a path"],
)
async def test_what_could_not_run_goes_back_too(plan: str, told: str) -> None:
    _, channel, planner, _ = await _asked(proposing(plan), proposing(GOOD))
    assert told in _said(planner, 1).rpartition("mistakes")[2]
    assert len(plans_of(channel)) == 1


async def test_after_two_returns_the_owner_is_told_once_and_asked_nothing() -> None:
    plans = [proposing(plan_text(colour=colour)) for colour in ("blue", "red", "green")]
    reply, channel, planner, faulty = await _asked(*plans)
    assert plans_of(channel) == []
    assert channel.texts == [reply.text]
    assert "The plan cannot be read: line 6, column 1: unknown key `colour`" in reply.text
    assert "went back to the planner twice and is still wrong" in reply.text
    assert reply.outcome == "blocked"
    assert len(planner.requests) == len(faulty) == 3


async def test_a_planner_that_repeats_itself_is_not_asked_a_third_time() -> None:
    reply, channel, planner, _ = await _asked(proposing(GOAL), proposing(GOAL))
    assert (plans_of(channel), len(planner.requests)) == ([], 2)
    assert "went back to the planner once" in reply.text


async def test_it_may_say_what_stands_in_the_way_instead() -> None:
    reply, channel, _, _ = await _asked(proposing(GOAL), answer("Silas cannot remind you yet."))
    assert (plans_of(channel), reply.text) == ([], "Silas cannot remind you yet.")


async def test_a_slip_that_can_mean_one_thing_only_is_no_reason_to_ask_again() -> None:
    slips = GOOD.replace('id: "task-example"\ntype: "task"\n', "skills: ~\n")
    _, channel, planner, faulty = await _asked(proposing(slips))
    assert (len(plans_of(channel)), len(planner.requests), faulty) == (1, 1, [])
