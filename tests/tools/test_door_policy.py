"""Table C at the door: what the pure rules decide is what happens to a call."""

from datetime import time
from typing import Any

import pytest
from pydantic import ValidationError

from silas.db import Database
from silas.testing import MockClock
from silas.testing.tools import FakeTool, a_context, unsafe_approve_all
from silas.tools import (
    ApprovalRequired,
    AutonomyLevel,
    CallFacts,
    HardBlocked,
    RiskLevel,
    RunApprovalMode,
    RunApprovalPolicy,
    Stance,
    ToolPolicyConfig,
)
from tests.tools.door import Door

# The mock clock stands at 03:04 UTC.
QUIET_NOW = ToolPolicyConfig(quiet_from=time(22), quiet_until=time(7))
QUIET_LATER = ToolPolicyConfig(quiet_from=time(22), quiet_until=time(3))
LOUD = ToolPolicyConfig()


@pytest.mark.proves("C-ADJUSTERS")
@pytest.mark.parametrize(
    ("config", "facts", "risk"),
    [
        (LOUD, CallFacts(), None),
        (LOUD, CallFacts(broadcast=True), "medium"),
        (LOUD, CallFacts(destructive=True), "medium"),
        (LOUD, CallFacts(blast_radius=LOUD.blast_limit), None),
        (LOUD, CallFacts(blast_radius=LOUD.blast_limit + 1), "medium"),
        (ToolPolicyConfig(blast_limit=2), CallFacts(blast_radius=3), "medium"),
        (LOUD, CallFacts(argv=("sh", "-c", "true")), "medium"),
        (QUIET_NOW, CallFacts(), "medium"),
        (QUIET_LATER, CallFacts(), None),
        (QUIET_NOW, CallFacts(broadcast=True), "high"),
        # What only the door can know is not taken from the tool.
        (QUIET_NOW, CallFacts(quiet_hours=False), "medium"),
        (LOUD, CallFacts(blast_radius=99, blast_limit=100), "medium"),
    ],
)
async def test_each_adjuster_turns_a_harmless_call_into_a_question(
    db: Database, clock: MockClock, config: ToolPolicyConfig, facts: CallFacts, risk: str | None
) -> None:
    door = Door(db, clock, config)
    tool = door.add(FakeTool(facts=facts))
    if risk is None:
        assert (await door.executor.call("fake", "run", {}, a_context())).ok
        return
    with pytest.raises(ApprovalRequired) as caught:
        await door.executor.call("fake", "run", {}, a_context())
    assert caught.value.risk == risk
    assert tool.calls == []


@pytest.mark.proves("C-QUIET-CONFIRM")
@pytest.mark.parametrize(
    ("config", "base", "asks"),
    [
        (QUIET_LATER, RiskLevel.high, False),
        # The quiet hours make it one step riskier as well.
        (QUIET_NOW, RiskLevel.low, True),
        (QUIET_NOW, RiskLevel.medium, True),
    ],
)
async def test_in_quiet_hours_even_the_highest_autonomy_asks(
    db: Database, clock: MockClock, config: ToolPolicyConfig, base: RiskLevel, asks: bool
) -> None:
    door = Door(db, clock, config)
    tool = door.add(FakeTool(), base)
    context = a_context(autonomy_level=AutonomyLevel.A4)
    if asks:
        with pytest.raises(ApprovalRequired):
            await door.executor.call("fake", "run", {}, context)
    else:
        await door.executor.call("fake", "run", {}, context)
    assert tool.calls == [] if asks else [{}]


@pytest.mark.proves("C-SECRETS-CONFIRM")
@pytest.mark.parametrize(("scope", "asks"), [("secrets.read", True), ("mail.read", False)])
async def test_a_tool_that_holds_secrets_asks_at_the_highest_autonomy(
    door: Door, scope: str, asks: bool
) -> None:
    tool = door.add(FakeTool(scopes=[scope]))
    context = a_context(
        autonomy_level=AutonomyLevel.A4,
        granted_scopes=frozenset({scope}),
        run_policy=RunApprovalPolicy(mode=RunApprovalMode.approve_all),
    )
    if asks:
        with pytest.raises(ApprovalRequired):
            await door.executor.call("fake", "run", {}, context)
        approved = context.model_copy(update={"authorise": unsafe_approve_all})
        assert (await door.executor.call("fake", "run", {}, approved)).ok
    else:
        await door.executor.call("fake", "run", {}, context)
    assert tool.calls == [{}]


@pytest.mark.proves("C-SECRETS-CONFIRM")
async def test_work_that_was_granted_a_secret_asks_before_every_tool(door: Door) -> None:
    tool = door.add(FakeTool())
    granted = a_context(autonomy_level=AutonomyLevel.A4, granted_scopes=frozenset({"secrets.use"}))
    with pytest.raises(ApprovalRequired):
        await door.executor.call("fake", "run", {}, granted)
    assert tool.calls == []


@pytest.mark.proves("C-RUN-POLICY-MODES")
@pytest.mark.parametrize(
    ("policy", "stopped_by"),
    [
        ({}, ApprovalRequired),
        ({"mode": "prompt"}, ApprovalRequired),
        ({"mode": "approve_all"}, None),
        ({"mode": "reject_all"}, HardBlocked),
    ],
)
async def test_the_run_policy_answers_a_toolsets_question_and_prompts_by_default(
    door: Door, policy: dict[str, Any], stopped_by: type[Exception] | None
) -> None:
    tool = door.add(FakeTool(stance=Stance.ask))
    context = a_context()
    if policy:
        chosen = RunApprovalPolicy.model_validate(policy)
        context = context.model_copy(update={"run_policy": chosen})
    call = door.executor.call("fake", "run", {}, context)
    if stopped_by is None:
        assert (await call).ok
        return
    with pytest.raises(stopped_by):
        await call
    assert tool.calls == []


@pytest.mark.proves("C-RUN-POLICY-MODES")
def test_there_is_no_fourth_run_policy() -> None:
    assert RunApprovalPolicy().mode is RunApprovalMode.prompt
    assert {mode.value for mode in RunApprovalMode} == {"prompt", "approve_all", "reject_all"}
    with pytest.raises(ValidationError):
        RunApprovalPolicy.model_validate({"mode": "ask_later"})


@pytest.mark.proves("A23-DURABLE-SPEND")
@pytest.mark.usefixtures("the_disk")
@pytest.mark.parametrize(("idempotent", "synchronous"), [(False, 2), (True, 1)])
async def test_the_attempt_of_what_cannot_be_undone_is_written_for_power_loss(
    door: Door, idempotent: bool, synchronous: int
) -> None:
    seen: list[int] = []
    log_now = door.audit.log_now

    def look(event: str, **data: Any) -> str:
        if event == "tool_call.attempted":
            with door.db.write() as tx:
                seen.append(tx.driver.execute("PRAGMA synchronous").fetchone()[0])
        return log_now(event, **data)

    door.audit.log_now = look
    door.add(FakeTool(idempotent=idempotent))
    await door.executor.call("fake", "run", {}, a_context())
    assert seen == [synchronous]  # 2 is FULL: on the disk before the tool is called
