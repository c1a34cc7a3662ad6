"""Gates between the work and its verification, over what the steps printed (spec 5.2.1 d)."""

from typing import Any

import pytest

from silas.cards import GateCard
from silas.gates import Gate, GateProvider, GateResult, GateRunner
from silas.plans import PlanParser, WorkItemStatus, shipped_plans
from silas.testing import FakeSandbox, MemoryAudit, a_plan
from silas.testing.tools import exit_result
from silas.tools import ToolResult
from silas.types import TaintLevel
from silas.work.ledger import Ledger, unknown_references
from silas.work.steps import StepGates
from tests.work.kit import DONE, argv, at_work, owner

RANGES: dict[str, Any] = {
    "on": "after_step",
    "after_step": 1,
    "type": "numeric_range",
    "extract": "score",
    "auto_approve": {"min": 0.75, "max": 1.0},
    "require_approval": {"min": 0.5, "max": 0.75},
    "block": {"outside": [0.0, 1.0]},
}


def gate(name: str = "g", **changes: Any) -> dict[str, Any]:
    return {"name": name, **RANGES, **changes}


async def run(printed: str, gates: list[dict[str, Any]], **yes: bool) -> Any:
    """Status, names of the gates that asked, and what was told, for one attempt that printed."""
    channel = owner(**yes)
    sandbox = FakeSandbox(lambda run: exit_result(stdout=printed))
    async with at_work(argv("true"), DONE, channel=channel, sandbox=sandbox) as work:
        check = {"name": "c", "run": "true", "expect": {"exit_code": 0}}
        result = await work.run(gates=gates, verify=[check], budget={"max_attempts": 1})
        asked = [card.gate_name for card in channel.cards if isinstance(card, GateCard)]
        verified = any(one.argv[0] == "/bin/sh" for one in sandbox.runs)
        blocked = [data["gate"] for _, data in await work.record("gate_blocked")]
        assert (await work.stored()).status is result.status
    assert verified == (result.status is WorkItemStatus.done)
    assert blocked == ([] if verified else [result.summary.split()[2]])
    return result, asked


DECIDED: tuple[tuple[str, bool, WorkItemStatus, int], ...] = (
    ("score: 0.9", False, WorkItemStatus.done, 0),
    ("score: 0.75", False, WorkItemStatus.done, 0),
    ("score = 1", False, WorkItemStatus.done, 0),
    ("score: 0.7499", True, WorkItemStatus.done, 1),
    ("score: 0.7499", False, WorkItemStatus.blocked, 1),
    ("score: 0.5", True, WorkItemStatus.done, 1),
    ("score: 0.49", True, WorkItemStatus.blocked, 0),
    ("score: 1.01", True, WorkItemStatus.blocked, 0),
    ("score: -1", True, WorkItemStatus.blocked, 0),
    ("score: high", True, WorkItemStatus.blocked, 0),
    ("score: nan", True, WorkItemStatus.blocked, 0),
    ("score: inf", True, WorkItemStatus.blocked, 0),
    ("score:", True, WorkItemStatus.blocked, 0),
    ("", True, WorkItemStatus.blocked, 0),
    ("the score: 0.9", True, WorkItemStatus.blocked, 0),
    ("scores: 0.9", True, WorkItemStatus.blocked, 0),
    ("score: 0.2\nscore: 0.9", False, WorkItemStatus.done, 0),
    ("score: 0.9\nscore: 0.2", True, WorkItemStatus.blocked, 0),
    ("score: 0.9\nResults:\nscore: 0.2", True, WorkItemStatus.blocked, 0),
    ("score: 0." + "9" * 300, True, WorkItemStatus.blocked, 0),
)


@pytest.mark.proves("S5.2.1-STEP-GATE-BLOCKS")
@pytest.mark.parametrize(("printed", "yes", "status", "questions"), DECIDED)
async def test_a_value_decides(
    printed: str, yes: bool, status: WorkItemStatus, questions: int
) -> None:
    result, asked = await run(printed, [gate()], gate=yes)
    assert (result.status, len(asked)) == (status, questions)


@pytest.mark.parametrize("step", [1, 2, 3, 17])
async def test_a_gate_of_any_step_is_asked(step: int) -> None:
    result, _ = await run("score: 0.1", [gate(after_step=step)])
    assert result.status is WorkItemStatus.blocked
    assert result.summary == "The gate g stopped the work: 0.1 is in no range of this gate."


async def test_nobody_is_asked_about_what_is_blocked_anyhow() -> None:
    gates = [gate("asks"), gate("blocks", extract="missing", after_step=2)]
    result, asked = await run("score: 0.6", gates, gate=True)
    assert (result.status, asked) == (WorkItemStatus.blocked, [])
    assert "missing" in result.summary


async def test_every_question_needs_its_own_yes() -> None:
    gates = [gate("first"), gate("second", after_step=2)]
    result, asked = await run("score: 0.6", gates, gate=True)
    assert (result.status, asked) == (WorkItemStatus.done, ["first", "second"])


