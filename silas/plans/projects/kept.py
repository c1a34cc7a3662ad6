"""A project with its tasks, which the store keeps as items of their own."""

from silas.plans.models import WorkItem, WorkItemType
from silas.plans.port import WorkItemStore
from silas.plans.projects.document import listed_first


async def with_tasks(item: WorkItem, store: WorkItemStore) -> WorkItem:
    """The item; where it is a project, with its tasks as they are kept now."""
    if item.type is WorkItemType.project:
        found = [await store.get(name) for name in item.tasks]
        item.children = listed_first(item, [child for child in found if child is not None])
    return item
