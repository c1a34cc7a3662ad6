"""The ids of the rest of a project, and which project one is the rest of."""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from silas.plans.models import WorkItem, WorkItemType
from silas.plans.port import WorkItemStore
from silas.plans.projects.kept import with_tasks

_NUMBERED: Final = re.compile(r"(?P<name>.+)-rest(?:-(?P<number>[1-9]\d{0,8}))?")
_MOST: Final = 20  # rests of one project that are looked for


def rest_number(name: str) -> int:
    """The number of the rest of work of this id: 1 where it is no rest itself."""
    found = _NUMBERED.fullmatch(name)
    return 1 if found is None else int(found["number"] or 1) + 1


def rest_name(name: str, number: int) -> str:
    """The id of the rest with this number."""
    base = base_name(name)
    return f"{base}-rest" if number == 1 else f"{base}-rest-{number}"


def base_name(name: str) -> str:
    """The id of the work that this is a rest of, or of a rest of; its own where it is none."""
    found = _NUMBERED.fullmatch(name)
    return name if found is None else found["name"]


def is_rest(item: WorkItem) -> bool:
    """Whether a plan is called as the rest of a project is."""
    return item.type is WorkItemType.project and base_name(item.id) != item.id


async def former_plans(
    item: WorkItem, get: Callable[[str], Awaitable[WorkItem | None]]
) -> list[WorkItem]:
    """The projects that a plan may be the rest of: by its ids and its tasks'."""
    if not is_rest(item):
        return []
    number = rest_number(item.id) - 1
    below = range(number - 1, max(number - _MOST, 0), -1)
    names = [*(rest_name(item.id, one) for one in below), base_name(item.id)]
    tasks = {base_name(one) for one in item.tasks}
    found = [await get(name) for name in names]
    return [
        former
        for former in found
        if former is not None and tasks <= {base_name(one) for one in former.tasks}
    ]


async def former_projects(item: WorkItem, store: WorkItemStore) -> list[WorkItem]:
    """The same with their tasks."""
    return [await with_tasks(former, store) for former in await former_plans(item, store.get)]
