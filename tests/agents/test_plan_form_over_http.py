"""What a server that makes a grammar of the schema lets a model say: all that the prompts name."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator
from pydantic_ai.models import Model

from silas.agents import ModelChoice, OutputSetting, PlannerAgent, ProxyAgent
from silas.agents.prompt import instructions
from silas.agents.providers.factory import make_model
from tests.agents.openai_server import Answer, OpenAIServer, Tool, openai_server
from tests.agents.test_providers_over_http import NONE, TURN, Waits, unused
from tests.support.waits import SECONDS

CHECK = {"name": "tests_pass", "run": "make test", "expect": {"exit_code": 0}}
PLAN: dict[str, Any] = {
    "title": "Fix overlaps",
    "workspace": "/home/owner/rosters",
    "writes": ["scheduler/**"],
    "briefing": "# What to do\n1. Run the tests.",
    "verify": [CHECK],
}
GOAL = {**PLAN, "type": "goal", "schedule": "0 9 * * 1-5", "cycle": "work"}
PLANS: dict[str, dict[str, Any]] = {
    "an expectation": {**PLAN, "verify": [{**CHECK, "expect": {"output_lt": 3}, "timeout": 5}]},
    "a goal": {**GOAL, "standing": {"uses": 3, "until": "2026-12-04T23:59+01:00"}},
    "a project": {**PLAN, "type": "project", "tasks": [{**PLAN, "id": "a", "depends_on": []}]},
    "a grant": {**PLAN, "tools": [{"tool": "send_email", "args": {"subject": "Hi"}, "times": 1}]},
    "a network": {**PLAN, "network": ["pypi.org"], "read": ["/etc"], "budget": {"max_tokens": 9}},
}
PROPOSAL: dict[str, Any] = {"action": "propose", "message": "One line mends it.", "plan": PLAN}
DIRECT: dict[str, Any] = {"route": "direct", "message": "I will tell you."}


def model_of(server: OpenAIServer, output: OutputSetting) -> Model:
    choice = ModelChoice(name="llama", base_url=server.base_url, output=output)
    return make_model(choice, runbook=unused)


async def form_sent(role: str, output: OutputSetting) -> Callable[[object], bool]:
    """Whether an answer of that role fits the schema that the server is sent."""
    name, said = ("respond", PROPOSAL) if role == "planner" else ("route", DIRECT)
    reply: Answer = json.dumps(said) if output == "native" else Tool.call(name, **said)
    async with asyncio.timeout(SECONDS), openai_server([reply]) as server:
        async with model_of(server, output) as model:
            if role == "planner":
                planner = PlannerAgent(model, Waits(), output=output)
                assert not (await planner.plan(TURN, toolset=NONE, deps=None)).fell_back
            else:
                proxy = ProxyAgent(model, Waits(), output=output, default_profile="conversation")
                assert not (await proxy.route(TURN, toolset=NONE, deps=None)).fell_back
        [body] = server.bodies
    if output == "native":
        schema = body["response_format"]["json_schema"]["schema"]
    else:
        [tool] = body["tools"]
        schema = tool["function"]["parameters"]
    return cast(Callable[[object], bool], cast(Any, Draft202012Validator(schema)).is_valid)


@pytest.mark.parametrize("output", ["native", "tool"])
@pytest.mark.parametrize("plan", PLANS.values(), ids=list(PLANS))
async def test_a_plan_may_say_what_the_prompt_names(
    plan: dict[str, Any], output: OutputSetting
) -> None:
    fits = await form_sent("planner", output)
    assert fits({**PROPOSAL, "plan": plan})


@pytest.mark.parametrize("output", ["native", "tool"])
async def test_every_key_that_the_planner_is_told_of_fits_the_form(output: OutputSetting) -> None:
    _, _, keys = instructions("planner").partition("Keys, with what counts")
    keys, _, _ = keys.partition("The briefing stands alone")
    heads = [line.partition(":")[0] for line in keys.splitlines() if line.startswith("- ")]
    named = {name for head in heads for name in re.findall(r"`(\w+)`", head)}
    assert {"type", "network", "tools", "budget"} <= named
    fits = await form_sent("planner", output)
    others = {name: "x" for name in named - set(PLAN)}
    assert fits({**PROPOSAL, "plan": {**PLAN, **others}})


@pytest.mark.parametrize("output", ["native", "tool"])
async def test_a_reminder_fits_the_form_of_a_direct_answer(output: OutputSetting) -> None:
    fits = await form_sent("proxy", output)
    assert fits({**DIRECT, "reminder": "remind me at nine to call Anna"})
    assert not fits({**DIRECT, "reminder": 3})
