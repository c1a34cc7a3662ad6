"""Whether the ids that a plan names are those of other plans (spec 5.2.2, 5.2.3)."""

from silas.language import tr
from silas.plans.models import WorkItem, WorkItemStatus
from silas.plans.port import WorkItemStore
from silas.plans.subject import plan_hash


async def taken_id(item: WorkItem, store: WorkItemStore) -> str:
    """Why an id of this plan, or of one of its tasks, is not free; nothing where each is.

    A plan that was approved to the letter may be run again under its id, and so it may where what
    is stored under that id is not what was approved any more.
    """
    known = await store.get(item.id)
    if known is not None and not is_same_plan(item, known):
        return another_plan(item)
    for child in item.children:
        if taken := await taken_child(item, child, store):
            return taken
    return ""


async def why_ids_taken(item: WorkItem, store: WorkItemStore) -> str:
    """Why no new work can have these ids, or that it is under way; nothing where it can."""
    if taken := await taken_id(item, store):
        return taken
    for one in (item, *item.children):
        if running := await why_running(one, store):
            return running
    return ""


async def why_running(item: WorkItem, store: WorkItemStore) -> str:
    """That it runs, since a second run would share the first one's scratch copy and repeat its
    effects; nothing where it does not.
    """
    known = await store.get(item.id)
    if known is None or known.status is not WorkItemStatus.running:
        return ""
    return tr("{id} is running already, or was interrupted: `silas chat` resumes it", id=item.id)


def is_same_plan(item: WorkItem, known: WorkItem) -> bool:
    """Whether a plan is the one that is stored under its id, or the one whose approval is."""
    token = known.approval_token
    signed = "" if token is None else token.plan_hash
    return plan_hash(item) in (plan_hash(known), signed)


async def taken_child(project: WorkItem, child: WorkItem, store: WorkItemStore) -> str:
    """The same of a task of a project; its approval as something else does not count."""
    known = await store.get(child.id)
    if known is not None and known.parent != project.id:
        return (
            f"the task {child.id} was approved elsewhere, as work of its own, and that does not "
            f"count for {project.id}; give it another id."
        )
    return await taken_id(child, store)


def another_plan(item: WorkItem) -> str:
    """What is said where a plan has the id of another one."""
    return f"another plan with the id {item.id} exists already, so give this one another id."
