"""A run is offered the tools that it was given, and no other run's."""

import asyncio
from datetime import UTC, datetime

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset

from silas.agents import PlannerAgent, TurnRequest
from silas.agents.calls import PROXY
from silas.agents.role import Role
from silas.testing import MockClock
from tests.support.waits import SECONDS


def with_one(name: str) -> AbstractToolset[None]:
    async def look() -> str:
        """Look something up."""
        return "seen"

    toolset = FunctionToolset[None]()
    toolset.add_function(look, name=name)
    return toolset


async def test_runs_side_by_side_of_one_agent_are_each_offered_their_own_tools() -> None:
    offered: list[list[str]] = []
    both = asyncio.Event()

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.append([tool.name for tool in info.function_tools])
        if len(offered) == 2:
            both.set()
        await both.wait()
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"message": "done"})])

    planner = PlannerAgent(FunctionModel(answer), MockClock(), output="tool")
    turn = TurnRequest("plan it", now=datetime(2026, 1, 2, tzinfo=UTC))
    runs = (planner.plan(turn, toolset=with_one(name), deps=None) for name in ("one", "other"))
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*runs)
    assert sorted(offered) == [["one"], ["other"]]


async def test_a_run_within_a_tool_leaves_the_run_around_it_its_tools() -> None:
    offered: list[list[str]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.append([tool.name for tool in info.function_tools])
        if len(offered) == 1:
            return ModelResponse(parts=[ToolCallPart("delegate", {})])
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"message": "done"})])

    planner = PlannerAgent(FunctionModel(answer), MockClock(), output="tool")
    turn = TurnRequest("plan it", now=datetime(2026, 1, 2, tzinfo=UTC))

    async def delegate() -> str:
        """Have somebody else do it."""
        inner = await planner.plan(turn, toolset=with_one("inner"), deps=None)
        return inner.output.message

    outer = FunctionToolset[None]()
    outer.add_function(delegate)
    async with asyncio.timeout(SECONDS):
        run = await planner.plan(turn, toolset=outer, deps=None)
    assert run.output.message == "done"
    assert offered == [["delegate"], ["inner"], ["delegate"]]


def test_an_agent_has_one_capability_and_pydantic_ais_own_agents_have_theirs() -> None:
    role = Role(
        FunctionModel(lambda _, __: ModelResponse(parts=[])), MockClock(), "tool", "proxy", ()
    )
    agent = role.agent(PROXY, "tool", ())
    assert len(agent.root_capability.capabilities) == 1
    given = {type(each).__name__ for each in Agent().root_capability.capabilities}
    assert given == {"ToolSearch", "PendingMessageDrainCapability"}  # what it stands in for