@pytest.mark.proves("S5.2.1-STEP-GATE-BLOCKS")
async def test_a_no_to_the_first_question_is_enough() -> None:
    gates = [gate("first"), gate("second", after_step=2)]
    result, asked = await run("score: 0.6", gates, gate=False)
    assert (result.status, asked) == (WorkItemStatus.blocked, ["first"])


@pytest.mark.parametrize("provider", ["script", "llm", "custom", "guardrails_ai"])
async def test_a_gate_without_its_provider_blocks(provider: str) -> None:
    async with at_work(argv("true"), DONE) as work:
        result = await work.run(gates=[gate(provider=provider, check_command="true")])
        assert "work_item_attempt" not in await work.events()
    assert result.status is WorkItemStatus.blocked
    assert f"no provider {provider} for the gate 'g'" in result.summary


class _Critic:
    """A quality provider that would block if it could."""

    async def check(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        assert context["step_output"] == {"score": "0.1"}
        return GateResult(
            gate_name=gate.name,
            lane=gate.lane,
            action="block",
            reason="dull",
            score=0.1,
            flags=("dull",),
        )


async def test_a_quality_gate_is_recorded_and_stops_nothing() -> None:
    async def never(work_item_id: str, result: GateResult) -> bool:
        raise AssertionError("nobody is asked about quality")

    audit, ledger = MemoryAudit(), Ledger()
    steps = StepGates(GateRunner({GateProvider.llm: _Critic()}, audit, 9), audit, never)
    entry(ledger, "score: 0.1")
    tone = Gate.model_validate(gate("tone", provider="llm"))
    assert await steps.refuse(a_plan(), [tone], ledger) is None
    rated = {"gate": "tone", "score": 0.1, "flags": ["dull"], "work_item_id": "task-example"}
    assert ("quality_gate_after_step", rated) in audit.entries


@pytest.mark.proves("S5.2.1-GATES-FROZEN", "S11-SYSTEM-GATES")
async def test_the_systems_gates_are_asked_before_the_plans() -> None:
    sandbox = FakeSandbox(lambda run: exit_result(stdout="score: 0.1"))
    gates = {"gates": {"system": [gate("house rule")]}}
    async with at_work(argv("true"), DONE, sandbox=sandbox, settings=gates) as work:
        result = await work.run(gates=[gate("of the plan")])
    assert result.summary.startswith("The gate house rule stopped the work")


TRADES: tuple[tuple[str, str, bool, WorkItemStatus], ...] = (
    ("0.9", "20", False, WorkItemStatus.done),
    ("0.6", "20", True, WorkItemStatus.done),
    ("0.9", "100", True, WorkItemStatus.done),
    ("0.6", "20", False, WorkItemStatus.blocked),
    ("0.9", "100.01", True, WorkItemStatus.blocked),
    ("0.4", "20", True, WorkItemStatus.blocked),
)


@pytest.mark.parametrize(("confidence", "position", "yes", "status"), TRADES)
async def test_the_trade_plan_goes_on_only_within_its_ranges(
    confidence: str, position: str, yes: bool, status: WorkItemStatus
) -> None:
    text = (shipped_plans().parents[2] / "plans" / "trade-weather.md").read_text()
    printed = f"Analysis\nconfidence_score: {confidence}\nposition_usd = {position}\n"

    def answer(run: Any) -> Any:
        return exit_result(stdout="filled" if run.argv[0] == "/bin/sh" else printed)

    async with at_work(
        argv("true"), DONE, channel=owner(gate=yes), sandbox=FakeSandbox(answer)
    ) as w:
        result = await w.execute(await w.approve(PlanParser().parse(text)))
    assert result.status is status


def entry(ledger: Ledger, text: str = "", *, ok: bool = True, **more: Any) -> None:
    ledger.record("t", {}, ToolResult(ok=ok, return_value=text, **more))


class TestTheLedger:
    @pytest.mark.proves("S5.2.1-ARTIFACTS-FROM-LEDGER")
    def test_artifacts_are_those_of_successful_calls_and_the_last_wins(self) -> None:
        ledger = Ledger()
        entry(ledger, artifacts={"a": "1", "b": "1"})
        entry(ledger, artifacts={"a": "failed", "c": "failed"}, ok=False)
        entry(ledger, artifacts={"b": "2"})
        assert ledger.artifacts() == {"a": "1", "b": "2"}
        assert unknown_references(["c", "a", "x"], ledger.artifacts()) == ["c", "x"]

    def test_taint_is_that_of_the_least_trusted_result(self) -> None:
        ledger = Ledger()
        assert ledger.taint() is TaintLevel.external
        entry(ledger, taint=TaintLevel.owner)
        assert ledger.taint() is TaintLevel.owner
        entry(ledger, taint=TaintLevel.external)
        assert ledger.taint() is TaintLevel.external

    def test_steps_are_numbered_from_one(self) -> None:
        ledger = Ledger()
        entry(ledger)
        entry(ledger)
        assert [one.step for one in ledger.entries] == [1, 2]
