"""A model is heard while it answers, and its run is what it would have been."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelRateLimitError,
    ModelRequestRejectedError,
)
from pydantic_ai.toolsets import FunctionToolset

from silas.agents import AgentResponse, PlannerAgent, ProxyAgent, TurnRequest
from silas.agents.choice import OutputSetting
from silas.agents.listener import Listen
from silas.agents.streaming import can_stream
from silas.errors import LLMError
from silas.testing import MockClock
from silas.testing.models import ScriptedModel
from tests.support.clocks import SleptClock
from tests.support.speaking import Speaker, direct, pieces, planned, to_planner
from tests.support.waits import SECONDS

NONE = FunctionToolset[None]()
TURN = TurnRequest("hello", now=datetime(2026, 1, 2, tzinfo=UTC), profiles=("conversation",))


@dataclass
class Ear:
    """What was heard, and how often it was withdrawn."""

    heard: list[str] = field(default_factory=list[str])
    withdrawn: list[str] = field(default_factory=list[str])

    def more(self, text: str) -> None:
        self.heard.append(text)

    def again(self) -> None:
        if self.heard:
            self.withdrawn.append("".join(self.heard))
        self.heard.clear()

    @property
    def listen(self) -> Listen:
        return lambda _: self


def proxy(speaker: Speaker, ear: Ear, output: OutputSetting = "tool") -> ProxyAgent:
    return ProxyAgent(
        speaker.model,
        MockClock(),
        output=output,
        default_profile="conversation",
        listen=ear.listen,
    )


@pytest.mark.parametrize("output", ["tool", "native", "prompted"])
async def test_an_answer_is_heard_in_every_form_and_is_the_same_whole(
    output: OutputSetting,
) -> None:
    ear, speaker = Ear(), Speaker(pieces(direct("Good morning, \u00e4ll \U0001f600.")))
    run = await asyncio.wait_for(
        proxy(speaker, ear, output).route(TURN, toolset=NONE, deps=None), SECONDS
    )
    assert run.output.response is not None
    assert "".join(ear.heard) == run.output.response.message == "Good morning, \u00e4ll \U0001f600."
    assert len(ear.heard) > 3
    assert (run.spent.requests, speaker.asked, ear.withdrawn) == (1, 1, [])


async def test_a_proxy_that_sends_the_turn_on_is_not_heard() -> None:
    ear = Ear()
    run = await proxy(Speaker(pieces(to_planner())), ear).route(TURN, toolset=NONE, deps=None)
    assert (run.output.route, ear.heard) == ("planner", [])


async def test_an_answer_out_of_form_is_withdrawn_and_the_next_one_heard() -> None:
    ear = Ear()
    wrong = direct("No.")[:-1] + "]"
    speaker = Speaker(pieces(wrong), pieces(direct("Yes.")))
    run = await proxy(speaker, ear).route(TURN, toolset=NONE, deps=None)
    assert not run.fell_back
    assert (ear.withdrawn, "".join(ear.heard)) == (["No."], "Yes.")


async def test_a_provider_that_fails_in_the_middle_is_asked_again_and_begins_anew() -> None:
    ear, clock = Ear(), SleptClock()
    half = pieces(planned("Good morning."))[:4]
    speaker = Speaker(
        [*half, ModelRateLimitError("m", "slow down")],
        pieces(planned("Good evening.")),
    )
    planner = PlannerAgent(speaker.model, clock, output="tool", listen=ear.listen)
    asking = asyncio.create_task(planner.plan(TURN, toolset=NONE, deps=None))
    await asyncio.wait_for(clock.slept_for(1), SECONDS)
    clock.advance(1)
    run = await asyncio.wait_for(asking, SECONDS)
    assert run.output == AgentResponse(message="Good evening.")
    assert (ear.withdrawn[0][:4], "".join(ear.heard)) == ("Good", "Good evening.")


async def test_a_server_that_will_not_stream_is_asked_for_the_whole_answer_from_then_on() -> None:
    ear, whole = Ear(), [planned("Whole.")]
    speaker = Speaker([ModelRequestRejectedError("m", "no streams here")], whole, whole)
    planner = PlannerAgent(speaker.model, MockClock(), output="tool", listen=ear.listen)
    for _ in range(2):
        run = await planner.plan(TURN, toolset=NONE, deps=None)
        assert run.output == AgentResponse(message="Whole.")
    assert (speaker.asked, speaker.streams, ear.heard) == (3, 1, [])


async def test_an_error_of_the_provider_is_the_same_error_while_it_is_heard() -> None:
    refused = ModelAuthenticationError("m", "the request failed (key sk-1234 is wrong)")
    with pytest.raises(LLMError) as caught:
        await proxy(Speaker([*pieces(direct("Hello"))[:9], refused]), Ear()).route(
            TURN, toolset=NONE, deps=None
        )
    assert "sk-1234" not in str(caught.value)


async def test_a_model_that_does_not_end_is_ended() -> None:
    ear = Ear()
    endless = ['{"message":"', *["word " * 2000] * 300]
    planner = PlannerAgent(
        Speaker(endless, endless).model, MockClock(), output="tool", listen=ear.listen
    )
    run = await asyncio.wait_for(planner.plan(TURN, toolset=NONE, deps=None), SECONDS)
    assert run.fell_back
    assert "does not come to an end" in run.detail


async def test_a_model_without_a_stream_and_an_answer_that_nobody_hears_are_asked_whole() -> None:
    ear, model = Ear(), ScriptedModel([AgentResponse(message="Whole.")])
    planner = PlannerAgent(model, MockClock(), output="tool", listen=ear.listen)
    await planner.plan(TURN, toolset=NONE, deps=None)
    assert (ear.heard, len(model.requests)) == ([], 1)
    assert not can_stream(model)
    assert can_stream(Speaker().model)
    speaker = Speaker(pieces(planned("Whole.")))
    await PlannerAgent(speaker.model, MockClock(), output="tool").plan(
        TURN, toolset=NONE, deps=None
    )
    assert (speaker.asked, speaker.streams) == (1, 0)
