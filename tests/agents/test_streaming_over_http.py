"""Real provider adapters are heard over HTTP, and their whole answer is what it would have been."""

import asyncio
import json
from typing import Any

import pytest

from silas.agents import AgentResponse, ModelChoice, ProxyAgent, RouteDecision, StructuredRun
from silas.agents.choice import OutputSetting
from silas.agents.providers.factory import make_model
from silas.testing import MockClock
from tests.agents.openai_server import Answer, Failure, OpenAIServer, Tool, openai_server
from tests.agents.test_streaming import NONE, TURN, Ear
from tests.support.speaking import direct
from tests.support.waits import SECONDS

MESSAGE = "Good morning, \u00e4ll. It is nine."
ROUTE: dict[str, Any] = json.loads(direct(MESSAGE))


async def route(
    server: OpenAIServer, ear: Ear, output: OutputSetting = "tool"
) -> StructuredRun[RouteDecision]:
    choice = ModelChoice(
        name="llama", base_url=server.base_url, output=output, timeout_seconds=SECONDS
    )
    model = make_model(choice, runbook=_unused)
    async with asyncio.timeout(SECONDS), model:
        proxy = ProxyAgent(
            model,
            MockClock(),
            output=output,
            default_profile="conversation",
            listen=ear.listen,
        )
        return await proxy.route(TURN, toolset=NONE, deps=None)


def _unused() -> Any:
    raise AssertionError("the runbook was not asked for")


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("tool", Tool.call("route", **ROUTE)),
        ("native", json.dumps(ROUTE)),
        ("prompted", json.dumps(ROUTE)),
    ],
)
async def test_an_answer_is_heard_over_http_in_every_form(
    output: OutputSetting, answer: Answer
) -> None:
    ear = Ear()
    async with openai_server([answer]) as server:
        run = await route(server, ear, output)
    assert run.output.response == AgentResponse(message=MESSAGE)
    assert ("".join(ear.heard), run.tokens, run.fell_back) == (MESSAGE, 110, False)
    assert len(ear.heard) > 2
    assert server.bodies[0]["stream"] is True


async def test_a_server_that_counts_nothing_is_charged_with_an_estimate() -> None:
    async with openai_server([Tool.call("route", **ROUTE)], usage=False) as server:
        run = await route(server, Ear())
    assert run.tokens > 20


@pytest.mark.parametrize("streams", [False, True])
async def test_a_server_that_does_not_stream_answers_whole(streams: bool) -> None:
    ear, answer = Ear(), Tool.call("route", **ROUTE)
    refusals = [Failure(400, "stream is not supported")] if streams else [answer]
    async with openai_server([*refusals, answer], streams=streams) as server:
        run = await route(server, ear)
    assert run.output.response == AgentResponse(message=MESSAGE)
    assert (run.fell_back, ear.heard) == (False, [])
    assert "stream" not in server.bodies[-1] or not server.bodies[-1]["stream"]
