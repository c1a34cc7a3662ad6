"""What a token authorises, and every way in which it does not (spec 5.11)."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silas.approval import (
    ApprovalConfig,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    NonceStore,
    Subject,
    Verdict,
)
from silas.approval.engine import ApprovalEngine
from silas.approval.models import SIGNED_FIELDS
from silas.approval.revocation import revoke
from silas.approval.rules import CLOCK_SKEW
from silas.audit import AuditLog
from silas.errors import ApprovalError
from silas.keys import Ed25519Signer, KeyRing
from silas.testing import MockClock, NeverStopped
from silas.testing.approval import (
    a_decision,
    a_goal,
    a_signer,
    a_spawned_task,
    a_subject,
    a_token,
)
from tests.support.waits import SECONDS

TASK, GOAL, SPAWNED = a_subject(), a_goal(), a_spawned_task()
STANDING = ApprovalScope.standing


def edited(token: ApprovalToken, **changes: Any) -> ApprovalToken:
    return token.model_copy(update=changes)


async def events(audit: AuditLog) -> list[tuple[str, str]]:
    """Each entry's event, and the code of a refusal."""
    said = [json.loads(entry.body) for entry in await audit.entries(limit=1000)]
    return [(each["event"], str(each["data"].get("code", ""))) for each in said]


async def refused(
    engine: ApprovalEngine,
    audit: AuditLog,
    nonces: NonceStore,
    code: str,
    token: ApprovalToken,
    subject: Subject,
    spawned: Subject | None = None,
) -> None:
    """The token is refused with this code, on record, and nothing is spent."""
    before = await nonces.uses(token.token_id)
    verdict = await engine.verify(token, subject, spawned)
    assert (verdict.valid, verdict.code) == (False, code)
    assert not verdict
    assert verdict.reason.endswith(".")
    assert await nonces.uses(token.token_id) == before
    assert (await events(audit))[-1] == ("approval.refused", code)
    with pytest.raises(ApprovalError) as raised:
        await engine.require(token, subject, spawned)
    assert raised.value.code == code


