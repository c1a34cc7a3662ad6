"""Why a project could not run though it were approved, told from its plans alone (5.2.2)."""

from typing import Final

from silas.language import tr_later
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.projects.graph import cycle_in

_NONE: Final = tr_later("no project")

MOST_TASKS: Final = 50
"""Tasks of one project: what a person can read on one card."""


def unable_project(item: WorkItem) -> str:
    """The first reason, in one sentence; nothing where it could run.

    Args:
        item: The project, with the plans of its tasks in `children`.
    """
    return _check_tasks(item) or _check_task_plans(item) or _graph(item)


def _check_tasks(item: WorkItem) -> str:
    if not item.tasks:
        return f"{item.id} is a project without tasks; name them under `tasks`."
    if len(item.tasks) > MOST_TASKS:
        return (
            f"{item.id} has {len(item.tasks)} tasks, and a project has at most {MOST_TASKS}; make "
            "it several projects."
        )
    if item.escalation or item.gates or item.tools or item.worker or item.credential_refs:
        return (
            f"{item.id} is a project, which does no work of its own; give `gates`, `escalation`, "
            "`tools`, `worker` and `credential_refs` to the tasks that need them."
        )
    return ""


def _check_task_plans(item: WorkItem) -> str:
    """What is wrong with the plans of its tasks."""
    given = [child.id for child in item.children]
    for name in item.tasks:
        if name not in given:
            return (
                f"The task {name} of {item.id} is missing; put its plan behind the project's, "
                f"below a line `=== task: {name} ===`, or, where you run it from a file, into "
                f"{name}.md beside that file."
            )
    for child in item.children:
        if child.id not in item.tasks:
            return f"{item.id} does not name {child.id}; add it to `tasks`, or leave it out."
        if given.count(child.id) > 1:
            return f"The task {child.id} is given twice; leave one of them."
        if child.type is not WorkItemType.task:
            return (
                f"{child.id} is a {child.type}, and a project has tasks only; run it as a plan of "
                "its own."
            )
        if child.parent != item.id:
            return f"{child.id} belongs to {child.parent or _NONE} and not to {item.id}."
    return ""


def _graph(item: WorkItem) -> str:
    for child in item.children:
        for name in child.depends_on:
            if name not in item.tasks:
                return (
                    f"{child.id} waits for {name}, which is no task of {item.id}; name it under "
                    "`tasks`, or take it out of `depends_on`."
                )
    ring = cycle_in({child.id: child.depends_on for child in item.children})
    if ring:
        return (
            f"The tasks of {item.id} wait for each other in a circle: {' -> '.join(ring)}; take "
            "one `depends_on` out."
        )
    return ""
