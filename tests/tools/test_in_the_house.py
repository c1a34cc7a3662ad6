"""The tool door in a whole Silas: what is offered, what is asked, who approved what runs."""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from silas.agents import (
    AgentResponse,
    ExecutorAgentOutput,
    PlanAction,
    PlanActionType,
    RouteDecision,
    frame,
)
from silas.audit import AuditLog
from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.channels import CLIChannel, PreApproved
from silas.plans import PlanParser, WorkItemStatus, plan_hash
from silas.testing import (
    CallTool,
    FakeSandbox,
    FakeTool,
    Harness,
    MockClock,
    ScriptedChannel,
    ScriptedModel,
    plan_text,
)
from silas.testing.models import Step
from silas.testing.tools import exit_result
from silas.tools import FILE_TOOL_NAMES, RiskLevel, Stance, ToolConfig, ToolRegistry, ToolResult
from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from silas.types import InteractionMode, InteractionRegister
from tests.support.waits import SECONDS

T = TypeVar("T")
PLAN = plan_text(verify=None, body="# What to do\n\nTurn the lamp on.")
LOOK = CallTool("shell_exec", {"argv": ["ls"]})
REPORT = ExecutorAgentOutput(summary="worked")
CORE = {"shell_exec", "python_exec", "web_fetch", "ask_owner", *FILE_TOOL_NAMES}
LOOKUPS = {"memory_search", "context_inspection", *WORKSPACE_TOOL_NAMES}


async def soon(what: Awaitable[T]) -> T:
    async with asyncio.timeout(SECONDS):
        return await what


def a_sandbox() -> FakeSandbox:
    return FakeSandbox(lambda run: exit_result(0, "done"))


