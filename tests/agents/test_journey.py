"""From a request to what ran, with the shipped library and no key: proxy, planner, executor."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import UsageLimits

from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent, TurnRequest
from silas.agents.runbook.model import RunbookModel
from silas.plans import PlanLibrary, PlanParser, shipped_plans
from silas.plans.goals.standing import StandingCaps
from silas.plans.runbooks.requirements import Equipment
from silas.sandbox.toolchains.mounts import NoTools
from silas.testing import FakeSandbox, MockClock
from silas.testing.tools import exit_result
from tests.support.waits import SECONDS

VIENNA = ZoneInfo("Europe/Vienna")
EVERYTHING = Equipment(FakeSandbox(lambda run: exit_result(0)), NoTools(""), Path("/nowhere"))


@pytest.mark.parametrize("request_text", ["fix the failing test", "Please make the tests pass!"])
async def test_a_request_becomes_a_valid_plan_and_its_commands_run(
    request_text: str, tmp_path: Path
) -> None:
    library, clock = PlanLibrary([shipped_plans()]), MockClock()
    model = RunbookModel(library, EVERYTHING.find_tools, VIENNA, StandingCaps())
    ran: list[list[str]] = []
    tools = FunctionToolset[None]()

    @tools.tool_plain
    def shell_exec(argv: list[str]) -> str:
        """Run a program."""
        ran.append(argv)
        return "exit code 0"

    assert shell_exec
    turn = TurnRequest(
        request_text,
        now=datetime(2026, 1, 2, tzinfo=UTC),
        workspace=str(tmp_path),
        facts={"python": "/usr/bin/python3"},
    )
    async with asyncio.timeout(SECONDS):
        proxy = ProxyAgent(model, clock, output="auto", default_profile="conversation")
        route = await proxy.route(turn, toolset=tools, deps=None)
        assert route.output.route == "planner"
        planner = PlannerAgent(model, clock, output="auto")
        planned = await planner.plan(turn, toolset=tools, deps=None)
        action = planned.output.plan_action
        assert action is not None
        item = PlanParser().parse(action.plan_markdown or "")
        assert item.workspace == str(tmp_path)
        assert item.verify
        assert not ran
        executor = ExecutorAgent[None](model, clock, output="auto", capabilities=())
        done = await executor.run(
            item.body, skills=(), toolset=tools, deps=None, limits=UsageLimits()
        )
    assert ran == [["/usr/bin/python3", "-m", "ruff", "check", "--fix", "--no-cache", "."]]
    assert "each succeeded" in done.output.summary
    assert route.tokens + planned.tokens + done.tokens == 0


async def test_help_lists_the_shipped_plans() -> None:
    library = PlanLibrary([shipped_plans()])
    proxy = ProxyAgent(
        RunbookModel(library, EVERYTHING.find_tools, VIENNA, StandingCaps()),
        MockClock(),
        output="auto",
        default_profile="conversation",
    )
    turn = TurnRequest("help", now=datetime(2026, 1, 2, tzinfo=UTC))
    run = await proxy.route(turn, toolset=FunctionToolset[None](), deps=None)
    assert run.output.response is not None
    assert library.plans()
    for plan in library.plans():
        assert plan.title in run.output.response.message
