"""What is told where a model fails, and what a turn costs where it does not, over real HTTP."""

import asyncio
import json
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from silas.agents import ModelChoice, ModelRunFailed, PlannerAgent, ProxyAgent, ScorerAgent
from silas.agents.providers.factory import make_model
from silas.agents.providers.model_errors import server_sentence
from silas.testing import Harness, ScriptedModel
from tests.agents.openai_server import Answer, Failure, Hang, OpenAIServer, Raw, openai_server
from tests.agents.test_in_the_house import Waits as HouseWaits
from tests.agents.test_providers_over_http import NONE, TURN, Waits, route, unused
from tests.agents.test_scorer import ITEMS
from tests.agents.test_streaming import Ear
from tests.support.waits import SECONDS

GREETING = json.dumps({"route": "direct", "message": "Good morning!"})


def ended(reason: str, text: str | None) -> Raw:
    """An answer that a server ended for this reason."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "llama"}
    return Raw(json.dumps({**whole, "choices": [choice], "usage": usage}))


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (ended("length", '{"route": "direct", "mess'), "E_LLM_CUT", "`max_tokens`"),
        (ended("length", ""), "E_LLM_CUT", "`max_tokens`"),
        (ended("content_filter", ""), "E_LLM_REFUSED", "refuses to answer"),
        (ended("content_filter", "I can"), "E_LLM_REFUSED", "refuses to answer"),
        (Failure(400, "the request exceeds 4096 tokens"), "E_LLM_API", "exceeds 4096 tokens"),
        (Failure(402, "Insufficient credits"), "E_LLM_QUOTA", "Insufficient credits"),
        (Failure(404, "no model llama here"), "E_LLM_MODEL", "no model llama here"),
        (Failure(401, "bad key"), "E_LLM_AUTH", "refused the API key"),
    ],
)
async def test_a_failure_names_role_model_address_and_cause_and_is_not_asked_twice(
    answer: Answer, code: str, words: str
) -> None:
    async with openai_server([answer]) as server:
        with pytest.raises(ModelRunFailed) as failed:
            await route(server, "native")
    assert (failed.value.code, len(server.bodies)) == (code, 1)
    assert words in failed.value.message
    assert f"(proxy: llama at {server.base_url})" in failed.value.message
    assert len(failed.value.message) < 600


async def test_a_request_that_is_refused_in_both_forms_is_told_as_what_the_server_says() -> None:
    refused = Failure(400, "`min_p` is not a setting here")
    async with openai_server([refused, refused]) as server:
        with pytest.raises(ModelRunFailed) as failed:
            await route(server, "auto")
    assert (failed.value.code, len(server.bodies)) == ("E_LLM_API", 2)
    assert 'It says: "`min_p` is not a setting here".' in failed.value.message
    assert "check `output`" in failed.value.message


async def test_an_empty_answer_twice_names_who_gave_none() -> None:
    async with openai_server([ended("stop", ""), ended("stop", "")]) as server:
        run = await route(server, "native")
    assert run.fell_back
    assert run.output.response is not None
    assert f"(proxy: llama at {server.base_url})" in run.output.response.message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "Context\n too long"}}, "Context too long"),
        ({"message": "plain"}, "plain"),
        ({"error": "as Ollama says it"}, "as Ollama says it"),
        ({"detail": [1]}, ""),
        (None, ""),
        ("key sk-abcdef123456 is wrong", "[...] is wrong"),
        ("Bearer abcdef is wrong", "[...] is wrong"),
        ("it was " + "a1" * 20, "it was [...]"),
        ("\x1b[31mred", " [31mred".strip()),
        ("word " * 200, ("word " * 60).rstrip() + "..."),
    ],
)
def test_a_servers_sentence_is_short_and_holds_no_key(body: Any, said: str) -> None:
    assert server_sentence(ModelHTTPError(400, "llama", body)) == said


async def test_an_answer_to_a_greeting_is_one_request() -> None:
    async with openai_server([GREETING, GREETING]) as server:
        first = await route(server, "auto")
        second = await route(server, "native")
    assert (first.requests, second.requests, len(server.bodies)) == (1, 1, 2)
    assert first.output.response is not None
    assert first.output.response.message == "Good morning!"


@pytest.mark.parametrize(("chosen", "sent"), [(None, 4096), (77, 77)])
async def test_the_longest_answer_is_the_roles_unless_the_owner_says(
    chosen: int | None, sent: int
) -> None:
    async with openai_server([GREETING]) as server:
        choice = ModelChoice(name="llama", base_url=server.base_url, max_tokens=chosen)
        async with make_model(choice, runbook=unused) as model:
            proxy = ProxyAgent(model, Waits(), output="native", default_profile="conversation")
            await asyncio.wait_for(proxy.route(TURN, toolset=NONE, deps=None), SECONDS)
    body = server.bodies[0]
    assert body.get("max_tokens", body.get("max_completion_tokens")) == sent


async def planned(server: OpenAIServer) -> Any:
    choice = ModelChoice(name="llama", base_url=server.base_url)
    async with make_model(choice, runbook=unused) as model:
        planner = PlannerAgent(model, Waits(), output="auto")
        return await asyncio.wait_for(planner.plan(TURN, toolset=NONE, deps=None), SECONDS)


async def test_a_plan_is_one_request_and_its_schema_a_union() -> None:
    plan = {"action": "propose", "message": "I would.", "plan": "---\nid: task-x\n---\n"}
    async with openai_server([json.dumps(plan)]) as server:
        run = await planned(server)
    assert (run.requests, run.output.plan_action.plan_markdown) == (1, plan["plan"])
    assert "anyOf" in server.bodies[0]["response_format"]["json_schema"]["schema"]


@pytest.mark.parametrize("wrong", [[ModelHTTPError(401, "m")], ["no form", "no form"]])
async def test_why_a_model_gave_no_answer_is_not_told_to_the_next_as_silas_words(
    wrong: list[Any],
) -> None:
    model = ScriptedModel([*wrong, "no form", "no form"])
    async with (
        asyncio.timeout(SECONDS),
        Harness(models={"proxy": model}, clock=HouseWaits()) as house,
    ):
        failed = await house.silas.ask("good morning")
        await house.silas.ask("and now?")
    assert failed.outcome == "failed"
    assert "proxy" in failed.text
    later = model.requests[len(wrong)].text
    assert "good morning" in later
    assert failed.text[:40] not in later


async def test_the_first_word_has_a_limit_of_its_own_and_is_waited_for_twice() -> None:
    ear, clock = Ear(), Waits()
    async with openai_server([Hang(), Hang()]) as server:
        choice = ModelChoice(name="llama", base_url=server.base_url, first_token_seconds=0.2)
        async with make_model(choice, runbook=unused) as model:
            proxy = ProxyAgent(
                model, clock, output="native", default_profile="conversation", listen=ear.listen
            )
            with pytest.raises(ModelRunFailed) as failed:
                await asyncio.wait_for(proxy.route(TURN, toolset=NONE, deps=None), SECONDS)
    assert failed.value.code == "E_LLM_TIMEOUT"
    assert clock.waited == [1.0]  # one wait between two tries; a busy server may have seen neither


async def test_a_server_of_the_owners_own_may_take_longer_to_score() -> None:
    async with openai_server([Hang()]) as server:
        choice = ModelChoice(name="llama", base_url=server.base_url)
        async with make_model(choice, runbook=unused) as model:
            scorer = ScorerAgent(model, Waits(), output="auto")
            advice = await asyncio.wait_for(scorer("mend it", "go on", ITEMS), SECONDS)
    assert advice.missing == "the scorer took longer than 20 seconds"
