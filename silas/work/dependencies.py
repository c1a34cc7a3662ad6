"""What a task needs of other work before it starts: what it waits for, what it deepens (0.5)."""

from typing import NamedTuple

from silas.plans import WorkItem, WorkItemStatus, WorkItemStore


class InheritedWork(NamedTuple):
    """Artifacts by name; `missing` says in words what is not there, and is empty otherwise."""

    artifacts: dict[str, str]
    missing: str = ""


async def inherited_work(item: WorkItem, store: WorkItemStore) -> InheritedWork:
    """Artifacts of `follow_up_of`, if everything the item builds on is done."""
    for waited_for in item.depends_on:
        known = await store.get(waited_for)
        if known is None or known.status is not WorkItemStatus.done:
            return InheritedWork({}, f"It waits for {waited_for}, which is not done.")
    if item.follow_up_of is None:
        return InheritedWork({})
    prior = await store.get_result(item.follow_up_of)
    if prior is None or prior.status is not WorkItemStatus.done:
        return InheritedWork({}, f"It follows up {item.follow_up_of}, which is not completed work.")
    wanted = set(item.input_artifacts_from)
    everything = "*" in wanted
    absent = sorted(wanted - {"*"} - prior.artifacts.keys())
    if absent:
        return InheritedWork({}, f"{item.follow_up_of} has no artifact {', '.join(absent)}.")
    chosen = {n: text for n, text in prior.artifacts.items() if everything or n in wanted}
    return InheritedWork(chosen)
