"""Every provider's published errors over HTTP: one sentence, one code, bounded requests.

Played from the references, through each provider's own client; no provider was asked.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from silas.agents import ModelRunFailed, OutputSetting, ProxyAgent, RouteDecision, StructuredRun
from silas.agents.listener import Listen, nobody_listens
from silas.testing import Harness, ScriptedChannel
from tests.agents.openai_server import (
    Answer,
    Broken,
    Ended,
    Failure,
    OpenAIServer,
    Raw,
    Reply,
    Tool,
    Unfinished,
)
from tests.agents.shapes import SHAPES, Shape
from tests.agents.test_in_the_house import Waits as HouseWaits
from tests.agents.test_protocol_shapes import each_shape, made, said, served
from tests.agents.test_providers_over_http import NONE, TURN, Waits
from tests.agents.test_streaming import Ear
from tests.support.command import environment, run, silas
from tests.support.waits import SECONDS


class Told(NamedTuple):
    """What an error ends in: its code, words that say what to do, and how long was waited."""

    code: str
    words: str
    waited: tuple[float, ...] = ()


TOLD = {
    "key": Told("E_LLM_AUTH", "check the key in the environment"),
    "credit": Told("E_LLM_QUOTA", "add some there, or choose another model under `models:`"),
    "billing": Told("E_LLM_QUOTA", "add some there, or choose another model under `models:`"),
    "model": Told("E_LLM_MODEL", "check the name under `models:`"),
    "rate": Told("E_LLM_RATE_LIMIT", "wait and try again", (7.0, 7.0)),
    "overload": Told("E_LLM_OVERLOADED", "wait and try again, or name a `fallback`", (1.0, 2.0)),
    "moderation": Told("E_LLM_REFUSED", "put it differently"),
    "filter": Told("E_LLM_REFUSED", "put it differently"),
    "context": Told("E_LLM_CONTEXT", "start its server with a larger one"),
    "length": Told("E_LLM_CUT", "raise `max_tokens` under `models:`"),
    "broken": Told("E_LLM_CONNECTION", "check the network and `base_url`", (1.0, 2.0)),
    "ended": Told("E_LLM_CONNECTION", "check the network and `base_url`", (1.0, 2.0)),
}
FORMS: tuple[OutputSetting, ...] = ("auto", "tool", "native", "prompted")
_LONG = {"route": "direct", "message": "It is nine in the morning. " * 8}


def played(shape: Shape, kind: str) -> Callable[[dict[str, Any]], Answer]:
    """An error in the form that a request asks for: one is published, or an answer has no end."""

    def play(body: dict[str, Any]) -> Answer:
        by_tool, text = shape.forms(body) == "tool", json.dumps(_LONG)
        answer = Tool("route", text) if by_tool else text
        match kind:
            case "length":
                return Unfinished("length", Tool("route", "{}") if by_tool else text[:40])
            case "broken":
                return Broken(answer)
            case "ended":
                return Ended(answer)
            case _:
                return shape.errors[kind]

    return play


def kinds(shape: Shape, output: OutputSetting, *, streamed: bool) -> list[str]:
    """What can go wrong; Google sends a call in one piece, so a stream has it whole or not.

    What a provider publishes has no form: all of it is played once, and each again in one more.
    """
    at_once = shape.name == "google" and output in ("auto", "tool")
    published = list(shape.errors)
    if output != "auto":
        published = published[FORMS.index(output) - 1 :: len(FORMS) - 1]
    return [*published, "length", "broken", *(["ended"] if streamed and not at_once else [])]


async def asked(
    shape: Shape,
    server: OpenAIServer,
    clock: Waits,
    *,
    output: OutputSetting = "auto",
    listen: Listen = nobody_listens,
) -> StructuredRun[RouteDecision]:
    async with asyncio.timeout(SECONDS), made(shape, server, output) as model:
        proxy = ProxyAgent(
            model, clock, output=output, default_profile="conversation", listen=listen
        )
        return await proxy.route(TURN, toolset=NONE, deps=None)


def one_sentence(failed: ModelRunFailed, server: OpenAIServer, told: Told) -> None:
    address = server.base_url.removesuffix("/v1")
    assert failed.code == told.code
    assert told.words in failed.message
    assert f"(proxy: {server_model(failed.message)} at {address}" in failed.message
    assert failed.message.count("\n") == 0
    assert len(failed.message) < 600
    assert "test-key" not in failed.message


def server_model(message: str) -> str:
    """The model as the sentence names it; never empty."""
    named = message.rpartition("(proxy: ")[2].partition(" at ")[0]
    assert named
    return named


@pytest.mark.proves("S18.1-LLM")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("output", FORMS)
@each_shape
async def test_every_published_error_is_one_sentence_that_says_who_and_what_to_do(
    shape: Shape, output: OutputSetting, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of provider, form and whether it is streamed; each cell plays its errors."""
    async with (
        served(shape, [], monkeypatch) as server,
        asyncio.timeout(SECONDS),
        made(shape, server, output) as model,
    ):
        for kind in kinds(shape, output, streamed=streamed):
            ear, clock, told, before = Ear(), Waits(), TOLD[kind], len(server.bodies)
            server.replies[before:] = [played(shape, kind)] * 5
            listen = ear.listen if streamed else nobody_listens
            proxy = ProxyAgent(
                model, clock, output=output, default_profile="conversation", listen=listen
            )
            with pytest.raises(ModelRunFailed) as failed:
                await proxy.route(TURN, toolset=NONE, deps=None)
            one_sentence(failed.value, server, told)
            requests = len(server.bodies) - before
            assert (kind, *clock.waited) == (kind, *told.waited)
            assert (kind, requests) == (kind, len(told.waited) + 1)
            assert kind in ("length", "broken", "ended") or "".join(ear.heard) == ""


