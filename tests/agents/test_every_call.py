"""What holds for proxy, planner, adviser and executor alike: one wrapper, one retry, no keys."""

import ast
import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import UsageLimits

import silas.agents
from silas.agents import (
    AgentResponse,
    ExecutorAgent,
    ExecutorAgentOutput,
    PlanAction,
    PlannerAdvice,
    PlannerAgent,
    ProxyAgent,
    RouteDecision,
    StructuredRun,
    TurnRequest,
)
from silas.agents.run import SCHEMA_ERROR
from silas.plans import WorkItem, WorkItemType
from silas.testing import MockClock
from silas.testing.models import ScriptedModel
from tests.support.waits import SECONDS

SOURCE = Path(str(silas.agents.__file__)).parents[1]
TURN = TurnRequest("do it", now=datetime(2026, 1, 2, tzinfo=UTC))
ITEM = WorkItem(id="task-1", type=WorkItemType.task, title="T", body="B")
Toolset = FunctionToolset[None]


def proxy(model: ScriptedModel, tools: Toolset) -> Awaitable[StructuredRun[Any]]:
    agent = ProxyAgent(model, MockClock(), output="tool", default_profile="conversation")
    return agent.route(TURN, toolset=tools, deps=None)


def planner(model: ScriptedModel, tools: Toolset) -> Awaitable[StructuredRun[Any]]:
    return PlannerAgent(model, MockClock(), output="tool").plan(TURN, toolset=tools, deps=None)


def advice(model: ScriptedModel, tools: Toolset) -> Awaitable[StructuredRun[Any]]:
    return PlannerAgent(model, MockClock(), output="tool").advise(ITEM, "it failed", skills=())


def executor(model: ScriptedModel, tools: Toolset) -> Awaitable[StructuredRun[Any]]:
    agent = ExecutorAgent[None](model, MockClock(), output="tool", capabilities=())
    return agent.run("do it", skills=(), toolset=tools, deps=None, limits=UsageLimits())


CALLS: list[Callable[[ScriptedModel, Toolset], Awaitable[StructuredRun[Any]]]] = [
    proxy,
    planner,
    advice,
    executor,
]


@pytest.mark.proves("S5.1.0-ALL-CALLS", "S5.1.0-ONE-RETRY", "S3.2-STRUCTURED-RESPONSE")
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
async def test_every_call_asks_twice_and_then_answers_by_itself(call: Any) -> None:
    model = ScriptedModel(["Sure, consider it done!"] * 3)
    async with asyncio.timeout(SECONDS):
        run: StructuredRun[Any] = await call(model, Toolset())
    first, second = model.requests
    assert SCHEMA_ERROR not in first.text
    assert second.text.startswith(first.text)
    assert SCHEMA_ERROR in second.text
    assert run.fell_back
    assert run.error == f"{call.__name__}_structured_output_invalid"
    assert run.requests == 2


def taken_from_pydantic_ai(source: str) -> set[str]:
    found = set[str]()
    named = "pydantic_ai" in source  # no other file is worth parsing
    for node in ast.walk(ast.parse(source)) if named else ():
        if isinstance(node, ast.ImportFrom) and node.module == "pydantic_ai":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pydantic_ai":
            found.add(node.attr)
    return found


@pytest.mark.proves("S5.1.0-ALL-CALLS")
def test_no_other_place_makes_or_runs_an_agent() -> None:
    found = {
        (str(path.relative_to(SOURCE)), name)
        for path in SOURCE.rglob("*.py")
        for name in taken_from_pydantic_ai(path.read_text(encoding="utf-8")) & {"Agent", "direct"}
    }
    assert found == {("agents/role.py", "Agent")}
    users = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "silas.agents.role" in path.read_text(encoding="utf-8")
    }
    assert users == {
        f"agents/{name}.py" for name in ("run", "proxy", "planner", "executor", "scorer")
    }