@pytest.mark.proves("S5.11-VERIFY-USES")
async def test_an_approved_plan_runs_once(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    assert tuple(await engine.verify(token, TASK)) == (True, "Valid", "", "")
    assert await engine.check(token, TASK) == (True, "Valid", "", "")
    await refused(engine, audit, nonces, "E_APPROVAL_SPENT", token, TASK)
    assert await engine.check(token, TASK)
    assert [e for e, _ in await events(audit)] == [
        "approval.issued",
        "approval.used",
        "approval.refused",
        "approval.refused",
    ]
    assert (await audit.verify_chain()).valid


async def test_an_approval_that_is_taken_back_begins_nothing_and_lets_nothing_go_on(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    begun, unused = [await engine.issue_token(TASK, a_decision()) for _ in range(2)]
    await engine.require(begun, TASK)
    assert await engine.check(begun, TASK)
    assert await revoke(begun, nonces, audit)
    assert await revoke(unused, nonces, audit)
    assert (await engine.check(begun, TASK)).code == "E_APPROVAL_REVOKED"
    await refused(engine, audit, nonces, "E_APPROVAL_REVOKED", unused, TASK)
    assert not await revoke(unused, nonces, audit)
    assert [e for e, _ in await events(audit)].count("approval.revoked") == 2


@pytest.mark.proves("S5.11-CHECK-HOLDS")
async def test_check_says_no_until_a_use_was_spent(engine: ApprovalEngine, audit: AuditLog) -> None:
    token = await engine.issue_token(TASK, a_decision())
    assert (await engine.check(token, TASK)).code == "E_APPROVAL_UNSPENT"
    assert (await events(audit))[-1] == ("approval.refused", "E_APPROVAL_UNSPENT")
    await engine.require(token, TASK)
    assert await engine.check(token, TASK)


@pytest.mark.proves("S4.4-ISSUED-UNUSED", "A10-TTL-30-MINUTES")
async def test_a_new_token_says_what_was_decided(engine: ApprovalEngine, clock: MockClock) -> None:
    token = await engine.issue_token(
        TASK, a_decision(not_after="2026-01-02T03:10:00+00:00"), ApprovalScope.self_update,
        conditions={"skills": {"a/run.py": "ab"}},
    )  # fmt: skip
    assert (token.plan_hash, token.work_item_id) == (TASK.digest, TASK.id)
    assert (token.scope, token.verdict) == (ApprovalScope.self_update, ApprovalVerdict.approved)
    assert token.issued_at == clock.now()
    assert token.expires_at == clock.now() + timedelta(minutes=30)
    assert token.conditions == {
        "not_after": "2026-01-02T03:10:00+00:00",
        "skills": {"a/run.py": "ab"},
    }
    assert (token.executions_used, token.max_executions, token.execution_nonces) == (0, 1, ())
    other = await engine.issue_token(TASK, a_decision())
    assert other.nonce != token.nonce
    assert other.token_id != token.token_id


async def test_a_token_survives_json_and_still_authorises(
    engine: ApprovalEngine,
) -> None:
    token = await engine.issue_token(TASK, a_decision(), conditions={"deep": [1, 2.5, {"ü": None}]})
    again = ApprovalToken.model_validate_json(token.model_dump_json())
    assert again == token
    assert await engine.verify(again, TASK)


@pytest.mark.proves("S3.6-FRESH-EXECUTION-NONCE")
async def test_the_view_shows_the_counters_of_the_store(engine: ApprovalEngine) -> None:
    token = await engine.issue_token(GOAL, a_decision(), STANDING, max_executions=3)
    await engine.require(token, GOAL, SPAWNED)
    await engine.require(token, GOAL, SPAWNED)
    seen = await engine.view(token)
    assert seen.executions_used == len(set(seen.execution_nonces)) == 2


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("A4-APPROVED-ONLY")
@pytest.mark.parametrize("verdict", [ApprovalVerdict.declined, ApprovalVerdict.edit_requested])
async def test_a_no_never_authorises(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, verdict: ApprovalVerdict
) -> None:
    token = await engine.issue_token(TASK, a_decision(verdict))
    await refused(engine, audit, nonces, "E_APPROVAL_VERDICT", token, TASK)
    assert (await engine.check(token, TASK)).code == "E_APPROVAL_VERDICT"


EDITS: dict[str, Any] = {
    "plan_hash": "cd" * 32,
    "work_item_id": "task-9",
    "scope": ApprovalScope.self_update,
    "verdict": ApprovalVerdict.conditional,
    "nonce": "00" * 32,
    "approval_strength": "biometric",
    "issued_at": MockClock().now() - timedelta(seconds=1),
    "expires_at": MockClock().now() + timedelta(days=1),
    "max_executions": 2,
    "conditions": {"more": True},
}


@pytest.mark.proves("S3.6-SIGNED-FIELDS")
def test_every_signed_field_has_an_edit() -> None:
    assert set(EDITS) == set(SIGNED_FIELDS)


@pytest.mark.proves(
    "S3.6-SIGNED-FIELDS", "S5.11-VERIFY-SIGNATURE", "S5.11-CHECK-HOLDS", "A6-REFUSAL-BURNS-NOTHING"
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # a strength that is none
@pytest.mark.parametrize("field", SIGNED_FIELDS)
async def test_an_edited_field_is_refused(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, field: str
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    forged = edited(token, **{field: EDITS[field]})
    matching = a_subject(
        digest=forged.plan_hash, id=forged.work_item_id
    )  # so that only the signature stands in the way
    await refused(engine, audit, nonces, "E_APPROVAL_SIGNATURE", forged, matching)
    assert (await engine.check(forged, matching)).code == "E_APPROVAL_SIGNATURE"
    assert await engine.verify(token, TASK)


@pytest.mark.proves("S5.11-VERIFY-SIGNATURE")
@pytest.mark.parametrize("signature", [b"", b"x" * 64, b"x" * 63, bytes(64), b"x" * 65])
async def test_a_signature_that_is_none_is_refused(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, signature: bytes
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    forged = edited(token, signature=signature)
    await refused(engine, audit, nonces, "E_APPROVAL_SIGNATURE", forged, TASK)


@pytest.mark.proves("S5.11-VERIFY-SIGNATURE", "S5.8-WRONG-SIGNATURE")
async def test_another_key_is_refused(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, clock: MockClock
) -> None:
    token = a_token(a_signer("somebody else"), clock)
    await refused(engine, audit, nonces, "E_APPROVAL_SIGNATURE", token, TASK)


async def test_conditions_without_canonical_bytes_are_refused(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    forged = edited(token, conditions={"x": float("nan")})
    await refused(engine, audit, nonces, "E_APPROVAL_SIGNATURE", forged, TASK)


@pytest.mark.proves("A5-TOKEN-ID-DERIVED")
async def test_an_edited_token_id_is_refused_and_buys_no_new_uses(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    await engine.require(token, TASK)
    forged = edited(token, token_id="token-" + "0" * 64)
    await refused(engine, audit, nonces, "E_APPROVAL_TOKEN_ID", forged, TASK)
    assert (await engine.check(forged, TASK)).code == "E_APPROVAL_TOKEN_ID"


@pytest.mark.proves("A6-USES-COUNTED-BY-STORE")
async def test_an_edited_counter_buys_no_new_uses(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    await engine.require(token, TASK)
    for counter, seen in ((0, ()), (-5, ()), (0, ("x",))):
        forged = edited(token, executions_used=counter, execution_nonces=seen)
        await refused(engine, audit, nonces, "E_APPROVAL_SPENT", forged, TASK)


@pytest.mark.proves("A6-CHECK-ASKS-STORE", "A6-USES-COUNTED-BY-STORE")
async def test_an_edited_counter_does_not_pass_for_a_spent_use(engine: ApprovalEngine) -> None:
    token = await engine.issue_token(TASK, a_decision())
    forged = edited(token, executions_used=1, execution_nonces=("ab" * 32,))
    assert (await engine.check(forged, TASK)).code == "E_APPROVAL_UNSPENT"
    assert await engine.verify(forged, TASK)  # nor does it take the real use away


@pytest.mark.proves("A6-COPIES")
async def test_a_copy_of_an_unused_token_cannot_be_spent_as_well(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    copy = ApprovalToken.model_validate_json(token.model_dump_json())
    await engine.require(token, TASK)
    await refused(engine, audit, nonces, "E_APPROVAL_SPENT", copy, TASK)


@pytest.mark.proves("A6-CONCURRENT-SPENDS")
async def test_of_two_concurrent_spends_one_succeeds(engine: ApprovalEngine) -> None:
    token = await engine.issue_token(TASK, a_decision())
    verdicts = await asyncio.wait_for(
        asyncio.gather(*(engine.verify(token, TASK) for _ in range(8))), SECONDS
    )
    assert sorted(v.code for v in verdicts) == ["", *["E_APPROVAL_SPENT"] * 7]


@pytest.mark.proves(
    "S5.11-VERIFY-HASH", "S5.11-CHECK-HOLDS", "S18.1-APPROVAL", "A6-REFUSAL-BURNS-NOTHING"
)
@pytest.mark.parametrize(
    "other",
    [
        a_subject(digest="ab" * 32),
        a_subject(id="task-9"),
        a_subject(digest=""),
        a_subject(id="", digest=""),
        SPAWNED,
        GOAL,
    ],
)
async def test_another_item_is_refused(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, other: Subject
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    await refused(engine, audit, nonces, "E_APPROVAL_SUBJECT", token, other)
    await engine.require(token, TASK)
    assert (await engine.check(token, other)).code == "E_APPROVAL_SUBJECT"


@pytest.mark.proves("S5.11-VERIFY-EXPIRY", "S5.11-CHECK-HOLDS", "A10-TTL-30-MINUTES")
async def test_it_expires_after_thirty_minutes(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, clock: MockClock
) -> None:
    late, in_time = [await engine.issue_token(TASK, a_decision()) for _ in range(2)]
    clock.advance(30 * 60 - 0.001)
    assert await engine.verify(in_time, TASK)
    clock.advance(0.001)
    await refused(engine, audit, nonces, "E_APPROVAL_EXPIRED", late, TASK)
    assert (await engine.check(in_time, TASK)).code == "E_APPROVAL_EXPIRED"


async def test_the_configuration_says_how_long_a_token_lives(
    signer: Ed25519Signer, nonces: NonceStore, audit: AuditLog, clock: MockClock
) -> None:
    config = ApprovalConfig(default_ttl_minutes=5)
    engine = ApprovalEngine(
        signer,
        nonces,
        audit,
        clock,
        config,
        NeverStopped(),
        KeyRing.alone(signer.public_key),
        ZoneInfo("Europe/Vienna"),
    )
    token = await engine.issue_token(TASK, a_decision())
    longer = await engine.issue_token(GOAL, a_decision(), STANDING, 9, ttl_minutes=60 * 24 * 30)
    assert token.expires_at - token.issued_at == timedelta(minutes=5)
    assert longer.expires_at - longer.issued_at == timedelta(days=30)


async def test_a_token_from_the_future_is_refused(
    engine: ApprovalEngine,
    audit: AuditLog,
    nonces: NonceStore,
    signer: Ed25519Signer,
    clock: MockClock,
) -> None:
    a_little = a_token(signer, clock, issued_at=clock.now() + CLOCK_SKEW)
    too_far = a_token(signer, clock, issued_at=clock.now() + CLOCK_SKEW + timedelta(seconds=1))
    assert await engine.verify(a_little, TASK)
    await refused(engine, audit, nonces, "E_APPROVAL_NOT_YET", too_far, TASK)
    assert (await engine.check(too_far, TASK)).code == "E_APPROVAL_NOT_YET"


@pytest.mark.proves("S5.11-VERIFY-USES")
async def test_a_signed_token_of_many_uses_that_is_not_standing_has_one(
    engine: ApprovalEngine,
    audit: AuditLog,
    nonces: NonceStore,
    signer: Ed25519Signer,
    clock: MockClock,
) -> None:
    token = a_token(signer, clock, max_executions=50)
    await engine.require(token, TASK)
    await refused(engine, audit, nonces, "E_APPROVAL_SPENT", token, TASK)


# ── Conditions ───────────────────────────────────────────────────────────────────────────────────

EARLIER, LATER = "2026-01-02T03:00:00+00:00", "2026-01-02T04:30:00+01:00"
UNMET: list[dict[str, Any]] = [
    {"not_before": LATER},
    {"not_after": EARLIER},
    {"not_before": EARLIER, "not_after": EARLIER},
    {"not_before": "2026-01-02T00:00:00"},
    {"not_before": "soon"},
    {"not_after": None},
    {"not_after": 99999999999},
]


@pytest.mark.proves("A4-CONDITIONS-MET")
@pytest.mark.parametrize("conditions", [{"not_before": EARLIER}, {"not_after": LATER}])
@pytest.mark.parametrize("verdict", [ApprovalVerdict.approved, ApprovalVerdict.conditional])
async def test_a_condition_that_holds_lets_it_run(
    engine: ApprovalEngine, verdict: ApprovalVerdict, conditions: dict[str, Any]
) -> None:
    token = await engine.issue_token(TASK, a_decision(verdict, **conditions))
    assert await engine.verify(token, TASK)
    assert await engine.check(token, TASK)


@pytest.mark.proves("A4-CONDITIONS-MET")
@pytest.mark.parametrize("conditions", UNMET)
@pytest.mark.parametrize("verdict", [ApprovalVerdict.approved, ApprovalVerdict.conditional])
async def test_a_condition_that_does_not_hold_refuses(
    engine: ApprovalEngine,
    audit: AuditLog,
    nonces: NonceStore,
    verdict: ApprovalVerdict,
    conditions: dict[str, Any],
) -> None:
    token = await engine.issue_token(TASK, a_decision(verdict, **conditions))
    await refused(engine, audit, nonces, "E_APPROVAL_CONDITIONS", token, TASK)


@pytest.mark.proves("A4-CONDITIONS-MET")
@pytest.mark.parametrize("conditions", [{}, {"if": "it rains"}, {"not_after": LATER, "if": "so"}])
async def test_a_conditional_yes_needs_conditions_that_can_be_evaluated(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, conditions: dict[str, Any]
) -> None:
    token = await engine.issue_token(TASK, a_decision(ApprovalVerdict.conditional, **conditions))
    await refused(engine, audit, nonces, "E_APPROVAL_CONDITIONS", token, TASK)


async def test_a_condition_that_ends_ends_a_spent_use_too(
    engine: ApprovalEngine, clock: MockClock
) -> None:
    token = await engine.issue_token(TASK, a_decision(not_after="2026-01-02T03:05:00+00:00"))
    await engine.require(token, TASK)
    clock.advance(120)
    assert (await engine.check(token, TASK)).code == "E_APPROVAL_CONDITIONS"


# ── Standing approvals ───────────────────────────────────────────────────────────────────────────


async def standing(engine: ApprovalEngine, uses: int = 2) -> ApprovalToken:
    return await engine.issue_token(GOAL, a_decision(), STANDING, max_executions=uses)


@pytest.mark.proves("S3.6-MULTI-USE", "S5.11-CHECK-STANDING")
async def test_a_standing_approval_covers_spawned_tasks_up_to_its_uses(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await standing(engine, uses=2)
    smaller = a_spawned_task(id="task-3", digest="33" * 32, limits=(1, 0, 59.9))
    assert token.conditions == {"spawn_policy_hash": GOAL.policy, "limits": [1000.0, 2.5, 60.0]}
    assert await engine.verify(token, GOAL, SPAWNED)
    assert await engine.verify(token, GOAL, smaller)
    await refused(engine, audit, nonces, "E_APPROVAL_SPENT", token, GOAL, SPAWNED)
    assert await engine.check(token, SPAWNED)
    assert await engine.check(token, smaller)


@pytest.mark.proves("S5.11-CHECK-STANDING")
async def test_a_use_for_one_spawned_task_does_not_let_another_run(engine: ApprovalEngine) -> None:
    token = await standing(engine)
    await engine.require(token, GOAL, SPAWNED)
    other = a_spawned_task(id="task-3", digest="33" * 32)
    assert (await engine.check(token, other)).code == "E_APPROVAL_UNSPENT"


@pytest.mark.proves("S5.11-STANDING-NEEDS-SPAWNED")
async def test_a_standing_approval_needs_a_spawned_task(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await standing(engine)
    await refused(engine, audit, nonces, "E_APPROVAL_SPAWN_REQUIRED", token, GOAL)
    assert (await engine.check(token, GOAL)).code == "E_APPROVAL_SPAWN_FOREIGN"


SPAWNED_WRONG = {
    "of another goal": (a_spawned_task(parent="goal-9"), "E_APPROVAL_SPAWN_FOREIGN"),
    "of nobody": (a_spawned_task(parent=""), "E_APPROVAL_SPAWN_FOREIGN"),
    "a project": (a_spawned_task(kind="project"), "E_APPROVAL_SPAWN_FOREIGN"),
    "a tool call": (a_spawned_task(kind="tool_call"), "E_APPROVAL_SPAWN_FOREIGN"),
    "the goal itself": (GOAL, "E_APPROVAL_SPAWN_FOREIGN"),
    "altered": (a_spawned_task(policy="ab" * 32), "E_APPROVAL_SPAWN_POLICY"),
    "no product of a policy": (a_spawned_task(policy=""), "E_APPROVAL_SPAWN_POLICY"),
    "over the first limit": (a_spawned_task(limits=(1001, 2.5, 60)), "E_APPROVAL_SPAWN_LIMITS"),
    "over the last limit": (a_spawned_task(limits=(1, 1, 60.001)), "E_APPROVAL_SPAWN_LIMITS"),
    "without limits": (a_spawned_task(limits=()), "E_APPROVAL_SPAWN_LIMITS"),
    "with fewer limits": (a_spawned_task(limits=(1, 1)), "E_APPROVAL_SPAWN_LIMITS"),
    "with more limits": (a_spawned_task(limits=(1, 1, 1, 1)), "E_APPROVAL_SPAWN_LIMITS"),
    "with a limit that is no number": (
        a_spawned_task(limits=(float("nan"), 1, 1)),
        "E_APPROVAL_SPAWN_LIMITS",
    ),
    "without an end": (a_spawned_task(limits=(1, float("inf"), 1)), "E_APPROVAL_SPAWN_LIMITS"),
}


@pytest.mark.proves(
    "S5.11-STANDING-PARENT",
    "S5.11-STANDING-POLICY",
    "S5.11-CHECK-STANDING",
    "A8-BUDGET-WITHIN",
    "A6-REFUSAL-BURNS-NOTHING",
)
@pytest.mark.parametrize("name", SPAWNED_WRONG)
async def test_a_task_that_the_goal_does_not_spawn_is_refused(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, name: str
) -> None:
    task, code = SPAWNED_WRONG[name]
    token = await standing(engine)
    await refused(engine, audit, nonces, code, token, GOAL, task)
    await engine.require(token, GOAL, SPAWNED)
    assert (await engine.check(token, task)).code == code


@pytest.mark.proves("S5.11-STANDING-POLICY")
@pytest.mark.parametrize(
    ("goal", "code"),
    [
        (a_goal(digest="ab" * 32), "E_APPROVAL_SUBJECT"),
        (a_goal(id="goal-9"), "E_APPROVAL_SUBJECT"),
        (a_goal(policy="ab" * 32), "E_APPROVAL_SPAWN_POLICY"),
        (a_goal(policy=""), "E_APPROVAL_SPAWN_POLICY"),
        (a_goal(kind="task"), "E_APPROVAL_SPAWN_POLICY"),
    ],
)
async def test_a_goal_that_changed_may_spawn_nothing(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore, goal: Subject, code: str
) -> None:
    await refused(engine, audit, nonces, code, await standing(engine), goal, SPAWNED)


async def test_an_ordinary_approval_covers_no_spawned_task(
    engine: ApprovalEngine, audit: AuditLog, nonces: NonceStore
) -> None:
    token = await engine.issue_token(GOAL, a_decision())
    await refused(engine, audit, nonces, "E_APPROVAL_SPAWN_UNEXPECTED", token, GOAL, SPAWNED)
    assert (await engine.check(token, SPAWNED)).code == "E_APPROVAL_SUBJECT"


@pytest.mark.proves("S3.6-STANDING-NEEDS-SPAWN-HASH")
@pytest.mark.parametrize("conditions", [{}, {"spawn_policy_hash": "", "limits": [9, 9, 9]}])
async def test_a_standing_token_without_a_policy_authorises_nothing(
    engine: ApprovalEngine,
    audit: AuditLog,
    nonces: NonceStore,
    signer: Ed25519Signer,
    clock: MockClock,
    conditions: dict[str, Any],
) -> None:
    token = a_token(
        signer,
        clock,
        scope=STANDING,
        plan_hash=GOAL.digest,
        work_item_id=GOAL.id,
        max_executions=5,
        conditions=conditions,
    )
    await refused(engine, audit, nonces, "E_APPROVAL_SPAWN_POLICY", token, GOAL, SPAWNED)
    nothing = a_spawned_task(policy="", limits=(1, 1, 1))
    await refused(
        engine, audit, nonces, "E_APPROVAL_SPAWN_POLICY", token, a_goal(policy=""), nothing
    )
    assert (await engine.check(token, nothing)).code == "E_APPROVAL_SPAWN_POLICY"


# ── Issuing ──────────────────────────────────────────────────────────────────────────────────────

UNISSUABLE: dict[str, tuple[Subject, dict[str, Any], str]] = {
    "two uses of a plan": (TASK, {"max_executions": 2}, "E_APPROVAL_USES"),
    "no use": (TASK, {"max_executions": 0}, "E_APPROVAL_USES"),
    "no standing use": (GOAL, {"scope": STANDING, "max_executions": -1}, "E_APPROVAL_USES"),
    "standing without a policy": (
        a_goal(policy=""),
        {"scope": STANDING},
        "E_APPROVAL_SPAWN_POLICY",
    ),
    "standing for a task": (SPAWNED, {"scope": STANDING}, "E_APPROVAL_SPAWN_POLICY"),
    "a policy of one's own": (
        GOAL,
        {"scope": STANDING, "conditions": {"spawn_policy_hash": "ab" * 32}},
        "E_APPROVAL_CONDITIONS",
    ),
    "limits of one's own": (
        GOAL,
        {"scope": STANDING, "conditions": {"limits": [9e9, 9e9, 9e9]}},
        "E_APPROVAL_CONDITIONS",
    ),
    "what is not JSON": (TASK, {"conditions": {"x": b"bytes"}}, "E_APPROVAL_CONDITIONS"),
    "what is no number": (TASK, {"conditions": {"x": float("nan")}}, "E_APPROVAL_CONDITIONS"),
    "limits without an end": (
        a_goal(limits=(float("inf"),)),
        {"scope": STANDING},
        "E_APPROVAL_CONDITIONS",
    ),
    "an end before the beginning": (TASK, {"ttl_minutes": -1}, "E_APPROVAL_EXPIRED"),
}


@pytest.mark.proves("S3.6-STANDING-NEEDS-SPAWN-HASH")
@pytest.mark.parametrize("name", UNISSUABLE)
async def test_what_must_not_be_signed_is_not(
    engine: ApprovalEngine, audit: AuditLog, name: str
) -> None:
    subject, arguments, code = UNISSUABLE[name]
    with pytest.raises(ApprovalError) as raised:
        await engine.issue_token(subject, a_decision(), **arguments)
    assert raised.value.code == code
    assert await events(audit) == [("approval.refused", code)]


async def test_the_owners_conditions_cannot_be_overridden_by_the_callers(
    engine: ApprovalEngine,
) -> None:
    decision = a_decision(not_after=LATER, limits=[1])
    with pytest.raises(ApprovalError, match="cannot be given"):
        await engine.issue_token(GOAL, decision, STANDING)
    with pytest.raises(ApprovalError, match="contradict"):
        await engine.issue_token(
            TASK, a_decision(not_after=EARLIER), conditions={"not_after": LATER}
        )


async def test_a_changed_argument_does_not_reach_into_the_token(engine: ApprovalEngine) -> None:
    bindings = {"skills": {"a": "1"}}
    token = await engine.issue_token(TASK, a_decision(), conditions=bindings)
    bindings["skills"]["a"] = "2"
    assert token.conditions == {"skills": {"a": "1"}}
    assert await engine.verify(token, TASK)


# ── Property: uses never exceed what was approved ────────────────────────────────────────────────


@pytest.mark.proves("S3.6-MULTI-USE", "A6-USES-COUNTED-BY-STORE", "A6-COPIES")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    uses=st.integers(1, 4),
    attempts=st.lists(
        st.tuples(
            st.sampled_from(["good", "copy", "counter", "token_id", "foreign", "altered", "none"]),
            st.integers(0, 3),
        ),
        max_size=12,
    ),
)
async def test_whatever_is_submitted_no_more_is_spent_than_was_approved(
    engine: ApprovalEngine,
    nonces: NonceStore,
    uses: int,
    attempts: list[tuple[str, int]],
) -> None:
    token = await standing(engine, uses)
    granted = 0
    for kind, number in attempts:
        task = a_spawned_task(id=f"task-{number}", digest=f"{number}" * 64)
        submitted, spawned = {
            "good": (token, task),
            "copy": (ApprovalToken.model_validate_json(token.model_dump_json()), task),
            "counter": (edited(token, executions_used=-9), task),
            "token_id": (edited(token, token_id=f"token-{number}"), task),
            "foreign": (token, task.model_copy(update={"parent": "goal-9"})),
            "altered": (token, task.model_copy(update={"policy": "x"})),
            "none": (token, None),
        }[kind]
        verdict: Verdict = await engine.verify(submitted, GOAL, spawned)
        assert bool(verdict) is (kind in ("good", "copy", "counter") and granted < uses)
        granted += verdict.valid
        assert await nonces.uses(token.token_id) == granted <= uses
