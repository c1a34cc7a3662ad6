"""Each provider's published protocol on a loopback server, through that provider's own client.

No provider was asked: what is played is what its reference says. A table of provider, output mode
and whether it is streamed; in each cell the answer arrives, once, and a greeting is one request.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from pydantic_ai.models import Model

from silas.agents import OutputSetting, ProxyAgent
from silas.agents.listener import nobody_listens
from silas.agents.providers.factory import make_model
from silas.testing import Harness, ScriptedChannel
from tests.agents.openai_server import Answer, OpenAIServer, Reply, Tool, openai_server
from tests.agents.shapes import SHAPES, Shape
from tests.agents.test_in_the_house import Waits as HouseWaits
from tests.agents.test_providers_over_http import NONE, TURN, Waits, unused
from tests.agents.test_streaming import Ear
from tests.support.waits import SECONDS

for package in ("anthropic", "google.genai"):
    pytest.importorskip(package, reason="`make` installs it")

GREETING = {"route": "direct", "message": "Good morning, \u00e4ll. It is nine."}
MODES: tuple[OutputSetting, ...] = ("tool", "native", "prompted")
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)


@asynccontextmanager
async def served(
    shape: Shape, replies: Sequence[Reply], monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[OpenAIServer]:
    """The shape's server, with the variables set that its client reads."""
    async with openai_server(replies, wire=shape.wire) as server:
        for name, value in shape.variables(server).items():
            monkeypatch.setenv(name, value)
        yield server


def made(shape: Shape, server: OpenAIServer, output: OutputSetting, **more: Any) -> Model:
    return make_model(shape.choice(server, output, **more), runbook=unused)


def said(mode: OutputSetting) -> Answer:
    return Tool.call("route", **GREETING) if mode == "tool" else json.dumps(GREETING)


@pytest.mark.proves("A21-OUTPUT-MODES")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("mode", MODES)
@each_shape
async def test_an_answer_arrives_from_every_provider_in_every_mode_with_one_request(
    shape: Shape, mode: OutputSetting, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = Ear()
    async with (
        served(shape, [said(mode)], monkeypatch) as server,
        asyncio.timeout(SECONDS),
        made(shape, server, mode) as model,
    ):
        listen = ear.listen if streamed else nobody_listens
        proxy = ProxyAgent(
            model, Waits(), output=mode, default_profile="conversation", listen=listen
        )
        run = await proxy.route(TURN, toolset=NONE, deps=None)
    assert run.output.response is not None
    assert run.output.response.message == GREETING["message"]
    assert (run.requests, run.tokens, run.fell_back) == (1, 110, False)
    assert shape.forms(server.bodies[0]) == mode
    if streamed:
        assert "".join(ear.heard) == GREETING["message"]
        assert len(ear.heard) > 1 or (shape.name, mode) == ("google", "tool")
    else:
        assert [path.partition("?")[0] for path in server.paths] == [shape.path]


@each_shape
async def test_a_greeting_to_a_whole_silas_is_one_request(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return said("tool" if shape.forms(body) == "tool" else "native")

    async with (
        served(shape, [answer], monkeypatch) as server,
        made(shape, server, "auto") as model,
        asyncio.timeout(SECONDS),
        Harness(ScriptedChannel(), models={"proxy": model}, clock=HouseWaits()) as house,
    ):
        reply = await house.silas.ask("good morning")
    assert (reply.outcome, reply.text) == ("answered", GREETING["message"])
    assert len(server.bodies) == 1
    assert shape.forms(server.bodies[0]) == "native" or not (shape.own or shape.name == "ollama")


@each_shape
async def test_no_client_gives_up_before_the_owners_own_time_is_over(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients end a request after 600 seconds of silence; a slow machine reads longer than that."""
    patience: list[float] = []
    send = httpx2.AsyncClient.send

    async def noted(self: httpx2.AsyncClient, request: httpx2.Request, **more: Any) -> Any:
        patience.append(request.extensions["timeout"]["read"])
        return await send(self, request, **more)

    monkeypatch.setattr(httpx2.AsyncClient, "send", noted)
    async with (
        served(shape, [said("native")], monkeypatch) as server,
        asyncio.timeout(SECONDS),
        made(shape, server, "native", timeout_seconds=3000, first_token_seconds=3000) as model,
    ):
        proxy = ProxyAgent(model, Waits(), output="native", default_profile="conversation")
        await proxy.route(TURN, toolset=NONE, deps=None)
    assert patience == [3005]