@pytest.mark.proves("S4.24-RUN-TIME-TOOLSETS")
async def test_one_agent_has_in_each_run_the_tools_of_that_run() -> None:
    def tools(*names: str) -> Toolset:
        made = Toolset()
        for name in names:
            made.add_function(lambda: "ok", name=name)
        return made

    report = ExecutorAgentOutput(summary="done")
    model = ScriptedModel([report, report, report])
    agent = ExecutorAgent[None](model, MockClock(), output="tool", capabilities=())
    for names in (("a", "b"), ("c",), ()):
        await agent.run("go", skills=(), toolset=tools(*names), deps=None, limits=UsageLimits())
    seen = [{tool.name for tool in asked.parameters.function_tools} for asked in model.requests]
    assert seen == [{"a", "b"}, {"c"}, set()]


@pytest.mark.proves("S7.3-NO-METRICS-FROM-MODEL", "S3.2-QUERIES-ONLY-LEVER")
@pytest.mark.parametrize(
    ("output", "fields"),
    [
        (ExecutorAgentOutput, {"summary", "status", "artifact_refs", "next_steps"}),
        (
            AgentResponse,
            {"message", "memory_queries", "memory_ops", "plan_action", "needs_approval"},
        ),
        (
            RouteDecision,
            {
                "route",
                "reason",
                "response",
                "interaction_register",
                "interaction_mode",
                "continuation_of",
                "context_profile",
                "memory_ops",
                "reminder",
            },
        ),
        (
            PlanAction,
            {"action", "plan_markdown", "continuation_of", "interaction_mode_override"},
        ),
        (PlannerAdvice, {"guidance", "plan_is_wrong"}),
    ],
)
def test_a_model_is_asked_for_these_fields_and_no_others(
    output: type[BaseModel], fields: set[str]
) -> None:
    """None counts tokens, cost, time or attempts; none drops, pins or summarises context.

    What of these a model is shown on the wire is in test_wire.py.
    """
    assert set(output.model_json_schema()["properties"]) == fields
    said = {"message": "m", "summary": "s", "drop_context": ["x"], "tokens_used": 7}
    for model in (AgentResponse, ExecutorAgentOutput):
        assert set(model.model_validate(said).model_dump()) == set(model.model_fields)


MODES: list[tuple[dict[str, Any], list[str]]] = [
    ({"default_structured_output_mode": "tool"}, ["tool", "prompted"]),
    (
        {"default_structured_output_mode": "tool", "supports_json_schema_output": True},
        ["tool", "native"],
    ),
    (
        {"default_structured_output_mode": "native", "supports_json_schema_output": True},
        ["native", "tool"],
    ),
    (
        {
            "default_structured_output_mode": "native",
            "supports_json_schema_output": True,
            "supports_tools": False,
        },
        ["native", "prompted"],
    ),
    ({"default_structured_output_mode": "prompted"}, ["prompted", "tool"]),
]


@pytest.mark.proves("A21-AUTO-FALLS-BACK-ONCE")
@pytest.mark.parametrize(("profile", "modes"), MODES)
async def test_auto_begins_as_the_models_profile_says_and_tries_one_other_form(
    profile: dict[str, Any], modes: list[str]
) -> None:
    asked: list[ModelRequestParameters] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(info.model_request_parameters)
        return ModelResponse(parts=[TextPart("no form at all")])

    model = FunctionModel(answer, profile=ModelProfile(**profile))
    agent = PlannerAgent(model, MockClock(), output="auto")
    run = await agent.plan(TURN, toolset=Toolset(), deps=None)
    assert run.fell_back
    assert [parameters.output_mode for parameters in asked] == modes


@pytest.mark.proves("S15-NEVER-FORGE", "S15-NEVER-CREDENTIALS")
def test_with_every_agent_module_loaded_there_is_no_key_and_no_engine_to_reach() -> None:
    code = """
import importlib, pkgutil, sys
import silas.agents
for found in pkgutil.iter_modules(silas.agents.__path__, "silas.agents."):
    importlib.import_module(found.name)
barred = ("silas.keys", "silas.approval.engine", "nacl", "keyring")
print([name for name in sys.modules if name.startswith(barred)])
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS
    )
    assert ran.stdout.strip() == "[]"
