"""What the approvals of a project and of its tasks sign about each other (decision D530)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from silas.approval import ApprovalToken
from silas.plans.models import WorkItem
from silas.plans.subject import plan_hash

TASKS: Final = "tasks"
"""The condition of a project's token: the digest of each of its tasks, by id."""

PROJECT: Final = "project"
"""The condition of a task's token: the id of the project's token that it was minted with."""


def of_project(children: Sequence[WorkItem]) -> dict[str, Any]:
    """What the token of a project with these tasks signs of them."""
    return {TASKS: {child.id: plan_hash(child) for child in children}}


def of_task(token: ApprovalToken) -> dict[str, Any]:
    """What the token of a task signs of its project's."""
    return {PROJECT: token.token_id}


def foreign_task(project: WorkItem, children: Sequence[WorkItem]) -> str:
    """Why these are not the tasks that were approved with a project, in one sentence; nothing where
    they are.

    Args:
        project: With its token.
        children: Its tasks with theirs.
    """
    token = project.approval_token
    signed: Mapping[str, object] = {} if token is None else _digests(token)
    if sorted(signed) != sorted(child.id for child in children):
        return f"The tasks of {project.id} are not those that were approved with it."
    for child in children:
        if signed[child.id] != plan_hash(child):
            return f"The task {child.id} is not the one that was approved with {project.id}."
        own = child.approval_token
        if own is None or token is None or own.conditions.get(PROJECT) != token.token_id:
            return f"The task {child.id} was approved elsewhere, which does not count here."
    return ""


def _digests(token: ApprovalToken) -> Mapping[str, object]:
    found = token.conditions.get(TASKS)
    return cast(Mapping[str, object], found) if isinstance(found, Mapping) else {}
