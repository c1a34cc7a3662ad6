"""The real OpenAI client against a real HTTP server: forms, failures, and what they cost."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic_ai.toolsets import FunctionToolset

from silas.agents import (
    ModelChoice,
    ModelRunFailed,
    OutputSetting,
    ProxyAgent,
    RouteDecision,
    StructuredRun,
    TurnRequest,
)
from silas.agents.providers.factory import make_model
from silas.agents.run import SCHEMA_ERROR
from silas.testing import MockClock
from tests.agents.openai_server import (
    Answer,
    Drop,
    Failure,
    Hang,
    OpenAIServer,
    Raw,
    Tool,
    openai_server,
)
from tests.support.waits import SECONDS

NONE = FunctionToolset[None]()
ROUTE = {
    "route": "planner",
    "reason": "work",
    "interaction_register": "execution",
    "interaction_mode": "act_and_report",
    "context_profile": "coding",
}
JSON = json.dumps(ROUTE)
TURN = TurnRequest(
    "fix it", now=datetime(2026, 1, 2, tzinfo=UTC), profiles=("conversation", "coding")
)
NO_CHOICES = Raw(
    '{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[],'
    '"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
)


class Waits(MockClock):
    """A clock on which waiting takes no time and is written down."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """Note it and go on."""
        self.waited.append(seconds)


async def route(
    server: OpenAIServer,
    output: OutputSetting = "tool",
    clock: MockClock | None = None,
    timeout_seconds: float = SECONDS,
    turns: int = 1,
) -> StructuredRun[RouteDecision]:
    choice = ModelChoice(
        name="llama", base_url=server.base_url, output=output, timeout_seconds=timeout_seconds
    )
    model = make_model(choice, runbook=unused)
    async with asyncio.timeout(SECONDS), model:
        proxy = ProxyAgent(model, clock or Waits(), output=output, default_profile="conversation")
        for _ in range(turns - 1):
            await proxy.route(TURN, toolset=NONE, deps=None)
        return await proxy.route(TURN, toolset=NONE, deps=None)


def unused() -> Any:
    raise AssertionError("the runbook was not asked for")


@pytest.mark.proves("A21-OUTPUT-MODES")
@pytest.mark.parametrize(
    ("output", "answer", "sent", "absent"),
    [
        ("tool", Tool.call("route", **ROUTE), "tools", "response_format"),
        ("native", JSON, "response_format", "tools"),
        ("prompted", JSON, "messages", "tools"),
        ("auto", JSON, "response_format", "tools"),
    ],
)
async def test_every_output_mode_brings_a_valid_decision_over_http(
    output: OutputSetting, answer: Answer, sent: str, absent: str
) -> None:
    async with openai_server([answer]) as server:
        run = await route(server, output)
    assert run.output.route == "planner"
    assert run.output.context_profile == "coding"
    assert not run.fell_back
    assert sent in server.bodies[0]
    assert absent not in server.bodies[0]
    assert server.paths == ["/v1/chat/completions"]


@pytest.mark.proves("A21-OUTPUT-MODES")
async def test_native_output_sends_the_schema_and_prompted_output_puts_it_in_the_prompt() -> None:
    async with openai_server([JSON, JSON]) as server:
        await route(server, "native")
        await route(server, "prompted")
    native, prompted = server.bodies
    assert native["response_format"]["json_schema"]["name"] == "route"
    assert "context_profile" in str(native["response_format"]["json_schema"]["schema"])
    assert "context_profile" in str(prompted["messages"][:-1])
    assert prompted["response_format"] == {"type": "json_object"}


@pytest.mark.proves("A21-AUTO-FALLS-BACK-ONCE")
async def test_auto_falls_back_once_to_another_mode_when_no_form_was_attempted() -> None:
    called = Tool.call("route", **ROUTE)
    async with openai_server(["Sure, I will plan it.", called]) as server:
        run = await route(server, "auto")
    assert run.output.route == "planner"
    assert "response_format" in server.bodies[0]
    assert "response_format" not in server.bodies[1]
    assert "tools" in server.bodies[1]
    asked_again = server.bodies[1]["messages"][-1]["content"]
    assert SCHEMA_ERROR in asked_again
    assert "calling the tool `route`" in asked_again  # the words of the mode that is asked in now


@pytest.mark.parametrize("output", ["native", "prompted"])
async def test_the_retry_speaks_of_the_mode_that_is_used(output: OutputSetting) -> None:
    async with openai_server(["Sure.", JSON]) as server:
        await route(server, output)
    asked_again = server.bodies[1]["messages"][-1]["content"]
    assert "one JSON object" in asked_again
    assert "tool" not in asked_again.split(SCHEMA_ERROR)[1]


@pytest.mark.proves("A21-AUTO-FALLS-BACK-ONCE")
async def test_auto_falls_back_when_the_server_refuses_the_form() -> None:
    refusal = Failure(400, "this server has no grammars")
    async with openai_server([refusal, Tool.call("route", **ROUTE)]) as server:
        run = await route(server, "auto")
    assert run.output.route == "planner"
    assert "tools" in server.bodies[1]


async def test_auto_stays_with_the_mode_that_worked() -> None:
    called = Tool.call("route", **ROUTE)
    async with openai_server(["no form", called, called]) as server:
        run = await route(server, "auto", turns=2)
    assert run.requests == 1
    assert "tools" in server.bodies[2]


@pytest.mark.proves("A21-AUTO-FALLS-BACK-ONCE")
async def test_auto_never_tries_a_third_mode() -> None:
    async with openai_server(["no form", "no form either"]) as server:
        run = await route(server, "auto")
    assert run.fell_back
    assert len(server.bodies) == 2


async def test_an_explicit_mode_is_never_left() -> None:
    async with openai_server(["no form", Tool.call("route", **ROUTE)]) as server:
        run = await route(server, "tool")
    assert not run.fell_back
    assert all("tools" in body for body in server.bodies)


@pytest.mark.proves("S5.1.0-ONE-RETRY", "S3.2-STRUCTURED-RESPONSE")
@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (Tool("route", '{"route": "planner", '), "must be JSON"),
        (Tool.call("route"), "route: it is needed and is missing"),
        (Tool.call("route", **{**ROUTE, "route": "direct"}), "requires `message`"),
        (Tool.call("route", **{**ROUTE, "route": "executor"}), "'direct' or 'planner'"),
        (NO_CHOICES, "incomplete"),
        ("", ""),
    ],
)
async def test_a_malformed_answer_is_retried_once_with_what_was_wrong(
    bad: Answer, named: str
) -> None:
    async with openai_server([bad, Tool.call("route", **ROUTE)]) as server:
        run = await route(server)
    assert run.output.route == "planner"
    assert not run.fell_back
    assert len(server.bodies) == 2
    asked_again = server.bodies[1]["messages"][-1]["content"]
    assert SCHEMA_ERROR in asked_again
    assert named in asked_again
    assert "fix it" in asked_again
    assert SCHEMA_ERROR not in str(server.bodies[0])


@pytest.mark.proves("S5.1.0-PROXY-FALLBACK", "S5.1.0-ONE-RETRY")
@pytest.mark.parametrize("output", ["tool", "native", "prompted", "auto"])
async def test_a_second_malformed_answer_ends_in_the_deterministic_decision(
    output: OutputSetting,
) -> None:
    wrong = Tool.call("route", reason="r") if output == "tool" else '{"reason": "r"}'
    async with openai_server([wrong, wrong, Tool.call("route", **ROUTE)]) as server:
        run = await route(server, output)
    assert len(server.bodies) == 2
    assert run.fell_back
    assert run.error == "proxy_structured_output_invalid"
    assert "it is needed and is missing" in run.detail
    assert run.output.route == "direct"
    assert run.output.interaction_register == "status"
    assert run.output.interaction_mode == "confirm_only_when_required"
    assert run.output.context_profile == "conversation"
    assert run.output.response is not None
    assert "did nothing" in run.output.response.message
    assert run.tokens == 220  # both failed attempts count
    assert run.requests == 2
    assert not run.cost_known
    assert run.cost_usd == 0


@pytest.mark.proves("S18.1-LLM")
@pytest.mark.parametrize(
    "passing",
    [
        [Failure(429)],
        [Failure(500)],
        [Failure(503), Failure(502)],
        [Failure(529)],
        [Drop()],
    ],
)
async def test_passing_failures_are_retried_with_backoff_through_the_clock(
    passing: Sequence[Answer],
) -> None:
    clock = Waits()
    async with openai_server([*passing, Tool.call("route", **ROUTE)]) as server:
        run = await route(server, clock=clock)
    assert run.output.route == "planner"
    assert clock.waited == [1.0, 2.0][: len(passing)]
    assert len(server.bodies) == len(passing) + 1
    assert SCHEMA_ERROR not in str(server.bodies)
    assert run.tokens == 110


async def test_a_provider_that_names_a_time_is_given_it() -> None:
    clock = Waits()
    limited = Failure(429, headers={"retry-after": "7"})
    async with openai_server([limited, Tool.call("route", **ROUTE)]) as server:
        await route(server, clock=clock)
    assert clock.waited == [7.0]


@pytest.mark.proves("S18.1-LLM")
@pytest.mark.parametrize(
    ("answers", "code", "requests"),
    [
        ([Failure(429)] * 3, "E_LLM_RATE_LIMIT", 3),
        ([Failure(429, headers={"retry-after": "3600"})], "E_LLM_RATE_LIMIT", 1),
        ([Failure(500)] * 3, "E_LLM_API", 3),
        ([Drop()] * 3, "E_LLM_CONNECTION", 3),
        ([Failure(401)], "E_LLM_AUTH", 1),
        ([Failure(403)], "E_LLM_AUTH", 1),
        ([Failure(404)], "E_LLM_MODEL", 1),
        ([Failure(402)], "E_LLM_QUOTA", 1),
        ([Failure(429, code="insufficient_quota")], "E_LLM_QUOTA", 1),
        ([Failure(400)], "E_LLM_API", 1),
        ([Raw("<html>a captive portal</html>")], "E_LLM_API", 1),
    ],
)
async def test_lasting_failures_end_as_one_clear_error(
    answers: Sequence[Answer], code: str, requests: int
) -> None:
    async with openai_server(answers) as server:
        with pytest.raises(ModelRunFailed) as failed:
            await route(server)
    assert failed.value.code == code
    assert len(server.bodies) == requests


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_auto_does_not_mistake_a_refused_key_or_name_for_a_refused_form(
    status: int,
) -> None:
    async with openai_server([Failure(status), JSON]) as server:
        with pytest.raises(ModelRunFailed):
            await route(server, "auto")
    assert len(server.bodies) == 1


async def test_a_refused_key_is_said_in_one_sentence_without_the_key() -> None:
    async with openai_server([Failure(401, "Incorrect API key: sk-secret")]) as server:
        choice = ModelChoice(name="llama", base_url=server.base_url, api_key_env="LOCAL_KEY")
        model = make_model(choice, runbook=unused, environ={"LOCAL_KEY": "sk-secret"})
        async with model:
            proxy = ProxyAgent(model, Waits(), output="tool", default_profile="conversation")
            with pytest.raises(ModelRunFailed) as failed:
                await asyncio.wait_for(proxy.route(TURN, toolset=NONE, deps=None), SECONDS)
    assert server.headers[0]["authorization"] == "Bearer sk-secret"
    assert "refused the API key; check the key in the environment" in str(failed.value)
    assert "sk-secret" not in str(failed.value)


async def test_an_openai_key_is_never_sent_to_another_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    async with openai_server([Tool.call("route", **ROUTE)]) as server:
        await route(server)
    assert "sk-openai" not in str(server.headers)


async def test_an_answer_that_never_comes_is_a_timeout_and_the_connection_is_given_up() -> None:
    clock = Waits()
    async with openai_server([Hang(), Hang(), Hang()]) as server:
        with pytest.raises(ModelRunFailed) as failed:
            await route(server, clock=clock, timeout_seconds=0.2)
        await asyncio.wait_for(server.gone.wait(), SECONDS)
    assert failed.value.code == "E_LLM_TIMEOUT"
    assert (clock.waited, len(server.bodies)) == ([1.0], 2)


async def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    async with openai_server([]) as server:
        pass  # gone again: its port refuses now
    clock = Waits()
    with pytest.raises(ModelRunFailed) as failed:
        await route(server, clock=clock)
    assert failed.value.code == "E_LLM_CONNECTION"
    assert clock.waited == [1.0, 2.0]


async def test_answers_without_usage_are_charged_with_an_estimate() -> None:
    async with openai_server([Tool.call("route", **ROUTE)], usage=False) as server:
        run = await route(server)
    assert run.tokens > 500  # the prompts alone are longer
    assert not run.cost_known
