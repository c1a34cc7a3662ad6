"""Work that recurs: the task that a goal with a `cycle` makes when it is due, and the proof that
a task is one (spec 5.2.3, decision D504).

The task is the approved plan itself: everything in it is copied from the plan and bound by the
policy, or the same in every such task. The slot, which is the moment that it is due for, decides
its id and nothing else; so a slot has one task, however often a crash begins it again.
"""

import re
from datetime import datetime
from typing import Any

from silas.canonical import digest, sha256_hex
from silas.errors import PlanFamilyError
from silas.plans.goals.limits import TIDIES
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.spawn import CONSTANT, bound_escalations, inherited_fields, standing_policy

_ID = re.compile(r"task-[0-9a-f]{32}")


def recurring_policy(item: WorkItem) -> str:
    """What a standing approval of recurring work binds, from the goal or from its task.

    The title, the briefing, the budget and what follows a failure, besides all that
    `standing_policy` binds of a goal: checks, gates, skills, escalations and what it may touch.
    """
    return digest(
        {
            "cycle": item.cycle,
            "title": item.title,
            "body": item.body,
            "budget": item.budget.model_dump(mode="json"),
            "on_failure": item.on_failure,
            "standing_policy": standing_policy(item),
        }
    )


def recurring_task(goal: WorkItem, slot: str, now: datetime) -> WorkItem:
    """The task of one slot: the goal's own work.

    Args:
        goal: An approved goal of `cycle: work` or `cycle: when`.
        slot: For which moment it is due, as its job names it.
        now: When it is made.

    Raises:
        PlanFamilyError: `E_PLAN_SPAWN`: not such a goal, or it has no briefing.
    """
    does = goal.cycle is not None and goal.cycle != TIDIES and goal.body.strip()
    if goal.type is not WorkItemType.goal or not does:
        raise PlanFamilyError(
            f"{goal.id} has no work that recurs: that takes a goal with `cycle: work` and a "
            "briefing.",
            code="E_PLAN_SPAWN",
            work_item_id=goal.id,
        )
    return WorkItem(
        id=task_id_of(goal.id, slot),
        title=goal.title,
        body=goal.body,
        cycle=goal.cycle,
        created_at=now,
        **inherited_fields(goal),
    )


def task_id_of(goal_id: str, slot: str) -> str:
    """The id of a slot's task: the same slot has the same one, another slot another."""
    return "task-" + sha256_hex(f"{goal_id}\0{slot}".encode())[:32]


def recurring_product(task: WorkItem) -> str:
    """The policy of which a task provably is the product, or an empty text."""
    constant: dict[str, Any] = {**CONSTANT, "spawned_by": task.parent, "cycle": task.cycle}
    if task.cycle is None or task.type is not WorkItemType.task or not task.parent:
        return ""
    if not _ID.fullmatch(task.id):
        return ""
    if any(getattr(task, name) != value for name, value in constant.items()):
        return ""
    if sorted(task.escalation) != bound_escalations(task):
        return ""
    return recurring_policy(task)
