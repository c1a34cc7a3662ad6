"""The plan hash to the byte, against vectors made with nothing but json and hashlib (spec 3.3)."""

import json
from pathlib import Path
from typing import Any

import pytest

from silas.approval import ApprovalScope, ApprovalToken, ApprovalVerdict
from silas.clock import Clock
from silas.plans import (
    BudgetUsed,
    PlanParser,
    WorkItem,
    WorkItemStatus,
    plan_bytes,
    plan_hash,
    spawn_policy_hash,
    subject_of,
)
from silas.testing import MockClock
from silas.testing.builders import a_plan

ROOT = Path(__file__).parents[2]
VECTORS: list[dict[str, Any]] = json.loads(
    (ROOT / "tests/vectors/plans.json").read_text(encoding="utf-8")
)


def _item(vector: dict[str, Any]) -> WorkItem:
    if vector["source"] == "item":
        return WorkItem.model_validate(vector["fields"])
    return PlanParser().parse((ROOT / vector["source"]).read_text(encoding="utf-8"))


@pytest.mark.proves(
    "A9-TO-THE-BYTE",
    "S3.6-SPAWN-HASH-CANONICAL",
    "S3.6-SPAWN-HASH-TEMPLATE",
    "S13-EXAMPLES",
    "S3.3-HASH-PROJECTION",
)
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["source"] + v["plan_hash"][:6])
def test_bytes_and_hashes_equal_the_frozen_vectors(vector: dict[str, Any]) -> None:
    item = _item(vector)
    assert plan_bytes(item) == vector["canonical"].encode("ascii")
    assert plan_hash(item) == vector["plan_hash"]
    assert spawn_policy_hash(item) == vector["spawn_policy_hash"]


def _token(clock: Clock) -> ApprovalToken:
    return ApprovalToken(
        token_id="t",
        plan_hash="0" * 64,
        work_item_id="task-example",
        scope=ApprovalScope.full_plan,
        verdict=ApprovalVerdict.approved,
        signature=b"\x00\xff",
        issued_at=clock.now(),
        expires_at=clock.now(),
        nonce="n",
    )


@pytest.mark.proves("S3.3-HASH-NO-RUNTIME")
def test_what_the_runtime_manages_is_not_hashed() -> None:
    clock = MockClock()
    before = plan_hash(a_plan())
    changed = a_plan(
        needs_approval=False,
        approval_token=_token(clock),
        status=WorkItemStatus.done,
        attempts=3,
        budget_used=BudgetUsed(tokens=5),
        verification_results=[{"a": 1}],
        created_at=clock.now(),
    )
    assert plan_hash(changed) == before


CHANGES: tuple[dict[str, Any], ...] = (
    {"id": "task-other"},
    {"type": "goal"},
    {"title": "Another"},
    {"parent": "goal-1"},
    {"spawned_by": "goal-1"},
    {"follow_up_of": "task-1"},
    {"domain": "personal"},
    {"type": "goal", "agent": "stream"},
    {"budget": {"max_attempts": 4}},
    {"body": "Something else."},
    {"interaction_mode": "act_and_report"},
    {"input_artifacts_from": ["*"]},
    {"verify": []},
    {"gates": [{"name": "g", "on": "on_tool_call"}]},
    {"skills": ["a", "b"]},
    {"skills": ["b", "a"]},
    {"access_levels": {"public": {"description": "x"}}},
    {"escalation": {"x": {"action": "report"}}},
    {"type": "goal", "schedule": "0 * * * *"},
    {"on_failure": "x"},
    {"on_stuck": "x"},
    {"failure_context": "x"},
    {"tasks": ["a"]},
    {"depends_on": ["a"]},
    {"cycle": "work"},
    {"standing": {"uses": 3}},
    {"standing": {"uses": 4}},
    {"standing": {"until": "2026-12-04T23:59+01:00"}},
    {"workspace": "/w"},
    {"writes": []},
    {"writes": ["a.txt"]},
    {"writes": ["**"]},
    {"read": ["/r"]},
    {"network": ["h"]},
    {"tools": [{"tool": "t"}]},
    {"tools": [{"tool": "u"}]},
    {"tools": [{"tool": "t", "times": 1}]},
    {"tools": [{"tool": "t", "times": 2}]},
    {"tools": [{"tool": "t", "args": {"a": 1}}]},
    {"tools": [{"tool": "t", "args": {"a": {"slot": "text", "from": "owner"}}}]},
    {"tools": [{"tool": "t", "args": {"a": {"slot": "text", "from": ["owner"]}}}]},
    {"tools": [{"name": "t"}]},
    {"worker": "w"},
    {"credential_refs": {"TOKEN": f"ref_{0:032x}"}},
)


@pytest.mark.proves("S3.3-HASH-PROJECTION", "S3.3-SKILLS-IN-HASH", "B1-IN-THE-HASH")
def test_every_field_of_a_plan_changes_its_hash() -> None:
    hashes = {plan_hash(a_plan()), *(plan_hash(a_plan(**change)) for change in CHANGES)}
    assert len(hashes) == len(CHANGES) + 1
    state = {"status", "attempts", "budget_used", "verification_results", "created_at", "children"}
    tested = {name for change in CHANGES for name in change}
    assert tested == set(WorkItem.model_fields) - state - {"needs_approval", "approval_token"}


@pytest.mark.proves("A9-OWN-FIELDS-WHEN-SET")
def test_what_the_specification_does_not_have_is_hashed_only_when_it_is_set() -> None:
    own = ("cycle", "standing", "workspace", "writes", "read", "network", "tools", "worker")
    own = (*own, "credential_refs")
    assert not set(own) & set(json.loads(plan_bytes(a_plan())))
    empty = a_plan(workspace=None, writes=None, read=[], network=[], tools=[], worker=None)
    assert plan_bytes(empty) == plan_bytes(a_plan())
    given: dict[str, Any] = {
        "cycle": "work",
        "standing": {"uses": 3, "until": None},
        "workspace": "/w",
        "writes": [],  # `none` is a choice, too
        "read": ["/r"],
        "network": ["h"],
        "tools": [{}],
        "worker": "w",
        "credential_refs": {"TOKEN": f"ref_{0:032x}"},
    }
    for name in own:
        hashed = json.loads(plan_bytes(a_plan(**{name: given[name]})))
        assert {key: hashed[key] for key in own if key in hashed} == {name: given[name]}


def test_a_subject_names_kind_parent_digest_and_limits() -> None:
    subject = subject_of(a_plan(parent="project-1", budget={"max_tokens": 7}))
    assert (subject.id, subject.kind, subject.parent) == ("task-example", "task", "project-1")
    assert subject.digest == plan_hash(a_plan(parent="project-1", budget={"max_tokens": 7}))
    assert subject.limits == (7, 2.0, 1800, 5, 3)
    assert subject.policy == ""


def test_the_policy_of_a_goal_without_scope_is_the_specified_hash() -> None:
    goal = a_plan(type="goal", failure_context="Fix $failed_checks")
    assert subject_of(goal).policy == spawn_policy_hash(goal)


def test_a_project_has_no_policy() -> None:
    assert subject_of(a_plan(type="project", failure_context="x")).policy == ""
