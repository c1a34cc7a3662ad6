"""What an approval binds to: canonical plan bytes, the plan hash, the subject (spec 3.3)."""

from typing import Any, Final

from silas.approval import Subject
from silas.canonical import canonical_bytes, sha256_hex
from silas.plans.goals.recurring import recurring_policy, recurring_product
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.spawn import product_policy, standing_policy

PLAN_FIELDS = (
    "id",
    "type",
    "title",
    "parent",
    "spawned_by",
    "follow_up_of",
    "domain",
    "agent",
    "budget",
    "body",
    "interaction_mode",
    "input_artifacts_from",
    "verify",
    "gates",
    "skills",
    "access_levels",
    "escalation",
    "schedule",
    "on_failure",
    "on_stuck",
    "failure_context",
    "tasks",
    "depends_on",
)
"""Exactly the included fields of spec 3.3; frozen vectors depend on this list."""

SCOPE_FIELDS = ("workspace", "read", "network", "tools", "worker", "credential_refs")
"""What a plan may touch (decision B1): in the projection only when set. `writes` is one
more, and is set where it says `none`, too (decision B22); `cycle` (decision D504) and `standing`
(decision D520) are two others."""


WRITTEN: Final = frozenset((*PLAN_FIELDS, *SCOPE_FIELDS, "writes", "cycle", "standing"))
"""Every field that a plan may set."""

_OF_OTHERS: Final = frozenset({"parent", "spawned_by", "children"})


def plan_alone(item: WorkItem, **changes: Any) -> WorkItem:
    """What was planned of an item by itself, and nothing of what became of it."""
    kept = {name: getattr(item, name) for name in WRITTEN - _OF_OTHERS}
    return WorkItem.model_validate({**kept, **changes})


def plan_bytes(item: WorkItem) -> bytes:
    """The canonical approval projection: what is hashed, signed, shown and stored.

    Nulls of nested models are part of it, lists keep their order. A plan that sets neither
    `writes`, `cycle`, `standing` nor any of `SCOPE_FIELDS` has the bytes of spec 3.3.
    """
    fields = {*PLAN_FIELDS, *(name for name in SCOPE_FIELDS if getattr(item, name))}
    fields.update(
        name for name in ("writes", "cycle", "standing") if getattr(item, name) is not None
    )
    return canonical_bytes(item.model_dump(mode="json", include=fields))


def plan_hash(item: WorkItem) -> str:
    """SHA-256 of `plan_bytes` as 64 hex digits."""
    return sha256_hex(plan_bytes(item))


def subject_of(item: WorkItem) -> Subject:
    """The item as an approval sees it.

    `policy` is what a standing approval compares: for a goal, the policy of the tasks it may
    spawn; for a task that is exactly what `spawn_task` or `recurring_task` makes, the policy of
    the goal that makes it; empty for everything else.
    """
    budget, canonical = item.budget, plan_bytes(item)
    return Subject(
        id=item.id,
        kind=item.type.value,
        digest=sha256_hex(canonical),
        parent=item.parent or "",
        policy=_policy(item),
        limits=(
            budget.max_tokens,
            budget.max_cost_usd,
            budget.max_wall_time_seconds,
            budget.max_attempts,
            budget.max_planner_calls,
        ),
        canonical=canonical,
    )


def _policy(item: WorkItem) -> str:
    """One rule for each kind of goal and each kind of its tasks; no other item has a policy."""
    goal = item.type is WorkItemType.goal
    if item.cycle is not None:
        return recurring_policy(item) if goal else recurring_product(item)
    return standing_policy(item) if goal else product_policy(item)
