"""The two lanes, the allowlist, and what happens when a provider is missing or fails."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from silas.gates import (
    Gate,
    GateLane,
    GateProvider,
    GateResult,
    GateRunner,
    GateTrigger,
    PredicateProvider,
)
from silas.testing import MemoryAudit

Says = Callable[[Gate, dict[str, Any]], dict[str, Any]]


class Scripted:
    """A provider that answers as told and remembers what it saw."""

    def __init__(self, says: Says) -> None:
        self._says = says
        self.seen: list[tuple[str, dict[str, Any]]] = []

    async def check(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        self.seen.append((gate.name, context))
        answer = self._says(gate, context)
        return GateResult.model_validate(
            {
                "gate_name": "lies",
                "lane": "policy",
                "action": "continue",
                "reason": "said so",
                **answer,
            }
        )


def _gate(name: str, provider: str = "custom", **fields: Any) -> Gate:
    return Gate.model_validate(
        {"name": name, "on": "every_user_message", "provider": provider, **fields}
    )


def _runner(audit: MemoryAudit, limit: int = 32, **providers: Scripted) -> GateRunner:
    return GateRunner({GateProvider(k): v for k, v in providers.items()}, audit, limit)


_ON = GateTrigger.every_user_message


@pytest.mark.proves("S5.4-LEFT-TO-RIGHT", "S4.9-THREE-RESULTS")
async def test_policy_gates_run_in_order_and_each_sees_the_changes_before_it() -> None:
    def says(gate: Gate, context: dict[str, Any]) -> dict[str, Any]:
        return {"modified_context": {"message": context["message"] + gate.name}}

    provider = Scripted(says)
    context = {"message": "m"}
    outcome = await _runner(MemoryAudit(), custom=provider).check_gates(
        [_gate("a"), _gate("b"), _gate("c")], _ON, context
    )
    assert outcome.context == {"message": "mabc"}
    assert [seen["message"] for _, seen in provider.seen] == ["m", "ma", "mab"]
    assert context == {"message": "m"}
    assert [r.gate_name for r in outcome.policy] == ["a", "b", "c"]


@pytest.mark.proves("S5.4-QUALITY-AFTER", "S4.9-THREE-RESULTS")
async def test_quality_gates_run_after_policy_on_the_changed_context() -> None:
    audit = MemoryAudit()
    policy = Scripted(lambda _g, _c: {"modified_context": {"message": "clean"}})
    quality = Scripted(lambda _g, _c: {"lane": "quality", "score": 0.4, "flags": ("verbose",)})
    outcome = await _runner(audit, custom=policy, llm=quality).check_gates(
        [_gate("q", "llm"), _gate("p")], _ON, {"message": "dirty"}
    )
    assert quality.seen == [("q", {"message": "clean"})]
    assert [r.score for r in outcome.quality] == [0.4]
    assert outcome.quality[0].flags == ("verbose",)
    assert "quality_lane_violation" not in audit.events()


@pytest.mark.proves(
    "S3.4-QUALITY-CONTINUES",
    "S3.4-QUALITY-MUTATION-DROPPED",
    "S5.4-QUALITY-VIOLATION",
    "S5.4-QUALITY-AFTER",
)
@pytest.mark.parametrize(
    "answer",
    [
        {"action": "block"},
        {"action": "require_approval"},
        {"modified_context": {"response": "x"}},
        {"action": "block", "modified_context": {"message": "x"}},
    ],
)
async def test_a_quality_gate_can_neither_block_nor_rewrite(answer: dict[str, Any]) -> None:
    audit = MemoryAudit()
    outcome = await _runner(audit, llm=Scripted(lambda _g, _c: answer)).check_gates(
        [_gate("q", "llm")], _ON, {"message": "m"}
    )
    assert [(r.action, r.modified_context, r.lane) for r in outcome.quality] == [
        ("continue", None, GateLane.quality)
    ]
    assert outcome.context == {"message": "m"}
    assert outcome.policy == []
    assert audit.events() == ["quality_lane_violation"]


@pytest.mark.proves("S3.4-PROMOTION")
async def test_a_promoted_llm_gate_is_a_policy_gate() -> None:
    outcome = await _runner(
        MemoryAudit(), llm=Scripted(lambda _g, _c: {"action": "block", "lane": "quality"})
    ).check_gates([_gate("q", "llm", promote_to_policy=True)], _ON, {"message": "m"})
    assert outcome.block is not None
    assert outcome.block.lane is GateLane.policy


@pytest.mark.proves("S3.4-LANE-FROM-PROVIDER", "S3.4-PROMOTION")
@pytest.mark.parametrize("promoted", [False, True])
@pytest.mark.parametrize("provider", list(GateProvider))
async def test_the_provider_decides_the_lane_and_promotion_moves_only_the_model_ones(
    provider: GateProvider, promoted: bool
) -> None:
    says = Scripted(lambda _g, _c: {"action": "block"})
    gate = _gate("g", provider.value, promote_to_policy=promoted)
    runner = GateRunner({provider: says}, MemoryAudit(), 32)
    outcome = await runner.check_gates([gate], _ON, {"message": "m"})
    advisory = provider is GateProvider.llm and not promoted
    assert gate.lane is (GateLane.quality if advisory else GateLane.policy)
    assert (len(outcome.quality), len(outcome.policy)) == ((1, 0) if advisory else (0, 1))
    assert (outcome.block is None) is advisory


@pytest.mark.proves("S5.4-TRIGGER", "S4.9-THREE-RESULTS")
@pytest.mark.parametrize("trigger", list(GateTrigger))
async def test_only_gates_of_the_trigger_at_hand_are_evaluated(trigger: GateTrigger) -> None:
    provider = Scripted(lambda _g, _c: {})
    gates = [
        _gate(f"{each.value}-{kind}", kind, on=each.value)
        for each in GateTrigger
        for kind in ("custom", "llm")
    ]
    outcome = await _runner(MemoryAudit(), custom=provider, llm=provider).check_gates(
        gates, trigger, {"message": "m"}
    )
    mine = [f"{trigger.value}-custom", f"{trigger.value}-llm"]
    assert [name for name, _ in provider.seen] == mine
    assert [r.gate_name for r in (*outcome.policy, *outcome.quality)] == mine


@pytest.mark.proves("S5.4-ALLOWLIST-BY-RUNNER")
@pytest.mark.parametrize("provider", list(GateProvider))
async def test_forbidden_changes_are_dropped_whoever_makes_them(provider: GateProvider) -> None:
    audit = MemoryAudit()
    says = Scripted(lambda _g, _c: {"modified_context": {"message": "a", "sender_id": "owner"}})
    gate = _gate("g", provider.value, promote_to_policy=True)
    outcome = await GateRunner({provider: says}, audit, 32).check_gates(
        [gate], _ON, {"message": "m", "sender_id": "customer"}
    )
    assert outcome.context == {"message": "a", "sender_id": "customer"}
    assert ("rejected_mutation", {"gate": "g", "key": "sender_id"}) in audit.entries


@pytest.mark.proves("S3.4-MUTATION-ALLOWLIST", "S3.4-REJECTION-AUDITED")
@pytest.mark.parametrize(
    ("offered", "kept", "rejected"),
    [
        ({"message": "a", "response": "b"}, {"message": "a", "response": "b"}, []),
        ({"sender_id": "owner"}, {}, ["sender_id"]),
        ({"message": "a", "taint": "owner", "step": 1}, {"message": "a"}, ["taint", "step"]),
        ({"message": {"not": "text"}}, {}, ["message"]),
        ({"tool_args": "rm"}, {}, ["tool_args"]),
        ({"Message": "a"}, {}, ["Message"]),
        ({}, {}, []),
    ],
)
async def test_only_allowed_keys_are_merged_and_the_others_are_named_in_the_audit(
    offered: dict[str, Any], kept: dict[str, Any], rejected: list[str]
) -> None:
    audit = MemoryAudit()
    runner = _runner(audit, custom=Scripted(lambda _g, _c: {"modified_context": offered}))
    before = {"message": "m", "sender_id": "customer"}
    outcome = await runner.check_gates([_gate("g")], _ON, before)
    assert outcome.context == before | kept
    logged = [data for event, data in audit.entries if event == "rejected_mutation"]
    assert logged == [{"gate": "g", "key": key} for key in rejected]
    single = await runner.check_gate(_gate("g"), before)
    assert (single.modified_context or {}) == kept


@pytest.mark.proves("S3.4-TOOL-ARGS-MERGED")
async def test_tool_arguments_are_merged_shallowly() -> None:
    runner = _runner(
        MemoryAudit(),
        custom=Scripted(lambda _g, _c: {"modified_context": {"tool_args": {"usd": 25.0}}}),
    )
    outcome = await runner.check_gates(
        [_gate("g")], _ON, {"tool_args": {"usd": 90, "to": {"name": "x"}}}
    )
    assert outcome.context == {"tool_args": {"usd": 25.0, "to": {"name": "x"}}}


@pytest.mark.proves("S3.4-MUTATION-AUDITED")
async def test_a_mutation_is_audited_without_the_text_it_removed() -> None:
    audit = MemoryAudit()
    gate = _gate(
        "redact",
        "predicate",
        on="every_agent_response",
        type="regex",
        config={"normalize": {"pattern": r"sk-\w+", "replace": "[KEY]"}},
    )
    runner = GateRunner({GateProvider.predicate: PredicateProvider([])}, audit, 32)
    outcome = await runner.check_gates(
        [gate], GateTrigger.every_agent_response, {"response": "use sk-verysecret"}
    )
    assert outcome.context["response"] == "use [KEY]"
    assert audit.entries == [
        (
            "gate_mutation",
            {
                "gate": "redact",
                "key": "response",
                "original": _fingerprint("use sk-verysecret"),
                "modified": _fingerprint("use [KEY]"),
            },
        )
    ]
    assert "verysecret" not in str(audit.entries)


def _fingerprint(text: str) -> str:
    return hashlib.sha256(repr(text).encode()).hexdigest()


async def test_a_provider_cannot_change_the_context_behind_the_runner() -> None:
    def says(_: Gate, context: dict[str, Any]) -> dict[str, Any]:
        context["tool_args"]["cmd"] = "rm"
        context["sender_id"] = "owner"
        return {}

    before = {"tool_args": {"cmd": "ls"}, "sender_id": "customer"}
    outcome = await _runner(MemoryAudit(), custom=Scripted(says)).check_gates(
        [_gate("g")], _ON, before
    )
    assert outcome.context == {"tool_args": {"cmd": "ls"}, "sender_id": "customer"}


@pytest.mark.proves("S5.4-ALL-GATES-RUN")
async def test_after_a_block_the_other_policy_gates_still_run_and_further_blocks_are_logged() -> (
    None
):
    audit = MemoryAudit()
    provider = Scripted(lambda g, _c: {"action": "continue" if g.name == "b" else "block"})
    outcome = await _runner(audit, custom=provider).check_gates(
        [_gate("a"), _gate("b"), _gate("c")], _ON, {"message": "m"}
    )
    assert [name for name, _ in provider.seen] == ["a", "b", "c"]
    assert [r.action for r in outcome.policy] == ["block", "continue", "block"]
    assert outcome.block is not None
    assert outcome.block.gate_name == "a"
    assert audit.entries == [("gate_additional_block", {"gate": "c", "on_block": "report"})]


@pytest.mark.proves("A14-MISSING-PROVIDER-BLOCKS")
@pytest.mark.parametrize("provider", ["guardrails_ai", "script", "custom", "predicate"])
async def test_a_policy_gate_without_its_provider_blocks(provider: str) -> None:
    audit = MemoryAudit()
    outcome = await _runner(audit).check_gates([_gate("g", provider)], _ON, {"message": "m"})
    assert [(r.action, r.reason) for r in outcome.policy] == [("block", f"No provider: {provider}")]
    assert audit.events() == ["gate_unavailable"]


@pytest.mark.proves("A14-MISSING-PROVIDER-BLOCKS")
async def test_a_promoted_gate_without_its_provider_blocks() -> None:
    result = await _runner(MemoryAudit()).check_gate(
        _gate("g", "llm", promote_to_policy=True), {"message": "m"}
    )
    assert (result.action, result.reason) == ("block", "No provider: llm")


@pytest.mark.proves("A14-MISSING-PROVIDER-BLOCKS")
async def test_a_quality_gate_without_its_provider_blocks_in_the_policy_lane() -> None:
    audit = MemoryAudit()
    outcome = await _runner(audit).check_gates([_gate("g", "llm")], _ON, {"message": "m"})
    assert outcome.quality == []
    assert [(r.action, r.lane, r.reason) for r in outcome.policy] == [
        ("block", "policy", "No provider: llm")
    ]
    assert audit.events() == ["gate_unavailable"]


@pytest.mark.proves("S18.1-GATE")
@pytest.mark.parametrize(
    ("provider", "action", "flags"),
    [("custom", "block", ()), ("llm", "continue", ("llm_error",))],
)
async def test_a_failing_provider_closes_policy_and_leaves_quality_open(
    provider: str, action: str, flags: tuple[str, ...]
) -> None:
    def says(_: Gate, __: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("secret in here")

    audit = MemoryAudit()
    runner = _runner(audit, custom=Scripted(says), llm=Scripted(says))
    result = await runner.check_gate(_gate("g", provider), {"message": "m"})
    assert (result.action, result.flags) == (action, flags)
    assert audit.entries[0][1]["code"] == "E_GATE_PROVIDER"
    assert "secret" not in str(audit.entries) + result.reason


@pytest.mark.proves("S5.4-TRIGGER")
@pytest.mark.parametrize(
    ("step", "ran"),
    [(1, ["one", "every"]), (2, ["every", "two"]), (None, ["every"]), ("1", ["every"])],
)
async def test_after_step_gates_fire_for_their_step(step: Any, ran: list[str]) -> None:
    provider = Scripted(lambda _g, _c: {})
    gates = [
        _gate("one", on="after_step", after_step=1),
        _gate("message", on="every_user_message"),
        _gate("every", on="after_step"),
        _gate("two", on="after_step", after_step=2),
    ]
    await _runner(MemoryAudit(), custom=provider).check_gates(
        gates, GateTrigger.after_step, {"step": step}
    )
    assert [name for name, _ in provider.seen] == ran


@pytest.mark.proves("S18.5-GATE-EVALUATIONS")
async def test_beyond_the_limit_of_evaluations_policy_blocks_and_quality_continues() -> None:
    provider = Scripted(lambda _g, _c: {})
    runner = _runner(MemoryAudit(), limit=2, custom=provider, llm=provider)
    gates = [_gate("a"), _gate("b"), _gate("c"), _gate("q", "llm")]
    outcome = await runner.check_gates(gates, _ON, {})
    assert [r.action for r in outcome.policy] == ["continue", "continue", "block"]
    assert [(r.action, r.flags) for r in outcome.quality] == [("continue", ("limit",))]
    assert len(provider.seen) == 2
    assert (await runner.check_gates(gates[:2], _ON, {})).block is None


@pytest.mark.proves("S18.5-GATE-EVALUATIONS")
async def test_one_turn_shares_one_count_and_the_next_starts_afresh() -> None:
    runner = _runner(MemoryAudit(), limit=2, custom=Scripted(lambda _g, _c: {}))
    turn = runner.for_turn()
    assert (await turn.check_gates([_gate("a")], _ON, {})).block is None
    assert (await turn.check_gate(_gate("b"), {})).action == "continue"
    assert (await turn.check_gate(_gate("c"), {})).action == "block"
    assert (await turn.for_turn().check_gate(_gate("c"), {})).action == "block"
    assert (await runner.for_turn().check_gate(_gate("c"), {})).action == "continue"


async def test_gates_that_ask_are_all_listed() -> None:
    provider = Scripted(
        lambda g, _c: {"action": "require_approval" if g.name != "b" else "continue"}
    )
    outcome = await _runner(MemoryAudit(), custom=provider).check_gates(
        [_gate("a"), _gate("b"), _gate("c")], _ON, {}
    )
    assert [r.gate_name for r in outcome.approvals] == ["a", "c"]
    assert outcome.block is None
