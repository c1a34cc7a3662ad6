"""`fallback:`: another model answers where the first is away, and it is told."""

import asyncio
import json
from typing import Any

import pytest
from pydantic import ValidationError
from pydantic_ai.exceptions import ModelServerError

from silas.agents import ModelChoice, ModelRunFailed, ProxyAgent, RouteDecision, StructuredRun
from silas.agents.providers.factory import make_model
from silas.agents.providers.fallback_model import FallbackModel
from silas.testing import Harness, ScriptedModel
from tests.agents.openai_server import Answer, Drop, Failure, OpenAIServer, openai_server
from tests.agents.test_in_the_house import Waits as HouseWaits
from tests.agents.test_providers_over_http import NONE, TURN, Waits, unused
from tests.agents.test_streaming import Ear
from tests.support.waits import SECONDS

GREETING = json.dumps({"route": "direct", "message": "Good morning!"})


async def route(
    first: OpenAIServer, other: OpenAIServer, ear: Ear | None = None
) -> tuple[StructuredRun[RouteDecision], list[float]]:
    fallback = {"name": "small", "base_url": other.base_url, "max_tokens": 9}
    choice = ModelChoice.model_validate(
        {"name": "large", "base_url": first.base_url, "fallback": fallback}
    )
    clock = Waits()
    async with asyncio.timeout(SECONDS), make_model(choice, runbook=unused) as model:
        listening: dict[str, Any] = {} if ear is None else {"listen": ear.listen}
        proxy = ProxyAgent(
            model, clock, output="native", default_profile="conversation", **listening
        )
        return await proxy.route(TURN, toolset=NONE, deps=None), clock.waited


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize(
    ("away", "why"),
    [
        (Drop(), "could not be reached"),
        (Failure(401), "refused the API key"),
        (Failure(402), "has no credit left"),
        (Failure(400, "Your credit balance is too low to be used."), "has no credit left"),
        (Failure(404), "is not known to its server"),
        (Failure(429), "was busy"),
        (Failure(500), "failed"),
        (Failure(503), "was busy"),
    ],
)
async def test_another_model_answers_at_once_where_the_first_is_away(
    away: Answer, why: str, heard: bool
) -> None:
    ear = Ear() if heard else None
    async with openai_server([away]) as first, openai_server([GREETING]) as other:
        run, waited = await route(first, other, ear)
    assert run.output.response is not None
    assert run.output.response.message == "Good morning!"
    assert run.stood_in == (f"The model large {why}; small answered instead.",)
    assert (len(first.bodies), len(other.bodies), waited) == (1, 1, [])
    assert (first.bodies[0]["model"], other.bodies[0]["model"]) == ("large", "small")
    body = other.bodies[0]
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 9
    assert ear is None or "".join(ear.heard) == "Good morning!"


async def test_a_model_that_is_there_is_the_only_one_asked() -> None:
    async with openai_server([GREETING]) as first, openai_server([]) as other:
        run, _ = await route(first, other)
    assert (run.stood_in, len(first.bodies), other.bodies) == ((), 1, [])


@pytest.mark.parametrize(
    "refused", [Failure(400, "too long"), Failure(422), Failure(403, "Your input was flagged")]
)
async def test_what_is_refused_of_the_request_is_no_reason_for_another(refused: Failure) -> None:
    async with openai_server([refused]) as first, openai_server([]) as other:
        with pytest.raises(ModelRunFailed):
            await route(first, other)
    assert other.bodies == []


async def test_where_both_are_away_it_fails_as_one_does() -> None:
    async with openai_server([Failure(401)]) as first, openai_server([Failure(401)]) as other:
        with pytest.raises(ModelRunFailed) as failed:
            await route(first, other)
    assert failed.value.code == "E_LLM_AUTH"


def test_a_fallback_has_none_of_its_own() -> None:
    two = {"name": "a", "fallback": {"name": "b", "fallback": "c"}}
    with pytest.raises(ValidationError, match="must not have a fallback"):
        ModelChoice.model_validate(two)
    one = ModelChoice.model_validate({"name": "a", "fallback": "b"})
    assert one.fallback == ModelChoice(name="b")


async def test_the_owner_is_told_who_answered_and_the_record_has_it() -> None:
    from silas.agents import AgentResponse
    from silas.types import InteractionRegister

    answer = RouteDecision(
        route="direct",
        reason="r",
        response=AgentResponse(message="Good morning!"),
        interaction_register=InteractionRegister.status,
        context_profile="conversation",
    )
    model = FallbackModel(ScriptedModel([ModelServerError("m", "down")]), ScriptedModel([answer]))
    async with (
        asyncio.timeout(SECONDS),
        Harness(models={"proxy": model}, clock=HouseWaits()) as house,
    ):
        reply = await house.silas.ask("good morning")
    assert reply.text.startswith("Good morning!")
    assert "failed; scripted answered instead." in reply.text
