"""A model's project in fields: what it may leave out, since it can mean one thing only. Pure.

Its tasks name each other, so ids are made before the text is; they are on the card like all else.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from silas.plans.draft import id_from

_PROJECT: Final = "project"
_WORKSPACE: Final = "workspace"


def with_task_fields(project: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a project in which it and each of its tasks have an id and say where it works.

    An id is made of the title and of all that the project says: the same plan has the same ids,
    another plan others. A task that `depends_on` the title of one waits for that one. A task that
    says nothing of a workspace works in its project's; one that says `null` works in none.

    Args:
        project: Its fields, `tasks` among them; of any other plan nothing is changed.
    """
    told, tasks = dict(project), project.get("tasks")
    if told.get("type") != _PROJECT or not isinstance(tasks, list):
        return told
    said = json.dumps(told, sort_keys=True, ensure_ascii=False, default=str)
    if not told.get("id"):
        told["id"] = id_from(_PROJECT, str(told.get("title", "")), said)
    shared = {_WORKSPACE: told[_WORKSPACE]} if told.get(_WORKSPACE) else {}
    named: list[object] = []
    for number, one in enumerate(cast(list[object], tasks), 1):
        task = fields_of(one)
        named.append(one if task is None else _with_id({**shared, **task}, f"{number} {said}"))
    ids = _ids_by_title([task for one in named if (task := fields_of(one)) is not None])
    told["tasks"] = [
        one if (task := fields_of(one)) is None else _with_places(task, ids) for one in named
    ]
    return told


def fields_of(plan: Any) -> dict[str, Any] | None:
    """The fields of a plan that is an object, or one in JSON; None where it is neither."""
    if isinstance(plan, str) and plan.lstrip().startswith("{"):
        try:
            plan = json.loads(plan)
        except ValueError:
            return None
    return dict(cast(Mapping[str, Any], plan)) if isinstance(plan, Mapping) else None


def _ids_by_title(tasks: list[dict[str, Any]]) -> dict[str, str]:
    """The id of each task whose title no other one has."""
    titles = [str(task.get("title")) for task in tasks]
    found = zip(titles, tasks, strict=True)
    return {title: str(task["id"]) for title, task in found if titles.count(title) == 1}


def _with_id(task: dict[str, Any], said: str) -> dict[str, Any]:
    return task if task.get("id") else {**task, "id": id_from("task", str(task.get("title")), said)}


def _with_places(task: dict[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    """The task with ids where it waits for titles."""
    waits = task.get("depends_on")
    if not isinstance(waits, list):
        return task
    return {**task, "depends_on": [ids.get(str(one), one) for one in cast(list[object], waits)]}
