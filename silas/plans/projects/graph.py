"""The tasks of a project as a directed graph: what is wrong with it, and what may run next (5.2.2).

Pure: nothing is looked up and nothing is run.
"""

from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from posixpath import commonpath

from silas.plans.models import WorkItem


def cycle_in(waits_for: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Tasks that wait for each other in a ring, the first of them again at the end; or nothing.

    Args:
        waits_for: The ids that each id waits for.
    """
    try:
        TopologicalSorter(waits_for).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1]))  # each waits for the one behind it
    return ()


def may_begin(
    tasks: Iterable[WorkItem], done: Collection[str], begun: Collection[str]
) -> list[WorkItem]:
    """Those that wait for nothing and that keep out of the way of what runs, in their order.

    Args:
        tasks: Of the project.
        done: The ids of those that are done.
        begun: The ids of those that were begun, done or not.
    """
    tasks = list(tasks)
    busy = [one for one in tasks if one.id in begun and one.id not in done]
    found: list[WorkItem] = []
    for task in tasks:
        free = task.id not in begun and set(task.depends_on) <= set(done)
        if free and not any(collide(task, other) for other in (*busy, *found)):
            found.append(task)
    return found


def collide(one: WorkItem, other: WorkItem) -> bool:
    """Whether two tasks cannot run at once: one works where the other works or reads."""
    return any(
        _within(place, seen) or _within(seen, place)
        for here, there in ((one, other), (other, one))
        if (place := here.workspace)
        for seen in (there.workspace, *there.read)
        if seen
    )


def _within(path: str, root: str) -> bool:
    return commonpath((path, root)) == root


def steps(tasks: Iterable[WorkItem]) -> list[list[WorkItem]]:
    """The tasks in steps: each in the first one after all that it waits for, in their order.

    Args:
        tasks: Of a project; they wait for each other in no ring.
    """
    tasks, found = list(tasks), list[list[WorkItem]]()
    names, placed = {one.id for one in tasks}, set[str]()
    while len(placed) < len(tasks):
        step = [
            one for one in tasks if one.id not in placed and (set(one.depends_on) & names) <= placed
        ]
        if not step:  # a ring, which no approved project has
            step = [one for one in tasks if one.id not in placed]
        placed |= {one.id for one in step}
        found.append(step)
    return found