def says(*answers: str) -> Callable[[Card[Any]], Any]:
    """Approves every plan, and answers the questions about single calls in turn, then declines."""
    left = list(answers)

    def answer(card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return PlanAnswer(verdict="approved")
        return left.pop(0) if isinstance(card, ToolCallCard) and left else card.safe

    return answer


def asked(channel: ScriptedChannel) -> list[ToolCallCard]:
    return [card for card in channel.cards if isinstance(card, ToolCallCard)]


def add(
    registry: ToolRegistry, name: str, risk: RiskLevel = RiskLevel.low, **tool: Any
) -> FakeTool:
    made = FakeTool(name, **tool)
    registry.register(made, ToolConfig(connector_id="test", risk_default=risk))
    return made


async def events(h: Harness, *families: str) -> list[str]:
    assert isinstance(h.audit, AuditLog)
    said = [json.loads(entry.body)["event"] for entry in await h.audit.entries(limit=1000)]
    return [event for event in said if event.split(".")[0] in families]


def offered(model: ScriptedModel) -> list[set[str]]:
    return [{tool.name for tool in one.parameters.function_tools} for one in model.requests]


@pytest.mark.proves("C-DEFAULT-A2")
@pytest.mark.parametrize(("risk", "asks"), [(RiskLevel.low, False), (RiskLevel.medium, True)])
async def test_unless_configured_otherwise_low_risk_runs_and_medium_risk_asks(
    risk: RiskLevel, asks: bool
) -> None:
    """Of all levels only A2 does both."""
    executor = ScriptedModel([CallTool("lamp", {"state": "on"}), LOOK, REPORT])
    channel = ScriptedChannel(says("decline"))
    async with Harness(channel, models={"executor": executor}, sandbox=a_sandbox()) as h:
        lamp = add(h.silas.registry, "lamp", risk)
        await soon(h.silas.run(PLAN))
    assert len(asked(channel)) == asks
    assert lamp.calls == ([] if asks else [{"state": "on"}])


@pytest.mark.proves("C-PLAN-TOKEN-COVERS", "S9.2-CORE-TOOLS", "S7.3-BODY-IS-BRIEFING")
async def test_work_in_the_sandbox_runs_under_the_plans_own_approval() -> None:
    calls = [
        LOOK,
        CallTool("shell_exec", {"argv": ["sh", "-c", "ls"]}),  # medium risk: CONFIRM
        CallTool("python_exec", {"code": "print(1)"}),
    ]
    executor, channel, sandbox = (
        ScriptedModel([*calls, REPORT]),
        ScriptedChannel(says()),
        a_sandbox(),
    )
    async with Harness(channel, models={"executor": executor}, sandbox=sandbox) as h:
        result = await soon(h.silas.run(PLAN))
        assert await events(h, "gate") == ["gate.approved"] * 3
        assert {tool.tool_name for tool in h.silas.registry.all()} == CORE | LOOKUPS
    assert result.status is WorkItemStatus.done
    assert asked(channel) == []
    assert [run.argv[0] for run in sandbox.runs] == ["ls", "sh", "python3"]
    assert offered(executor) == [CORE] * 4
    body = PlanParser().parse(PLAN).body
    assert executor.requests[0].text == frame("briefing", body)


@pytest.mark.proves("C-PLAN-TOKEN-COVERS", "S15-NEVER-UNAPPROVED")
async def test_without_an_approved_plan_the_executor_is_not_even_asked() -> None:
    executor, sandbox = ScriptedModel([LOOK]), a_sandbox()
    async with Harness(models={"executor": executor}, sandbox=sandbox) as h:
        result = await soon(h.silas.run(PLAN))
    assert result.status is WorkItemStatus.blocked
    assert (executor.requests, sandbox.runs) == ([], [])


@pytest.mark.proves("C-ONE-CALL-TOKEN", "S5.2.1-CALL-APPROVAL")
async def test_any_other_call_is_asked_for_with_its_arguments_and_a_yes_is_good_for_it_once() -> (
    None
):
    on, off = CallTool("lamp", {"state": "on"}), CallTool("lamp", {"state": "off"})
    executor = ScriptedModel([on, off, on, REPORT])
    channel = ScriptedChannel(says("approve", "decline", "decline"))
    async with Harness(channel, models={"executor": executor}, sandbox=a_sandbox()) as h:
        lamp = add(h.silas.registry, "lamp", requires_authority=True)
        await soon(h.silas.run(PLAN))
        assert await events(h, "gate", "tool_call") == [
            "gate.required",
            "gate.approved",
            "tool_call.attempted",
            "tool_call.succeeded",
            *["gate.required", "gate.denied"] * 2,
        ]
    assert lamp.calls == [{"state": "on"}]
    shown = ["\n".join(card.details[0].lines) for card in asked(channel)]
    assert [json.loads(text) for text in shown] == [{"state": s} for s in ("on", "off", "on")]


@pytest.mark.proves("C-HEADLESS-DENIES")
async def test_where_nobody_can_be_asked_a_call_outside_the_plan_is_denied() -> None:
    output = io.StringIO()
    terminal = CLIChannel(io.StringIO(), output, MockClock())  # its input is no terminal
    channel = PreApproved(terminal, plan_hash(PlanParser().parse(PLAN)))
    executor = ScriptedModel([CallTool("lamp", {"state": "on"}), LOOK, REPORT])
    async with Harness(channel, models={"executor": executor}, sandbox=a_sandbox()) as h:
        lamp = add(h.silas.registry, "lamp", stance=Stance.ask)
        await soon(h.silas.run(PLAN))
        assert (await events(h, "gate"))[:2] == ["gate.denied", "gate.approved"]
    assert lamp.calls == []
    assert "There is no terminal to answer on" in output.getvalue()
    assert "not approved" in executor.requests[1].text


def route(**changes: Any) -> RouteDecision:
    fields: dict[str, Any] = {
        "route": "direct",
        "reason": "r",
        "response": AgentResponse(message="hello"),
        "interaction_register": InteractionRegister.status,
        "interaction_mode": InteractionMode.act_and_report,
        "context_profile": "conversation",
        **changes,
    }
    return RouteDecision.model_validate(fields)


@pytest.mark.proves("C-HEADLESS-DENIES", "S7.1-CANNOT-EXECUTE")
async def test_in_a_turn_nobody_is_asked_and_what_would_ask_is_denied() -> None:
    look, act = CallTool("look", {"for": "x"}), CallTool("act", {"on": "x"})
    steps: list[Step] = [look, act, route()]
    proxy, channel = ScriptedModel(steps), ScriptedChannel(says("approve"))
    async with Harness(channel, models={"proxy": proxy}, sandbox=a_sandbox()) as h:
        looking = add(h.silas.registry, "look", capabilities=["proxy"])
        acting = add(h.silas.registry, "act", capabilities=["proxy"], requires_authority=True)
        await soon(h.silas.ask("hi"))
    assert looking.calls == [{"for": "x"}]
    assert acting.calls == []
    assert channel.cards == []


@pytest.mark.proves("S7.1-CANNOT-EXECUTE", "S9.2-SEARCH-ABSENT")
async def test_proxy_and_planner_are_offered_nothing_that_acts_and_nobody_a_search() -> None:
    action = PlanAction(action=PlanActionType.propose, plan_markdown=PLAN)
    planner = ScriptedModel([AgentResponse(message="a plan", plan_action=action)])
    proxy = ScriptedModel([route(route="planner", response=None)])
    executor = ScriptedModel([LOOK, REPORT])
    models = {"proxy": proxy, "planner": planner, "executor": executor}
    async with Harness(ScriptedChannel(says()), models=models, sandbox=a_sandbox()) as h:
        reply = await soon(h.silas.ask("list the files"))
        assert reply.plan is not None
        await soon(h.silas.wait(reply.plan.id))
        assert "web_search" not in {row["name"] for row in h.silas.tool_rows()}
    assert offered(proxy) == offered(planner) == [LOOKUPS]
    assert offered(executor) == [CORE] * 2


@pytest.mark.proves("B4-NEVER-REPEATED")
async def test_a_call_that_broke_off_ends_the_work_and_the_owner_is_told_to_look() -> None:
    async def lost(request: dict[str, Any]) -> ToolResult:
        raise ConnectionResetError

    on = CallTool("lamp", {"state": "on"})
    executor, channel = ScriptedModel([on, on, REPORT]), ScriptedChannel(says())
    async with Harness(channel, models={"executor": executor}, sandbox=a_sandbox()) as h:
        lamp = add(h.silas.registry, "lamp", work=lost)
        result = await soon(h.silas.run(PLAN))
        again = await soon(h.silas.wait(result.work_item_id))
    assert lamp.calls == [{"state": "on"}]
    assert len(executor.requests) == 1
    assert again is not None
    assert again.status is WorkItemStatus.blocked
    assert "Check before repeating it" in channel.texts[-1]
