"""Tasks that goals spawn, and the proof that a task is one of them (spec 3.6, decision A8).

A standing approval covers what `spawn_task` makes from the approved goal, and nothing else. So
everything in a spawned task is either copied from what the policy binds, or the same for every
spawned task, or quoted check output in a fixed form; `product_policy` checks all three from the
task alone.
"""

import re
from collections.abc import Mapping
from typing import Any

from silas.canonical import canonical_json, digest
from silas.errors import PlanFamilyError
from silas.plans.failures import format_failures, is_failure_text
from silas.plans.models import VerificationReport, WorkItem, WorkItemType
from silas.plans.writes import NONE
from silas.types import InteractionMode, new_id

_PLACEHOLDER = re.compile(r"\$failed_checks(?![A-Za-z0-9_])")
_SPAWNED_ID = re.compile(r"task-[0-9a-f]{32}")
CONSTANT: Mapping[str, Any] = {
    "follow_up_of": None,
    "agent": "ephemeral",
    "interaction_mode": InteractionMode.confirm_only_when_required,
    "input_artifacts_from": [],
    "access_levels": {},
    "schedule": None,
    "tasks": [],
    "depends_on": [],
    "standing": None,
}
"""What is the same in every task that a goal makes, whatever the goal says."""

_ON_STUCK = str(WorkItem.model_fields["on_stuck"].default)


def spawn_policy_hash(goal: WorkItem) -> str:
    """The hash of the goal's spawn policy template, exactly as spec 3.6 has it."""
    return digest(
        {
            "failure_context_template": goal.failure_context or "",
            "skills": sorted(set(goal.skills)),
            "gates": sorted(canonical_json(gate.model_dump(mode="json")) for gate in goal.gates),
            "verify": sorted(
                canonical_json(check.model_dump(mode="json")) for check in goal.verify
            ),
            "escalation_config": {
                name: goal.escalation[name].model_dump(mode="json")
                for name in bound_escalations(goal)
            },
        }
    )


def standing_policy(item: WorkItem) -> str:
    """The policy a standing approval binds.

    `spawn_policy_hash` knows nothing of what a plan may touch. For an item that sets any of
    `_bound_besides`, the policy is the hash over both, so that a spawned task cannot widen it;
    for every other item it is `spawn_policy_hash` itself.
    """
    policy, besides = spawn_policy_hash(item), _bound_besides(item)
    return digest({"spawn_policy_hash": policy, **besides}) if besides else policy


def spawn_task(goal: WorkItem, report: VerificationReport) -> WorkItem:
    """The task that a failing goal spawns (spec 5.2.3 step 4); a fresh id, nothing else is new.

    Only the escalations that the policy binds are copied: a fallback to another one is reported.
    The mode is always `confirm_only_when_required`, because the policy does not bind the goal's.

    Raises:
        PlanFamilyError: `E_PLAN_SPAWN`: not a goal, nothing failed, or no `failure_context`.
    """
    if goal.type is not WorkItemType.goal or not goal.failure_context or report.all_passed:
        raise PlanFamilyError(
            f"{goal.id} spawns no task: that takes a goal with a `failure_context` and a failed "
            "check.",
            code="E_PLAN_SPAWN",
            work_item_id=goal.id,
        )
    failed = format_failures(report)
    return WorkItem(
        id=new_id("task"),
        title=_title(goal.id),
        body=_PLACEHOLDER.sub(lambda _: failed, goal.failure_context),
        created_at=report.timestamp,
        **inherited_fields(goal),
    )


def inherited_fields(goal: WorkItem) -> dict[str, Any]:
    """The fields that every task of a goal has from it; what else it has, its maker says."""
    return {
        "type": WorkItemType.task,
        "parent": goal.id,
        "spawned_by": goal.id,
        "domain": goal.domain,
        "budget": goal.budget,
        "verify": list(goal.verify),
        "gates": list(goal.gates),
        "skills": list(goal.skills),
        "escalation": {name: goal.escalation[name] for name in bound_escalations(goal)},
        "on_failure": goal.on_failure,
        "on_stuck": goal.on_stuck,
        "failure_context": goal.failure_context,
        "workspace": goal.workspace,
        "writes": None if goal.writes is None else list(goal.writes),
        "read": list(goal.read),
        "network": list(goal.network),
        "tools": [dict(grant) for grant in goal.tools],
        "worker": goal.worker,
        "credential_refs": dict(goal.credential_refs),
    }


def product_policy(task: WorkItem) -> str:
    """The policy of which a task provably is the product, or an empty text.

    1. It has a spawned task's kind, id and parent. 2. What is the same in every spawned task is
    so here. 3. It has no escalation that the policy does not bind. 4. Its body is the template
    around one text, the same at every placeholder. 5. That text is quoted failures of its own
    checks, and nothing else.
    """
    template = task.failure_context
    if task.type is not WorkItemType.task or not task.parent or not template:
        return ""
    constant: dict[str, Any] = {
        **CONSTANT,
        "title": _title(task.parent),
        "spawned_by": task.parent,
        "cycle": None,
    }
    if not _SPAWNED_ID.fullmatch(task.id):
        return ""
    if any(getattr(task, name) != value for name, value in constant.items()):
        return ""
    if sorted(task.escalation) != bound_escalations(task):
        return ""
    segments = _PLACEHOLDER.split(template)
    filled = _find_filling(task.body, segments)
    if filled is None:
        return ""
    if len(segments) > 1 and not is_failure_text(filled, [check.name for check in task.verify]):
        return ""
    return standing_policy(task)


def _title(goal_id: str) -> str:
    return f"Fix what the checks of {goal_id} found"


def bound_escalations(item: WorkItem) -> list[str]:
    """The escalations named directly, by failure or by a gate, in order (spec 3.6)."""
    named = {item.on_failure, *(gate.on_block for gate in item.gates if gate.on_block)}
    return sorted(named & item.escalation.keys())


def _bound_besides(item: WorkItem) -> dict[str, Any]:
    """What is copied to a spawned task and not in spec 3.6's projection, where it is set."""
    values: dict[str, Any] = {
        "workspace": item.workspace,
        "writes": NONE if item.writes == [] else item.writes,
        "read": item.read,
        "network": item.network,
        "tools": item.tools,
        "worker": item.worker,
        "credential_refs": item.credential_refs,
        "domain": item.domain,
        "on_stuck": None if item.on_stuck == _ON_STUCK else item.on_stuck,
    }
    # an empty domain or on_stuck is a value; an empty list or mapping is the same as none
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def _find_filling(body: str, segments: list[str]) -> str | None:
    """The one text that stands between all segments of the template in the body, or None."""
    gaps = len(segments) - 1
    if gaps == 0:
        return "" if body == segments[0] else None
    length, rest = divmod(len(body) - sum(map(len, segments)), gaps)
    if rest or length < 0:
        return None
    start = len(segments[0])
    filled = body[start : start + length]
    return filled if body == filled.join(segments) else None
