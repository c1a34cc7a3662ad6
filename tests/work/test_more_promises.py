"""What a task promises beyond its loop: frozen gates, true artifacts, no network, no memory."""

import asyncio
from typing import Any

import pytest

from silas.agents import ExecutorAgentOutput
from silas.plans import WorkItemStatus
from silas.sandbox import SandboxResult
from silas.testing import CallTool, FakeSandbox, FakeTool, a_plan
from silas.testing.tools import SandboxRun, exit_result
from silas.tools import RiskLevel, ToolConfig, ToolResult
from tests.work.kit import DONE, Work, argv, at_work, sh
from tests.work.test_gates import gate

SECRET = "sesame"
LEAVE = sh(f"for d in . /tmp $HOME; do echo {SECRET} > $d/{SECRET}; done; ls $HOME")
LOOK = sh("echo looked; ls -A /tmp $HOME; env")
TELLING = ExecutorAgentOutput(summary=f"Remember the word {SECRET}.", next_steps=[SECRET])


def good(run: SandboxRun) -> SandboxResult:
    return exit_result(stdout="done")


def register(work: Work, tool: FakeTool) -> None:
    """Make a tool known that asks nobody."""
    config = ToolConfig(connector_id="test", risk_default=RiskLevel.low)
    work.silas.registry.register(tool, config)


@pytest.mark.proves("S5.2.1-GATES-FROZEN")
async def test_a_gate_that_is_taken_out_while_the_work_runs_still_stops_it() -> None:
    item = a_plan(gates=[gate()])

    def edit(run: SandboxRun) -> SandboxResult:
        item.gates = []
        return exit_result(stdout="score: 0.1")

    async with at_work(argv("true"), DONE, sandbox=FakeSandbox(edit)) as work:
        result = await work.execute(await work.approve(item))
    assert item.gates == []
    assert result.status is WorkItemStatus.blocked
    assert result.summary.startswith("The gate g stopped the work")


@pytest.mark.proves("S5.2.1-GATES-FROZEN", "S11-SYSTEM-GATES")
@pytest.mark.parametrize("attempts", [1, 2])
async def test_before_every_call_the_systems_gates_are_asked_before_the_plans(
    attempts: int,
) -> None:
    def refusing(name: str) -> dict[str, Any]:
        only = {"extract": "to", "allowed_values": ["nobody"]}
        return {"name": name, "on": "on_tool_call", "type": "string_match", **only}

    steps = [CallTool("mail", {"to": "anna"}), DONE] * attempts
    settings = {"gates": {"system": [refusing("house rule")]}}
    async with at_work(*steps, settings=settings, sandbox=FakeSandbox(good)) as work:
        tool = FakeTool("mail")
        register(work, tool)
        await work.run(
            gates=[refusing("of the plan")], verify=[], budget={"max_attempts": attempts}
        )
        denied = [data["gate"] for _, data in await work.record("gate.denied")]
    assert denied == ["house rule"] * attempts
    assert not tool.calls


@pytest.mark.proves("S5.2.1-LEDGER", "S5.2.1-ARTIFACTS-FROM-LEDGER", "S5.2.1-CLAIMS-COMPARED")
async def test_the_artifacts_are_what_successful_calls_made_and_not_what_the_agent_says() -> None:
    async def write(request: dict[str, Any]) -> ToolResult:
        who = request["to"]
        made = {f"{who}.txt": who, "last.txt": who}
        if who == "nobody":
            return ToolResult(ok=False, error="there is no such person", artifacts=made)
        return ToolResult(ok=True, return_value="written", artifacts=made)

    names = ("anna", "bob", "nobody")
    steps = [CallTool("write", {"to": name}) for name in names]
    says = ExecutorAgentOutput(summary="All three.", artifact_refs=["nobody.txt", "anna.txt"])
    async with at_work(*steps, says, sandbox=FakeSandbox(good)) as work:
        register(work, FakeTool("write", write))
        result = await work.run(verify=[{"name": "c", "run": "true", "expect": {"exit_code": 0}}])
        mismatches = [data["names"] for _, data in await work.record("artifact_ref_mismatch")]
    assert result.status is WorkItemStatus.done
    assert result.artifacts == {"anna.txt": "anna", "bob.txt": "bob", "last.txt": "bob"}
    assert mismatches == [["nobody.txt"]]


@pytest.mark.proves("B1-NO-NETWORK")
async def test_a_plan_that_names_no_host_reaches_nothing_not_even_this_machine() -> None:
    met: list[bool] = []

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(True)
        writer.close()

    async with await asyncio.start_server(meet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        code = (
            "import socket\n"
            f"try: socket.create_connection(('127.0.0.1', {port}), 2)\n"
            "except OSError as error: print('no way:', type(error).__name__)\n"
            "lines = open('/proc/net/dev').read().splitlines()[2:]\n"
            "print('devices:', [line.partition(':')[0].strip() for line in lines])"
        )
        async with at_work(CallTool("python_exec", {"code": code}), DONE) as work:
            await work.run(verify=[])
            told = work.briefing(1)
    assert "no way: ConnectionRefusedError" in told
    assert "devices: ['lo']" in told
    assert met == []


@pytest.mark.proves("S15-NEVER-PERSIST")
async def test_an_attempt_knows_and_finds_nothing_of_what_the_one_before_left_outside() -> None:
    fails = [{"name": "never", "run": "false", "expect": {"exit_code": 0}}]
    async with at_work(LEAVE, TELLING, LOOK, DONE) as work:
        await work.run(verify=fails, budget={"max_attempts": 2})
        first, second, looked = work.briefing(1), work.briefing(2), work.briefing(3)
    assert SECRET in first
    # what it printed is told by Silas, as a quotation; it finds nothing by itself
    assert f"> {' ' * 4}" in second
    assert SECRET in second
    assert SECRET not in _unquoted(second)
    assert "looked" in looked
    assert SECRET not in _unquoted(looked)


def _unquoted(briefing: str) -> str:
    return "\n".join(line for line in briefing.split("\n") if not line.startswith("> "))


@pytest.mark.proves("S15-NEVER-PERSIST")
async def test_the_next_task_finds_nothing_of_the_one_before_in_any_place() -> None:
    look = sh("echo looked; pwd; ls -A . /tmp $HOME; env")
    async with at_work(LEAVE, TELLING, look, DONE) as work:
        for name in ("task-one", "task-two"):
            result = await work.run(id=name, verify=[])
            assert result.status is WorkItemStatus.done
        assert SECRET in work.briefing(1)
        for number in (2, 3):
            assert SECRET not in work.briefing(number)
        assert "looked" in work.briefing(3)
