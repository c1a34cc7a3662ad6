"""A project with its tasks, which the store keeps as items of their own."""

from silas.plans.models import WorkItem, WorkItemStatus, WorkItemType
from silas.plans.port import WorkItemStore
from silas.plans.projects.document import listed_first


async def with_tasks(item: WorkItem, store: WorkItemStore) -> WorkItem:
    """The item; where it is a project, with its tasks as they are kept now."""
    if item.type is WorkItemType.project:
        found = [await store.get(name) for name in item.tasks]
        item.children = listed_first(item, [child for child in found if child is not None])
    return item


async def waiting_project(task: WorkItem, store: WorkItemStore) -> WorkItem | None:
    """The project of a task, where it has not ended: it runs, or waits for its owner's yes to
    changes of a task.
    """
    project = None if task.parent is None else await store.get(task.parent)
    if project is None or project.type is not WorkItemType.project:
        return None
    ended = project.status not in (WorkItemStatus.blocked, WorkItemStatus.running)
    return None if ended else await with_tasks(project, store)