_BEGUN = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
_GONE = {"code": 502, "message": "Provider disconnected unexpectedly"}
_ENDED = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
_BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
_LATE = {
    "openrouter": {**_BEGUN, "provider": "P", "error": _GONE, "choices": [_ENDED]},
    "anthropic": _BUSY,
}


@pytest.mark.parametrize(
    ("name", "code"), [("openrouter", "E_LLM_API"), ("anthropic", "E_LLM_OVERLOADED")]
)
async def test_an_error_inside_a_stream_is_told_as_one_before_it(
    name: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = next(one for one in SHAPES if one.name == name)
    head = "event: error\n" if name == "anthropic" else ""
    late = Raw(f"{head}data: {json.dumps(_LATE[name])}\n\n")
    clock = Waits()
    async with served(shape, [late] * 4, monkeypatch) as server:
        with pytest.raises(ModelRunFailed) as failed:
            await asked(shape, server, clock, listen=Ear().listen)
    assert (failed.value.code, clock.waited, len(server.bodies)) == (code, [1.0, 2.0], 3)


@each_shape
async def test_a_wait_of_an_hour_is_not_waited_for(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, limited = Waits(), shape.errors["rate"]
    assert isinstance(limited, Failure)
    hour = Failure(429, headers={"retry-after": "3600"}, body=limited.body)
    async with served(shape, [hour] * 3, monkeypatch) as server:
        with pytest.raises(ModelRunFailed) as failed:
            await asked(shape, server, clock)
    assert (failed.value.code, clock.waited, len(server.bodies)) == ("E_LLM_RATE_LIMIT", [], 1)


@pytest.mark.parametrize("kind", ["key", "filter", "context"])
@each_shape
async def test_an_error_ends_the_turn_and_is_no_part_of_the_conversation(
    shape: Shape, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def greeting(body: dict[str, Any]) -> Answer:
        return said("tool" if shape.forms(body) == "tool" else "native")

    replies: list[Reply] = [shape.errors[kind], greeting]
    async with (
        served(shape, replies, monkeypatch) as server,
        made(shape, server, "auto") as model,
        asyncio.timeout(SECONDS),
        Harness(ScriptedChannel(), models={"proxy": model}, clock=HouseWaits()) as house,
    ):
        failed = await house.silas.ask("good morning")
        answered = await house.silas.ask("and now?")
    assert (failed.outcome, answered.outcome) == ("failed", "answered")
    assert TOLD[kind].words in failed.text
    assert "good morning" in str(server.bodies[-1])
    assert TOLD[kind].words not in str(server.bodies[-1])


@pytest.mark.parametrize(("name", "kind"), [("anthropic", "key"), ("llama.cpp", "context")])
async def test_the_command_says_it_in_one_line_and_ends_with_1(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = next(one for one in SHAPES if one.name == name)
    async with served(shape, [shape.errors[kind]], monkeypatch) as server:
        choice = shape.choice(server, "auto").model_dump_json(include={"name", "base_url"})
        env = environment(tmp_path, SILAS_MODELS__PROXY=choice, **shape.variables(server))
        assert (await asyncio.to_thread(run, silas("init"), env)).code == 0
        done = await asyncio.to_thread(run, silas("ask", "good morning"), env)
    assert (done.code, len(server.bodies)) == (1, 1)
    said_once = (done.out + done.err).count(TOLD[kind].words)
    assert said_once == 1
    assert "Traceback" not in done.out + done.err
