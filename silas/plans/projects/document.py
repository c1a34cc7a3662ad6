"""The text of a project: its own plan, and behind it those of its tasks (spec 13.5, D530).

=== task: task-run-tests ===
---
id: task-run-tests
...

A line of this form begins the plan of a task, which ends at the next one or with the text. What is
hashed of a project has the ids alone, so a text that holds all of it is what every door takes.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from silas.plans.errors import PlanError
from silas.plans.models import WorkItem

_HEAD: Final = re.compile(r"=== task: (?P<id>\S{1,128}) ===")


class TaskText(NamedTuple):
    """The plan of one task as the text of its project has it.

    Attributes:
        id: As the line above it has it.
        text: From the line below it on.
        line: The number of the line above it in the text of the project, counted from 1.
    """

    id: str
    text: str
    line: int


class ProjectText(NamedTuple):
    """A project's own briefing, and the plans of its tasks in the order of the text."""

    briefing: str
    tasks: tuple[TaskText, ...]


def split_project(body: str, markdown: str) -> ProjectText:
    """Part what stands below the front matter of a project.

    Args:
        body: What stands there.
        markdown: The whole text, in which lines are counted.

    Raises:
        PlanError: `E_PLAN_TASKS`: a task stands in it twice.
    """
    heads = [n for n, line in enumerate(markdown.split("\n"), 1) if _HEAD.fullmatch(line.strip())]
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line in body.split("\n"):
        found = _HEAD.fullmatch(line.strip())
        if found is None:
            parts[-1][1].append(line)
        else:
            parts.append((found["id"], []))
    at = heads[len(heads) - (len(parts) - 1) :] if len(parts) > 1 else []
    tasks: list[TaskText] = []
    for (name, lines), number in zip(parts[1:], at, strict=True):
        if any(one.id == name for one in tasks):
            raise PlanError(
                number, 1, f"the task {name} is given twice; leave one of them", code="E_PLAN_TASKS"
            )
        tasks.append(TaskText(name, "\n".join(lines), number))
    return ProjectText("\n".join(parts[0][1]).rstrip(), tuple(tasks))


def join_project(project: str, tasks: Iterable[tuple[str, str]]) -> str:
    """The text of a project with the plans of these tasks, each with its id, behind it."""
    parts = (f"\n\n=== task: {name} ===\n{text.strip()}\n" for name, text in tasks)
    return project.rstrip() + "".join(parts)


def attach_task(project: WorkItem, named: str, task: WorkItem) -> WorkItem:
    """A task as a part of its project: its parent is the project, and it has the project's skills
    where it names none (spec 10.3).

    Args:
        project: Whose.
        named: The id under which the project's text has it.
        task: Its plan.

    Raises:
        ValueError: It is another task, or belongs to other work.
    """
    if task.id != named:
        raise ValueError(f"it has the id {task.id}; give it the id {named}")
    if task.parent not in (None, project.id):
        raise ValueError(f"it belongs to {task.parent}; take `parent` out of it")
    skills = task.skills if "skills" in task.model_fields_set else list(project.skills)
    return task.model_copy(update={"parent": project.id, "skills": skills})


def listed_first(project: WorkItem, children: list[WorkItem]) -> list[WorkItem]:
    """Tasks in the order in which their project names them; those that it does not name last."""
    places = {name: number for number, name in enumerate(project.tasks)}
    return sorted(children, key=lambda child: places.get(child.id, len(places)))
