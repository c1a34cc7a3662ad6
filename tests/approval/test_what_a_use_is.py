"""What exactly is signed, and what exactly a use consumes (spec 3.6, 4.4, 5.11)."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from silas.approval import (
    ApprovalConfig,
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    NonceStore,
    Subject,
)
from silas.approval.engine import ApprovalEngine
from silas.testing import MockClock
from silas.testing.approval import a_decision, a_goal, a_spawned_task, a_subject

TASK, GOAL, SPAWNED = a_subject(), a_goal(), a_spawned_task()
STANDING = ApprovalScope.standing
ORDINARY = [scope for scope in ApprovalScope if scope is not STANDING]


async def standing(engine: ApprovalEngine, uses: int) -> ApprovalToken:
    return await engine.issue_token(GOAL, a_decision(), STANDING, max_executions=uses)


# ── One path for every kind of approval ──────────────────────────────────────────────────────────


@pytest.mark.proves("S4.4-ONE-PATH")
@pytest.mark.parametrize("kind", ["task", "project", "goal", "tool_call", "batch", "threshold"])
async def test_whatever_is_approved_is_bound_by_its_hash_and_signed(
    engine: ApprovalEngine, nonces: NonceStore, kind: str
) -> None:
    subject = a_subject(id=f"{kind}-1", kind=kind, digest="5a" * 32)
    token = await engine.issue_token(subject, a_decision(), ApprovalScope.single_step)
    assert (token.plan_hash, token.work_item_id) == (subject.digest, subject.id)
    changed = subject.model_copy(update={"digest": "5b" * 32})
    assert (await engine.verify(token, changed)).code == "E_APPROVAL_SUBJECT"
    moved = token.model_copy(update={"plan_hash": changed.digest})
    assert (await engine.verify(moved, changed)).code == "E_APPROVAL_SIGNATURE"
    assert await nonces.uses(token.token_id) == 0
    assert await engine.verify(token, subject)
    assert (await engine.verify(token, subject)).code == "E_APPROVAL_SPENT"


@pytest.mark.proves("S3.6-TAP-ONLY", "S5.11-STRENGTH-MINIMUM")
@pytest.mark.parametrize("scope", ORDINARY)
async def test_the_strength_of_every_scope_is_tap(
    engine: ApprovalEngine, scope: ApprovalScope
) -> None:
    token = await engine.issue_token(TASK, a_decision(), scope)
    assert token.approval_strength == "tap"
    assert await engine.verify(token, TASK)


@pytest.mark.proves("S3.6-TAP-ONLY", "S5.11-STRENGTH-MINIMUM")
async def test_a_standing_approval_is_a_tap_too_and_there_is_no_other_strength(
    engine: ApprovalEngine,
) -> None:
    assert (await standing(engine, 2)).approval_strength == "tap"
    given: dict[str, Any] = {"verdict": ApprovalVerdict.approved}
    for strength in ("", "none", "biometric"):
        with pytest.raises(ValidationError):
            ApprovalDecision.model_validate({**given, "approval_strength": strength})
        with pytest.raises(ValidationError):
            ApprovalConfig.model_validate({"scope_min_strength": {"full_plan": strength}})


@pytest.mark.proves("S3.6-SIGNATURE-BASE64")
async def test_a_signature_is_bytes_here_and_base64_in_json(engine: ApprovalEngine) -> None:
    token = await engine.issue_token(TASK, a_decision())
    assert type(token.signature) is bytes
    text = token.model_dump_json()
    assert json.loads(text)["signature"] == base64.b64encode(token.signature).decode()
    again = ApprovalToken.model_validate_json(text)
    assert again.signature == token.signature
    assert await engine.verify(again, TASK)


# ── What a use consumes ──────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("A7-CONTENT-BOUND-KEY", "S3.6-FRESH-EXECUTION-NONCE")
async def test_each_use_consumes_one_fresh_nonce_under_the_key_of_what_ran(
    engine: ApprovalEngine, nonces: NonceStore
) -> None:
    other = a_spawned_task(id="task-3", digest="33" * 32)
    token = await standing(engine, 3)
    ran: list[Subject] = [SPAWNED, other, SPAWNED]
    fresh = list[str]()
    for number, task in enumerate(ran, 1):
        before = set(await nonces.execution_nonces(token.token_id))
        assert await engine.verify(token, GOAL, task)
        (nonce,) = set(await nonces.execution_nonces(token.token_id)) - before
        assert await nonces.is_used("exec", f"{token.token_id}:{task.digest}:{nonce}")
        assert not await nonces.is_used("exec", nonce)
        assert not await nonces.is_used("exec", f"{token.token_id}:{GOAL.digest}:{nonce}")
        assert await nonces.uses(token.token_id) == number
        fresh.append(nonce)
    assert len(set(fresh)) == 3


@pytest.mark.proves("A7-CONTENT-BOUND-KEY")
async def test_an_ordinary_use_is_kept_under_token_plan_hash_and_nonce(
    engine: ApprovalEngine, nonces: NonceStore
) -> None:
    token = await engine.issue_token(TASK, a_decision())
    await engine.require(token, TASK)
    (nonce,) = await nonces.execution_nonces(token.token_id)
    assert await nonces.is_used("exec", f"{token.token_id}:{TASK.digest}:{nonce}")


@pytest.mark.proves("S3.6-TOKEN-NONCE-KEPT")
async def test_the_tokens_own_nonce_is_never_consumed(
    engine: ApprovalEngine, nonces: NonceStore
) -> None:
    token = await standing(engine, 2)
    for _ in range(2):
        await engine.require(token, GOAL, SPAWNED)
    own = token.nonce
    assert own not in await nonces.execution_nonces(token.token_id)
    for key in (own, f"{token.token_id}:{GOAL.digest}:{own}", f"{token.token_id}:{own}"):
        assert not await nonces.is_used("exec", key)
        assert not await nonces.is_used("msg", key)


@pytest.mark.proves("S5.11-ONLY-VERIFY-SPENDS")
async def test_checking_and_looking_consume_nothing_however_often(
    engine: ApprovalEngine, nonces: NonceStore
) -> None:
    token = await standing(engine, 2)
    await engine.require(token, GOAL, SPAWNED)
    for _ in range(5):
        assert await engine.check(token, SPAWNED)
        assert not await engine.check(token, a_spawned_task(parent="goal-9"))
        await engine.view(token)
    assert await nonces.uses(token.token_id) == 1
    assert await engine.verify(token, GOAL, SPAWNED)
    assert await nonces.uses(token.token_id) == 2


# ── A standing approval is asked afresh each time ────────────────────────────────────────────────


@pytest.mark.proves("S3.6-STANDING-CHECKED-EACH-USE")
@pytest.mark.parametrize(
    ("changes", "goal", "wait", "code"),
    [
        ({"max_executions": 9}, GOAL, 0, "E_APPROVAL_SIGNATURE"),
        ({"signature": bytes(64)}, GOAL, 0, "E_APPROVAL_SIGNATURE"),
        ({}, a_goal(digest="ab" * 32), 0, "E_APPROVAL_SUBJECT"),
        ({}, a_goal(policy="ab" * 32), 0, "E_APPROVAL_SPAWN_POLICY"),
        ({}, GOAL, timedelta(minutes=30).total_seconds(), "E_APPROVAL_EXPIRED"),
    ],
)
async def test_a_use_that_was_good_says_nothing_about_the_next(
    engine: ApprovalEngine,
    nonces: NonceStore,
    clock: MockClock,
    changes: dict[str, Any],
    goal: Subject,
    wait: float,
    code: str,
) -> None:
    token = await standing(engine, 5)
    await engine.require(token, GOAL, SPAWNED)
    clock.advance(wait)
    later = token.model_copy(update=changes)
    assert (await engine.verify(later, goal, SPAWNED)).code == code
    assert await nonces.uses(token.token_id) == 1


@pytest.mark.proves("S3.6-STANDING-CHECKED-EACH-USE", "S3.6-MULTI-USE")
async def test_after_its_last_use_a_standing_approval_covers_nothing(
    engine: ApprovalEngine, nonces: NonceStore
) -> None:
    token = await standing(engine, 3)
    verdicts = [await engine.verify(token, GOAL, SPAWNED) for _ in range(5)]
    assert [verdict.code for verdict in verdicts] == ["", "", "", *["E_APPROVAL_SPENT"] * 2]
    assert await nonces.uses(token.token_id) == 3
