"""One test per step of the tool door: the step stops what it should, and nothing ran."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from silas.approval import Verdict
from silas.db import Database
from silas.errors import ApprovalError, DatabaseError, GateError, SandboxError, SilasError
from silas.gates import Gate, GateLane, GateProvider, GateResult, GateRunner, GateTrigger
from silas.sandbox import SandboxUnavailable
from silas.testing import MockClock
from silas.testing.tools import (
    FakeTool,
    MemoryOutcomeStore,
    a_context,
    never_stopped,
    unsafe_approve_all,
)
from silas.tools import (
    ApprovalRequired,
    AutonomyLevel,
    CallFacts,
    DuplicateKey,
    HardBlocked,
    HealthOutcome,
    InvalidArguments,
    OutcomeStatus,
    OutcomeUnknown,
    PreviewRequired,
    RateLimited,
    RiskLevel,
    RunApprovalMode,
    RunApprovalPolicy,
    ScopeViolation,
    SqlOutcomeStore,
    Stance,
    ToolConfig,
    ToolExecutor,
    ToolHealth,
    ToolPolicyConfig,
    ToolRegistry,
    ToolResult,
    ToolUnavailable,
    ValidatedCall,
    WorkerApprovalPolicy,
    next_health,
    validated_call,
)
from silas.types import TaintLevel
from tests.support.waits import SECONDS
from tests.tools.door import Door, answering, blocking, failing, rewriting


# 1 -----------------------------------------------------------------------------------------------
async def test_step_1_an_unregistered_tool_is_refused(door: Door) -> None:
    with pytest.raises(ToolUnavailable):
        await door.executor.call("ghost", "run", {}, a_context())
    assert door.audit.events() == ["tool_call.failed"]


@pytest.mark.proves("C-UNAVAILABLE")
async def test_step_1_an_unavailable_tool_fails_fast_until_it_may_be_retried(door: Door) -> None:
    tool = door.add(FakeTool())
    resets = door.clock.now() + timedelta(seconds=30)
    limited = next_health(ToolHealth(), HealthOutcome("limit", resets), door.clock.now())
    door.registry.update_health("fake", limited)
    with pytest.raises(ToolUnavailable):
        await door.executor.call("fake", "run", {}, a_context())
    assert tool.calls == []
    assert door.audit.events() == ["tool_call.failed"]
    door.clock.advance(30)
    assert (await door.executor.call("fake", "run", {}, a_context())).ok


# 2 -----------------------------------------------------------------------------------------------
@pytest.mark.proves("S5.2.1-ARGUMENTS-FIRST")
@pytest.mark.parametrize(
    ("action", "request_"),
    [
        ("run", {"text": 1}),
        ("run", ["not", "an", "object"]),
        ("run", {"text": float("nan")}),
        ("run", {"text": object()}),
        ("fly", {}),
        ("", {}),
    ],
)
async def test_step_2_arguments_that_do_not_fit_the_schema_stop_the_call(
    door: Door, action: str, request_: Any
) -> None:
    tool = door.add(FakeTool())
    with pytest.raises(InvalidArguments):
        await door.executor.call("fake", action, request_, a_context())
    assert tool.calls == []
    assert door.audit.events() == ["tool_call.failed"]
    assert door.outcomes.statuses() == []


# 3 -----------------------------------------------------------------------------------------------
@pytest.mark.proves("TR-SCOPES")
async def test_step_3_a_scope_that_was_not_granted_stops_the_call(door: Door) -> None:
    tool = door.add(FakeTool(scopes=["mail.read", "mail.send"]))
    context = a_context(granted_scopes=frozenset({"mail.read"}), authorise=unsafe_approve_all)
    with pytest.raises(ScopeViolation, match=r"mail\.send"):
        await door.executor.call("fake", "run", {}, context)
    assert tool.calls == []
    assert door.audit.events() == ["scope.violation"]


# 4 -----------------------------------------------------------------------------------------------
@pytest.mark.proves("A3-SHELL-ONE-STEP-HIGHER")
async def test_step_4_an_adjuster_turns_an_allowed_call_into_a_question(door: Door) -> None:
    tool = door.add(FakeTool(facts=CallFacts(argv=("sh", "-c", "true"))))
    with pytest.raises(ApprovalRequired) as caught:
        await door.executor.call("fake", "run", {}, a_context())
    assert caught.value.risk is RiskLevel.medium
    assert tool.calls == []


async def test_step_4_a_tool_that_cannot_say_what_it_touches_is_rated_as_the_worst(
    door: Door,
) -> None:
    class Mute(FakeTool):
        def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
            raise RuntimeError("no idea")

    tool = door.add(Mute())
    with pytest.raises(ApprovalRequired) as caught:
        await door.executor.call("fake", "run", {}, a_context())
    assert caught.value.risk is RiskLevel.high
    assert tool.calls == []


# 5 -----------------------------------------------------------------------------------------------
@pytest.mark.proves("S5.2.1-TOOL-GATES", "S15-NEVER-BYPASS-GATES")
async def test_step_5_a_policy_gate_blocks_and_its_reason_reaches_the_agent(door: Door) -> None:
    tool = door.add(FakeTool())
    door.gates.answer = answering([blocking("limit", "too much")])
    with pytest.raises(HardBlocked, match="too much"):
        await door.executor.call("fake", "run", {}, a_context(authorise=unsafe_approve_all))
    assert tool.calls == []
    assert door.audit.events() == ["gate.denied"]


async def test_step_5_gates_that_fail_block(door: Door) -> None:
    tool = door.add(FakeTool())

    def broken(context: dict[str, Any]) -> Any:
        raise GateError("provider is down")

    door.gates.answer = broken
    with pytest.raises(HardBlocked):
        await door.executor.call("fake", "run", {}, a_context(authorise=unsafe_approve_all))
    assert tool.calls == []
    assert door.audit.events() == ["gate.denied"]


@pytest.mark.proves("S5.2.1-REWRITTEN-ARGUMENTS")
async def test_step_5_rewritten_arguments_are_what_runs(door: Door) -> None:
    tool = door.add(FakeTool())
    door.gates.answer = rewriting({"text": "redacted"})
    result = await door.executor.call("fake", "run", {"text": "secret"}, a_context())
    assert tool.calls == [{"text": "redacted"}]
    assert result.ran == validated_call("fake", "run", {"text": "redacted"})


@pytest.mark.parametrize("broken", [{"text": 7}, "text", None])
async def test_step_5_rewritten_arguments_must_fit_the_schema_again(
    door: Door, broken: Any
) -> None:
    tool = door.add(FakeTool())
    door.gates.answer = rewriting(broken)
    with pytest.raises(InvalidArguments):
        await door.executor.call("fake", "run", {"text": "x"}, a_context())
    assert tool.calls == []


async def test_step_5_rewritten_arguments_are_rated_again(door: Door) -> None:
    class Shell(FakeTool):
        def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
            return CallFacts(argv=tuple(request["line"].split()))

    tool = door.add(Shell())
    door.gates.answer = rewriting({"line": "sh -c true"})
    with pytest.raises(ApprovalRequired):
        await door.executor.call("fake", "run", {"line": "true"}, a_context())
    assert tool.calls == []


async def test_step_5_a_gate_may_ask_where_the_matrix_allows(door: Door) -> None:
    tool = door.add(FakeTool())
    asks = GateResult(
        gate_name="ask", lane=GateLane.policy, action="require_approval", reason="big"
    )
    door.gates.answer = answering([asks])
    with pytest.raises(ApprovalRequired):
        await door.executor.call("fake", "run", {}, a_context())
    assert tool.calls == []
    assert door.audit.entries[-1][1]["source"] == "gate"


@pytest.mark.proves("S5.2.1-QUALITY-LOGGED")
async def test_step_5_quality_results_are_recorded_and_change_nothing(door: Door) -> None:
    tool = door.add(FakeTool())
    advice = GateResult(
        gate_name="tone", lane=GateLane.quality, action="continue", reason="meh", score=0.2
    )
    door.gates.answer = answering(quality=[advice])
    assert (await door.executor.call("fake", "run", {}, a_context())).ok
    assert tool.calls == [{}]
    event, data = door.audit.entries[0]
    assert (event, data["gate"], data["score"]) == ("quality_gate_tool_call", "tone", 0.2)


async def test_step_5_the_real_gate_runner_blocks_where_a_provider_is_missing(
    db: Database, clock: MockClock
) -> None:
    door = Door(db, clock)
    executor = ToolExecutor(
        door.registry,
        GateRunner({}, door.audit, 100),
        audit=door.audit,
        outcomes=door.outcomes,
        clock=clock,
        db=db,
        config=door.config,
        require_running=never_stopped,
        scrub=str,
    )
    tool = door.add(FakeTool())
    gate = Gate(name="g", on=GateTrigger.on_tool_call, provider=GateProvider.guardrails_ai)
    with pytest.raises(HardBlocked, match="No provider"):
        await executor.call("fake", "run", {}, a_context(gates=(gate,)))
    assert tool.calls == []


# 6 -----------------------------------------------------------------------------------------------
async def test_step_6_a_hard_block_stops_even_an_approved_call(door: Door) -> None:
    tool = door.add(FakeTool(), RiskLevel.critical)
    with pytest.raises(HardBlocked):
        await door.executor.call("fake", "run", {}, a_context(authorise=unsafe_approve_all))
    assert tool.calls == []
    assert door.audit.events() == ["gate.hard_blocked"]


@pytest.mark.proves("TR-PREVIEW", "TR-NO-PREVIEW", "B12-A0-IS-A-CEILING")
@pytest.mark.parametrize("shows", ["would send a mail", ""])
async def test_step_6_at_a0_a_call_is_shown_and_never_run(door: Door, shows: str) -> None:
    tool = door.add(FakeTool(shows=shows, requires_authority=True))
    context = a_context(autonomy_level=AutonomyLevel.A0, authorise=unsafe_approve_all)
    with pytest.raises(PreviewRequired) as caught:
        await door.executor.call("fake", "run", {}, context)
    assert (caught.value.preview.summary if caught.value.preview else "") == shows
    assert tool.calls == []
    assert door.audit.events() == ["gate.preview"]


@pytest.mark.proves("WP-BLOCKED-WINS")
@pytest.mark.parametrize(
    ("tool", "changes", "source"),
    [
        (FakeTool(stance=Stance.blocked), {}, "toolset"),
        (
            FakeTool(),
            {"worker_policy": WorkerApprovalPolicy(tools={"fake": Stance.blocked})},
            "worker policy",
        ),
        (
            FakeTool(stance=Stance.ask),
            {"run_policy": RunApprovalPolicy(mode=RunApprovalMode.reject_all)},
            "run policy",
        ),
    ],
)
async def test_step_6_a_policy_that_says_no_stops_an_approved_call(
    door: Door, tool: FakeTool, changes: dict[str, Any], source: str
) -> None:
    door.add(tool, pre_approved=True)
    with pytest.raises(HardBlocked, match=source):
        await door.executor.call(
            "fake", "run", {}, a_context(authorise=unsafe_approve_all, **changes)
        )
    assert tool.calls == []
    assert door.audit.entries[0][0] == "gate.denied"
    assert door.audit.entries[0][1]["source"] == source


@pytest.mark.proves("C-ANTIFLAP")
async def test_step_6_the_same_target_again_within_the_cooldown_is_blocked(door: Door) -> None:
    tool = door.add(FakeTool())
    await door.executor.call("fake", "run", {"target": "lamp"}, a_context("1"))
    with pytest.raises(HardBlocked):
        await door.executor.call("fake", "run", {"target": "lamp"}, a_context("2"))
    assert door.audit.events()[-1] == "gate.antiflap_block"
    assert len(tool.calls) == 1
    await door.executor.call("fake", "run", {"target": "door"}, a_context("3"))
    await door.executor.call("fake", "other", {"target": "lamp"}, a_context("4"))
    door.clock.advance(60)
    await door.executor.call("fake", "run", {"target": "lamp"}, a_context("5"))
    assert len(tool.calls) == 4


@pytest.mark.proves("C-STORM")
async def test_step_6_more_notifications_than_the_hourly_limit_are_blocked(
    db: Database, clock: MockClock
) -> None:
    door = Door(db, clock, ToolPolicyConfig(outbound_per_hour=2))
    tool = door.add(FakeTool(facts=CallFacts(outbound=True)))
    for step in ("1", "2"):
        await door.executor.call("fake", "run", {}, a_context(step))
    with pytest.raises(HardBlocked):
        await door.executor.call("fake", "run", {}, a_context("3"))
    assert door.audit.events()[-1] == "gate.storm_block"
    assert len(tool.calls) == 2
    clock.advance(3600)
    assert (await door.executor.call("fake", "run", {}, a_context("4"))).ok


# 7 -----------------------------------------------------------------------------------------------
@pytest.mark.proves("TR-CONFIRM", "C-ONE-CALL-TOKEN")
async def test_step_7_confirm_without_an_approval_asks_for_exactly_this_call(door: Door) -> None:
    tool = door.add(FakeTool(), RiskLevel.high)
    with pytest.raises(ApprovalRequired) as caught:
        await door.executor.call("fake", "run", {"text": "x"}, a_context())
    assert caught.value.call == validated_call("fake", "run", {"text": "x"})
    assert tool.calls == []
    assert door.audit.events() == ["gate.required"]


@pytest.mark.proves("S15-NEVER-UNAPPROVED", "C-EVENTS")
async def test_step_7_a_tool_that_requires_authority_asks_even_where_the_matrix_allows(
    door: Door,
) -> None:
    tool = door.add(FakeTool(requires_authority=True))
    context = a_context(autonomy_level=AutonomyLevel.A4)
    with pytest.raises(ApprovalRequired):
        await door.executor.call("fake", "run", {}, context)
    assert tool.calls == []
    allowed = context.model_copy(update={"authorise": unsafe_approve_all})
    assert (await door.executor.call("fake", "run", {}, allowed)).ok
    assert door.audit.events()[1:] == [
        "gate.approved",
        "tool_call.attempted",
        "tool_call.succeeded",
    ]


@pytest.mark.proves("C-POWER-ORDER", "S15-NEVER-UNAPPROVED")
async def test_step_7_approve_all_cannot_stand_in_for_an_approval(door: Door) -> None:
    tool = door.add(FakeTool(requires_authority=True), RiskLevel.medium, pre_approved=True)
    mode = RunApprovalPolicy(mode=RunApprovalMode.approve_all)
    with pytest.raises(ApprovalRequired):
        await door.executor.call("fake", "run", {}, a_context(run_policy=mode))
    assert tool.calls == []


async def test_step_7_an_approval_error_is_no_approval(door: Door) -> None:
    tool = door.add(FakeTool(requires_authority=True))

    async def expired(call: ValidatedCall) -> Verdict:
        raise ApprovalError("the token expired", code="E_APPROVAL_EXPIRED")

    with pytest.raises(ApprovalRequired, match="expired"):
        await door.executor.call("fake", "run", {}, a_context(authorise=expired))
    assert tool.calls == []


@pytest.mark.proves("C-ONE-CALL-TOKEN")
async def test_step_7_a_gate_that_rewrites_after_the_approval_makes_it_worthless(
    door: Door,
) -> None:
    tool = door.add(FakeTool(requires_authority=True))
    approved = validated_call("fake", "run", {"to": "friend"}).digest

    async def only_that(call: ValidatedCall) -> Verdict:
        return Verdict(call.digest == approved, "compared digests")

    context = a_context(authorise=only_that)
    door.gates.answer = rewriting({"to": "stranger"})
    with pytest.raises(ApprovalRequired) as caught:
        await door.executor.call("fake", "run", {"to": "friend"}, context)
    assert caught.value.call.args == {"to": "stranger"}
    assert tool.calls == []
    door.gates.answer = rewriting({"to": "friend"})
    assert (await door.executor.call("fake", "run", {"to": "friend"}, context)).ok


async def test_step_7_what_was_approved_runs_even_if_the_callers_objects_change(
    door: Door,
) -> None:
    tool = door.add(FakeTool(requires_authority=True))
    request = {"to": "friend"}

    async def treacherous(call: ValidatedCall) -> Verdict:
        request["to"] = call.args["to"] = "stranger"
        return Verdict(True, "looked fine")

    await door.executor.call("fake", "run", request, a_context(authorise=treacherous))
    assert tool.calls == [{"to": "friend"}]


def test_the_digest_binds_tool_action_and_canonical_arguments() -> None:
    # printf '%s' '{"action":"run","args":{"argv":["ls","-l"]},"tool":"shell_exec"}' | sha256sum
    frozen = "b4e40a22795f9f68a6348ae29dbf809a169b998a4eaa741b9f2b4c72db08c4df"
    assert validated_call("shell_exec", "run", {"argv": ["ls", "-l"]}).digest == frozen
    assert validated_call("shell_exec", "other", {"argv": ["ls", "-l"]}).digest != frozen
    assert validated_call("python_exec", "run", {"argv": ["ls", "-l"]}).digest != frozen


# 8 -----------------------------------------------------------------------------------------------
@pytest.mark.proves("C-REPEAT-DEDUPED", "TR-FAILED", "C-EVENTS")
async def test_step_8_a_repeat_returns_the_recorded_outcome_and_runs_nothing(door: Door) -> None:
    tool = door.add(FakeTool())
    first = await door.executor.call("fake", "run", {"text": "x"}, a_context())
    again = await door.executor.call("fake", "run", {"text": "x"}, a_context())
    assert len(tool.calls) == 1
    assert (first.deduped, again.deduped) == (False, True)
    assert again.model_copy(update={"deduped": False}) == first
    assert door.audit.events()[-1] == "tool_call.deduped"


@pytest.mark.proves("C-KEY-COVERS")
async def test_step_8_another_step_or_other_arguments_are_another_call(door: Door) -> None:
    tool = door.add(FakeTool())
    await door.executor.call("fake", "run", {"text": "x"}, a_context("1"))
    await door.executor.call("fake", "run", {"text": "y"}, a_context("1"))
    await door.executor.call("fake", "run", {"text": "x"}, a_context("2"))
    await door.executor.call("fake", "other", {"text": "x"}, a_context("1"))
    assert len(tool.calls) == 4


@pytest.mark.proves("C-KEY-REUSE-IS-ERROR")
async def test_step_8_a_key_reused_for_other_arguments_is_an_error(door: Door) -> None:
    tool = door.add(FakeTool())
    context = a_context(idempotency_key="mine")
    await door.executor.call("fake", "run", {"text": "x"}, context)
    with pytest.raises(DuplicateKey):
        await door.executor.call("fake", "run", {"text": "y"}, context)
    assert len(tool.calls) == 1
    assert door.audit.events()[-1] == "tool_call.failed"


@pytest.mark.proves("C-UNKNOWN-IS-NOT-SUCCESS", "B4-NEVER-REPEATED")
async def test_step_8_an_unknown_outcome_is_not_repeated_unless_harmless(door: Door) -> None:
    careful = door.add(FakeTool("careful", failing(SandboxError("gone"))))
    harmless = door.add(FakeTool("harmless", failing(SandboxError("gone")), idempotent=True))
    for name in ("careful", "harmless"):
        with pytest.raises(SandboxError):
            await door.executor.call(name, "run", {}, a_context())
    with pytest.raises(OutcomeUnknown):
        await door.executor.call("careful", "run", {}, a_context())
    assert door.audit.events()[-1] == "tool_call.unknown"
    with pytest.raises(SandboxError):
        await door.executor.call("harmless", "run", {}, a_context())
    assert (len(careful.calls), len(harmless.calls)) == (1, 2)


@pytest.mark.proves("B4-UNKNOWN-AFTER-CRASH")
async def test_step_8_an_open_attempt_of_a_dead_process_is_unknown(door: Door) -> None:
    tool = door.add(FakeTool())
    call = validated_call("fake", "run", {})
    context = a_context(idempotency_key="k")
    door.outcomes.begin("k", call, context, CallFacts(), idempotent=False)
    with pytest.raises(OutcomeUnknown):
        await door.executor.call("fake", "run", {}, context)
    assert tool.calls == []


async def test_step_8_concurrent_duplicates_run_once_and_share_the_outcome(door: Door) -> None:
    release, started = asyncio.Event(), asyncio.Event()

    async def slow(request: dict[str, Any]) -> ToolResult:
        started.set()
        await release.wait()
        return ToolResult(ok=True, return_value="once")

    tool = door.add(FakeTool(work=slow))
    tasks = [
        asyncio.create_task(door.executor.call("fake", "run", {}, a_context())) for _ in range(5)
    ]
    async with asyncio.timeout(SECONDS):
        await started.wait()
        release.set()
        results = await asyncio.gather(*tasks)
    assert len(tool.calls) == 1
    assert {result.return_value for result in results} == {"once"}
    assert sorted(result.deduped for result in results) == [False, True, True, True, True]


async def test_step_8_duplicates_of_a_cancelled_call_do_not_run_it_again(door: Door) -> None:
    started = asyncio.Event()

    async def endless(request: dict[str, Any]) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    tool = door.add(FakeTool(work=endless))
    first = asyncio.create_task(door.executor.call("fake", "run", {}, a_context()))
    async with asyncio.timeout(SECONDS):
        await started.wait()
        second = asyncio.create_task(door.executor.call("fake", "run", {}, a_context()))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(OutcomeUnknown):
            await second
    assert len(tool.calls) == 1


# 9 -----------------------------------------------------------------------------------------------
@pytest.mark.proves("B4-ATTEMPTED-FIRST")
async def test_step_9_the_attempt_is_on_record_before_the_tool_is_called(door: Door) -> None:
    seen: list[Any] = []

    async def look(request: dict[str, Any]) -> ToolResult:
        seen.append((door.outcomes.statuses(), door.audit.events()[-1]))
        return ToolResult(ok=True)

    door.add(FakeTool(work=look))
    await door.executor.call("fake", "run", {}, a_context())
    assert seen == [([OutcomeStatus.attempted], "tool_call.attempted")]


@pytest.mark.proves("B5-NO-ENTRY-NO-EFFECT")
async def test_step_9_a_call_whose_audit_entry_cannot_be_written_does_not_happen(
    door: Door,
) -> None:
    tool = door.add(FakeTool())
    written = door.audit.log_now

    def full(event: str, **data: Any) -> str:
        if event == "tool_call.attempted":  # the last one before the effect
            raise DatabaseError("the disk is full")
        return written(event, **data)

    door.audit.log_now = full
    with pytest.raises(DatabaseError):
        await door.executor.call("fake", "run", {}, a_context(authorise=unsafe_approve_all))
    assert tool.calls == []


async def test_step_9_a_call_whose_attempt_cannot_be_recorded_does_not_happen(
    door: Door,
) -> None:
    class Full(MemoryOutcomeStore):
        def begin(self, *args: Any, **kwargs: Any) -> ToolResult | None:
            raise DatabaseError("the disk is full")

    tool = FakeTool()
    registry = ToolRegistry(door.clock)
    registry.register(tool, ToolConfig(connector_id="t", risk_default=RiskLevel.low))
    executor = ToolExecutor(
        registry,
        door.gates,
        audit=door.audit,
        outcomes=Full(door.clock),
        clock=door.clock,
        db=door.db,
        config=door.config,
        require_running=never_stopped,
        scrub=str,
    )
    with pytest.raises(DatabaseError):
        await executor.call("fake", "run", {}, a_context())
    assert tool.calls == []
    assert "tool_call.attempted" not in door.audit.events()


@pytest.mark.proves("B5-NO-ENTRY-NO-EFFECT")
async def test_step_9_attempt_and_audit_entry_are_written_together_or_not_at_all(
    door: Door,
) -> None:
    journal = SqlOutcomeStore(door.db, door.clock)
    executor = ToolExecutor(
        door.registry,
        door.gates,
        audit=door.audit,
        outcomes=journal,
        clock=door.clock,
        db=door.db,
        config=door.config,
        require_running=never_stopped,
        scrub=str,
    )
    tool = door.add(FakeTool())
    log_now = door.audit.log_now

    def full(event: str, **data: Any) -> str:
        if event == "tool_call.attempted":
            raise DatabaseError("the disk is full")
        return log_now(event, **data)

    door.audit.log_now = full
    with pytest.raises(DatabaseError):
        await executor.call("fake", "run", {}, a_context())
    assert tool.calls == []
    assert journal.mark_unfinished_unknown() == []
    door.audit.log_now = log_now
    assert (await executor.call("fake", "run", {}, a_context())).ok


# 10 ----------------------------------------------------------------------------------------------
@pytest.mark.proves(
    "C-UNKNOWN-IS-NOT-SUCCESS", "C-HEALTH-MOVES", "TR-FAILED", "TR-UNKNOWN", "B4-ATTEMPTED-FIRST"
)
@pytest.mark.parametrize(
    ("error", "raised", "status", "event"),
    [
        (SandboxError("lost"), SandboxError, "unknown", "tool_call.unknown"),
        (RuntimeError("bug"), OutcomeUnknown, "unknown", "tool_call.unknown"),
        (ConnectionResetError(), OutcomeUnknown, "unknown", "tool_call.unknown"),
        (SandboxUnavailable("no bwrap"), SandboxUnavailable, "failed", "tool_call.failed"),
    ],
)
async def test_step_10_a_broken_call_is_recorded_as_what_is_known(
    door: Door, error: Exception, raised: type[Exception], status: str, event: str
) -> None:
    door.add(FakeTool(work=failing(error)))
    with pytest.raises(raised):
        await door.executor.call("fake", "run", {}, a_context())
    assert door.outcomes.statuses() == [status]
    assert door.audit.events()[-1] == event
    known = door.registry.get("fake")
    assert known is not None
    assert known.health.consecutive_errors == 1


async def test_step_10_cancellation_is_recorded_as_unknown_and_goes_on(door: Door) -> None:
    started = asyncio.Event()

    async def endless(request: dict[str, Any]) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    door.add(FakeTool(work=endless))
    task = asyncio.create_task(door.executor.call("fake", "run", {}, a_context()))
    async with asyncio.timeout(SECONDS):
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert door.outcomes.statuses() == [OutcomeStatus.unknown]
    assert door.audit.events()[-1] == "tool_call.unknown"
    known = door.registry.get("fake")
    assert known is not None
    assert known.health.consecutive_errors == 0


async def test_step_10_an_outcome_that_cannot_be_written_is_never_success(door: Door) -> None:
    async def work(request: dict[str, Any]) -> ToolResult:
        door.audit.log_now = full
        return ToolResult(ok=True)

    def full(event: str, **data: Any) -> str:
        raise DatabaseError("the disk is full")

    door.add(FakeTool(work=work))
    with pytest.raises(DatabaseError):
        await door.executor.call("fake", "run", {}, a_context())


@pytest.mark.proves("C-HEALTH-MOVES")
async def test_step_10_a_rate_limit_takes_the_tool_away_until_it_resets(door: Door) -> None:
    resets = door.clock.now() + timedelta(seconds=90)
    tool = door.add(FakeTool(work=failing(RateLimited("slow down", resets))))
    with pytest.raises(RateLimited):
        await door.executor.call("fake", "run", {}, a_context("1"))
    with pytest.raises(ToolUnavailable):
        await door.executor.call("fake", "run", {}, a_context("2"))
    assert len(tool.calls) == 1
    assert door.registry.list_healthy() == []
    door.clock.advance(90)
    assert [known.tool_name for known in door.registry.list_healthy()] == ["fake"]


@pytest.mark.proves("S5.12-TOOLS-EXTERNAL")
async def test_step_10_everything_a_model_may_see_is_scrubbed_and_stays_external(
    door: Door,
) -> None:
    async def dirty(request: dict[str, Any]) -> ToolResult:
        return ToolResult(
            ok=False,
            return_value="\x1b[31mred s3\u200bcr3t k<b id=1>y",
            error="\x07bad s3cr3t",
            content=({"\x07key": ["\x07deep s3cr3t", 1, None]},),
            metadata={"raw": "\x1b"},
        )

    door.add(FakeTool(work=dirty))
    result = await door.executor.call("fake", "run", {}, a_context())
    assert (result.return_value, result.error) == ("red [secret] [key]", "bad [secret]")
    assert result.content == ({"key": ["deep [secret]", 1, None]},)
    assert result.metadata == {"raw": "\x1b"}
    assert result.taint is TaintLevel.external
    assert not result.ok
    assert door.audit.events()[-1] == "tool_call.failed"


async def test_step_10_a_program_that_failed_says_nothing_against_the_tool(door: Door) -> None:
    async def exit_one(request: dict[str, Any]) -> ToolResult:
        return ToolResult(ok=False, error="exit code 1")

    door.add(FakeTool(work=exit_one))
    for step in range(9):
        await door.executor.call("fake", "run", {}, a_context(str(step)))
    known = door.registry.get("fake")
    assert known is not None
    assert known.health.consecutive_errors == 0


# all ---------------------------------------------------------------------------------------------
STOPS: list[tuple[str, FakeTool, dict[str, Any], Any, dict[str, Any]]] = [
    ("1", FakeTool("elsewhere"), {}, None, {}),
    ("2", FakeTool(), {}, None, {"text": 1}),
    ("3", FakeTool(scopes=["x"]), {}, None, {}),
    ("5", FakeTool(), {}, blocking(), {}),
    ("6", FakeTool(stance=Stance.blocked), {}, None, {}),
    ("6 preview", FakeTool(), {"autonomy_level": AutonomyLevel.A0}, None, {}),
    ("7", FakeTool(requires_authority=True), {}, None, {}),
]


@pytest.mark.proves("TR-AUDIT-BEFORE-RAISE")
@pytest.mark.parametrize(
    ("tool", "changes", "gate", "request_"),
    [stop[1:] for stop in STOPS],
    ids=[stop[0] for stop in STOPS],
)
async def test_a_stop_whose_audit_event_cannot_be_written_raises_that_instead(
    door: Door, tool: FakeTool, changes: dict[str, Any], gate: Any, request_: dict[str, Any]
) -> None:
    """The event is written before the error is raised: with no event, there is no such error."""

    async def full(event: str, **data: Any) -> str:
        raise DatabaseError("the disk is full")

    door.add(tool)
    door.audit.log = full
    if gate is not None:
        door.gates.answer = answering([gate])
    with pytest.raises(DatabaseError):
        await door.executor.call("fake", "run", request_, a_context(**changes))
    assert tool.calls == []


@pytest.mark.parametrize(
    ("tool", "changes", "gate", "request_"),
    [stop[1:] for stop in STOPS],
    ids=[stop[0] for stop in STOPS],
)
async def test_a_stop_leaves_exactly_one_event_and_carries_the_ids_of_the_call(
    door: Door, tool: FakeTool, changes: dict[str, Any], gate: Any, request_: dict[str, Any]
) -> None:
    door.add(tool)
    if gate is not None:
        door.gates.answer = answering([gate])
    with pytest.raises(SilasError) as caught:
        await door.executor.call("fake", "run", request_, a_context(**changes))
    assert len(door.audit.entries) == 1
    assert door.audit.entries[0][1]["code"] == caught.value.code
    assert door.audit.entries[0][1]["task"] == "task-1"
    assert door.outcomes.statuses() == []


@pytest.mark.proves("C-DIGEST-NOT-PAYLOAD")
async def test_no_event_carries_a_payload(door: Door) -> None:
    secret = "correct horse battery staple"

    async def leak(request: dict[str, Any]) -> ToolResult:
        return ToolResult(ok=True, return_value=request["text"], artifacts={"a": secret})

    door.add(FakeTool(work=leak))
    door.add(FakeTool("broken", failing(RuntimeError(secret))))
    door.add(FakeTool("asking", requires_authority=True))
    await door.executor.call("fake", "run", {"text": secret}, a_context())
    await door.executor.call("fake", "run", {"text": secret}, a_context())
    for name in ("broken", "asking", "ghost"):
        with pytest.raises(SilasError):
            await door.executor.call(name, "run", {"text": secret}, a_context())
    door.gates.answer = answering([blocking(reason=secret)])
    with pytest.raises(HardBlocked):
        await door.executor.call("fake", "run", {"text": secret}, a_context("2"))
    assert len(door.audit.entries) == 11
    assert secret not in repr(door.audit.entries)
    digests = {data["digest"] for _, data in door.audit.entries}
    assert all(len(digest) == 64 for digest in digests)


@pytest.mark.proves("C-EVENTS", "TR-FAILED")
async def test_an_allowed_call_leaves_its_whole_story(door: Door) -> None:
    door.add(FakeTool())
    await door.executor.call("fake", "run", {}, a_context())
    assert door.audit.events() == ["gate.allowed", "tool_call.attempted", "tool_call.succeeded"]


async def test_policies_do_not_leak_from_one_call_into_the_next(door: Door) -> None:
    tool = door.add(FakeTool(stance=Stance.ask))
    generous = RunApprovalPolicy(mode=RunApprovalMode.approve_all)
    assert (await door.executor.call("fake", "run", {}, a_context("1", run_policy=generous))).ok
    with pytest.raises(ApprovalRequired):
        await door.executor.call("fake", "run", {}, a_context("2"))
    assert len(tool.calls) == 1
