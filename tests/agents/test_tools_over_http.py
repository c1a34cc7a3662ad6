"""Tool calls over the real OpenAI client: executed once, corrected, limited, accounted for."""

import asyncio
from typing import Any

import pytest
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import UsageLimits

from silas.agents import ExecutorAgent, ModelChoice, ModelRunFailed
from silas.agents.providers.factory import make_model
from silas.agents.run import SCHEMA_ERROR
from silas.testing import MockClock
from tests.agents.openai_server import Failure, OpenAIServer, Tool, openai_server
from tests.support.waits import SECONDS


class Waits(MockClock):
    """A clock on which waiting takes no time."""

    async def sleep(self, seconds: float) -> None:
        """Go on."""


def unused() -> Any:
    raise AssertionError("the runbook was not asked for")


def tools() -> tuple[FunctionToolset[None], list[list[str]]]:
    ran: list[list[str]] = []
    toolset = FunctionToolset[None]()

    @toolset.tool_plain(sequential=True)  # as the tool door has what is not idempotent
    def shell_exec(argv: list[str]) -> str:
        """Run a program."""
        ran.append(argv)
        return "exit code 0"

    return toolset, ran


async def execute(server: OpenAIServer, toolset: FunctionToolset[None], limits: UsageLimits) -> Any:
    choice = ModelChoice(name="llama", base_url=server.base_url)
    model = make_model(choice, runbook=unused)
    async with asyncio.timeout(SECONDS), model:
        agent = ExecutorAgent[None](model, Waits(), output="tool", capabilities=())
        return await agent.run("do it", skills=(), toolset=toolset, deps=None, limits=limits)


REPORT = Tool.call("report_work", summary="listed the files")


async def test_tool_calls_over_http_are_executed_and_their_results_go_back() -> None:
    toolset, ran = tools()
    async with openai_server([Tool.call("shell_exec", argv=["ls"]), REPORT]) as server:
        run = await execute(server, toolset, UsageLimits())
    assert ran == [["ls"]]
    assert run.output.summary == "listed the files"
    assert server.bodies[1]["messages"][-1]["content"] == "exit code 0"
    assert run.tokens == 220


async def test_a_failed_request_in_the_middle_repeats_no_tool_call() -> None:
    toolset, ran = tools()
    script = [Tool.call("shell_exec", argv=["ls"]), Failure(500), REPORT]
    async with openai_server(script) as server:
        await execute(server, toolset, UsageLimits())
    assert ran == [["ls"]]


async def test_a_report_out_of_form_repeats_no_tool_call() -> None:
    toolset, ran = tools()
    script = [Tool.call("shell_exec", argv=["ls"]), Tool.call("report_work"), REPORT]
    async with openai_server(script) as server:
        run = await execute(server, toolset, UsageLimits())
    assert ran == [["ls"]]
    assert run.output.summary == "listed the files"
    last = server.bodies[2]["messages"]
    assert SCHEMA_ERROR in last[-1]["content"]
    assert "exit code 0" in str(last)


@pytest.mark.proves("S5.1.0-EXECUTOR-FALLBACK")
async def test_an_executor_that_never_reports_in_form_fails_its_attempt() -> None:
    toolset, _ = tools()
    async with openai_server([Tool.call("report_work")] * 2) as server:
        run = await execute(server, toolset, UsageLimits())
    assert run.fell_back
    assert run.error == "executor_structured_output_invalid"


@pytest.mark.proves("S15-NEVER-REGISTER-TOOLS")
async def test_a_tool_that_does_not_exist_is_answered_within_the_run() -> None:
    toolset, _ = tools()
    async with openai_server([Tool.call("rm_rf"), REPORT]) as server:
        run = await execute(server, toolset, UsageLimits())
    assert run.output.summary == "listed the files"
    assert "rm_rf" in str(server.bodies[1]["messages"][-1])


async def test_wrong_tool_arguments_are_corrected_by_the_model() -> None:
    toolset, ran = tools()
    script = [Tool.call("shell_exec", command="ls"), Tool.call("shell_exec", argv=["ls"]), REPORT]
    async with openai_server(script) as server:
        await execute(server, toolset, UsageLimits())
    assert ran == [["ls"]]
    assert "argv" in str(server.bodies[1]["messages"][-1])


@pytest.mark.parametrize(
    "limits",
    [
        UsageLimits(request_limit=2),
        UsageLimits(total_tokens_limit=200),
        UsageLimits(tool_calls_limit=1),
    ],
)
async def test_a_model_that_never_ends_stops_at_its_limits(limits: UsageLimits) -> None:
    toolset, ran = tools()
    async with openai_server([Tool.call("shell_exec", argv=["ls"])] * 9) as server:
        with pytest.raises(ModelRunFailed) as failed:
            await execute(server, toolset, limits)
    assert failed.value.code == "E_LLM_BUDGET"
    assert len(ran) <= 2
    assert failed.value.spent.tokens == 110 * len(server.bodies)
