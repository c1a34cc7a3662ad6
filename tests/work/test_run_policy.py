"""How one run answers questions: what that lifts, and that it ends with the run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from silas.main import cli
from silas.testing import FakeTool
from silas.tools import (
    RiskLevel,
    RunApprovalMode,
    RunApprovalPolicy,
    Stance,
    ToolConfig,
    ToolResult,
)
from silas.tools.models import CONTAINED
from silas.work.authority.run_policy import PROMPT, RunPolicies
from silas.work.models import AlreadyRunning
from tests.work.test_workers import DONE, LS, CallTool, House, house, plan, soon, worker_file

ASK = CallTool("lamp")
FREE = RunApprovalPolicy(mode=RunApprovalMode.approve_all)


def lamp(at: House, risk: RiskLevel = RiskLevel.low, **tool: Any) -> FakeTool:
    """A tool that asks about itself, and does nothing that anybody else would ask about."""
    properties: dict[str, Any] = {"stance": Stance.ask, "facts": CONTAINED, **tool}
    made = FakeTool("lamp", **properties)
    at.h.silas.registry.register(made, ToolConfig(connector_id="test", risk_default=risk))
    return made


@pytest.mark.parametrize(
    ("mode", "tool", "cards", "ran"),
    [
        ("prompt", {}, 1, False),
        ("approve_all", {}, 0, True),
        ("reject_all", {}, 0, False),
        # what it does not lift
        ("approve_all", {"risk": RiskLevel.medium}, 1, False),
        ("approve_all", {"risk": RiskLevel.critical}, 0, False),
        ("approve_all", {"stance": Stance.blocked}, 0, False),
        ("approve_all", {"requires_authority": True}, 1, False),
        ("reject_all", {"requires_authority": True, "stance": Stance.silent}, 0, False),
    ],
)
async def test_to_approve_all_lifts_a_toolsets_own_question_and_nothing_else(
    tmp_path: Path, mode: str, tool: dict[str, Any], cards: int, ran: bool
) -> None:
    async with house(tmp_path, {}, {"executor": [ASK, LS, DONE]}) as at:
        used = lamp(at, **tool)
        await at.run(plan(worker=None), mode)
        assert (len(at.cards()), bool(used.calls)) == (cards, ran)


@pytest.mark.parametrize("setting", ["{ approval_required: true }", "{ blocked: true }"])
async def test_to_approve_all_lifts_no_word_of_a_worker(tmp_path: Path, setting: str) -> None:
    files = {"lead": worker_file("lead", f"approval: {{ shell_exec: {setting} }}")}
    async with house(tmp_path, files, {"lead": [LS, DONE, *[DONE] * 9]}) as at:
        await at.run(mode="approve_all")
        assert len(at.cards()) == (1 if "required" in setting else 0)
        assert await at.events("tool_call") == []


@pytest.mark.proves("WP-NO-LEAK", "WP-BASE-UNCHANGED")
async def test_a_runs_policy_ends_with_the_run(tmp_path: Path) -> None:
    script = [ASK, LS, DONE] * 3
    async with house(tmp_path, {}, {"executor": script}) as at:
        used = lamp(at)
        for number, (mode, cards, calls) in enumerate(
            (("approve_all", 0, 1), ("prompt", 1, 1), ("approve_all", 1, 2))
        ):
            await at.run(plan(worker=None, id=f"task-{number}"), mode)
            assert (len(at.cards()), len(used.calls)) == (cards, calls)
        left = [at.h.silas.runs.policies.of(f"task-{number}") for number in range(3)]
        assert left == [PROMPT] * 3


@pytest.mark.proves("WP-NO-LEAK")
async def test_two_runs_at_the_same_time_have_each_its_own_policy(tmp_path: Path) -> None:
    """Both are at the question at the same moment; only one is answered by its policy."""
    files = {name: worker_file(name, tools="{}") for name in ("one", "two")}
    both = asyncio.Barrier(2)

    async def meet(request: dict[str, str]) -> Any:
        await both.wait()
        return ToolResult(ok=True)

    scripts = {"executor": [CallTool("meet"), CallTool("meet"), ASK, ASK, LS, LS, DONE, DONE]}
    async with house(tmp_path, files, scripts) as at:
        used = lamp(at)
        meeting = FakeTool("meet", meet, facts=CONTAINED)
        config = ToolConfig(connector_id="test", risk_default=RiskLevel.low)
        at.h.silas.registry.register(meeting, config)
        runs = [
            at.h.silas.run(plan(worker=None, id="task-free"), policy=FREE),
            at.h.silas.run(plan(worker=None, id="task-asks")),
        ]
        await soon(asyncio.gather(*runs))
        denied = [data["task"] for e, data in await at.events("gate") if e == "gate.denied"]
        assert denied == ["task-asks"]
        assert (len(used.calls), len(at.cards())) == (1, 1)


async def test_a_policy_given_for_a_run_is_not_replaced_by_another_for_the_same_work() -> None:
    policies = RunPolicies()
    with policies.hold_policy("a", PROMPT):
        with pytest.raises(AlreadyRunning), policies.hold_policy("a", FREE):
            pass
        assert policies.of("a") == PROMPT
    with policies.hold_policy("a", FREE):
        assert (policies.of("a"), policies.of("b")) == (FREE, PROMPT)
    assert policies.of("a") == PROMPT


@pytest.mark.proves("WP-NO-LEAK")
async def test_a_workers_policy_stays_with_its_run(tmp_path: Path) -> None:
    """The same worker, its file changed between two approved runs: each run had its own rules."""
    held = "{ shell: { rules: [] } }"
    files = {"lead": worker_file("lead", tools=held)}
    async with house(tmp_path, files, {"lead": [LS, DONE, DONE, LS, DONE]}) as at:
        await at.run(plan(id="task-1"))
        assert await at.events("tool_call") == []
        (at.files / "lead.worker").write_text(worker_file("lead"))
        await at.run(plan(id="task-2"))
        assert [data["task"] for _, data in await at.events("tool_call")] == ["task-2"] * 2


def test_a_run_is_told_how_to_answer_on_the_command_line() -> None:
    shown = CliRunner().invoke(cli, ["run", "--help"]).output
    assert "--approve-all" in shown
    assert "--reject-all" in shown
