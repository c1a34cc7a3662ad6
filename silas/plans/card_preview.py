"""The card of a plan wherever it is only looked at: what a question about it would show now."""

from silas.cards.models import PlanCard
from silas.errors import ApprovalError
from silas.plans.binding import bound_files, bound_shown, bound_tools
from silas.plans.bound_files import files_of
from silas.plans.card import Files, files_hash, plan_card
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.projects.card import BoundPlan, project_card, project_hash
from silas.plans.subject import plan_bytes, plan_hash
from silas.sandbox.toolchains.mounts import ToolSearch


def preview_card(item: WorkItem, *, rationale: str, search: ToolSearch) -> PlanCard:
    """A plan's card with the files that it runs and the owner's tools.

    Both are those that its approval binds; of a plan that nobody approved, those of now. Looks at
    the disk, so an event loop calls it in a thread.

    Args:
        item: The plan.
        rationale: As `plan_card` takes it.
        search: What finds the owner's tools.
    """
    own = _bound(item, search)
    if item.type is WorkItemType.project and item.children:
        return project_card(own, [_bound(child, search) for child in item.children], rationale)
    return plan_card(
        own.canonical, rationale=rationale, files=own.files, tools=own.tools, shown=own.shown
    )


def _bound(item: WorkItem, search: ToolSearch) -> BoundPlan:
    return BoundPlan(
        plan_bytes(item), preview_files(item), preview_tools(item, search), bound_shown(item)
    )


def preview_files(item: WorkItem) -> Files:
    """The files that a card of this item lists: as its token binds them, or as they are now."""
    if item.approval_token is not None:
        return bound_files(item)
    try:
        return files_of(item)
    except ApprovalError:
        return {}  # no approval of this can be given; whoever asks for one is told why


def preview_hash(item: WorkItem) -> str:
    """The hash that a card of this item says yes to: over the plan and the files it would list, and
    of a project over its tasks with theirs.
    """
    if item.type is WorkItemType.project and item.children:
        return project_hash(_approves(item), [_approves(child) for child in item.children])
    return _approves(item)


def _approves(item: WorkItem) -> str:
    plan = plan_hash(item)
    return files_hash(plan, preview_files(item)) or plan


def preview_tools(item: WorkItem, search: ToolSearch) -> Files:
    """The owner's tools likewise."""
    return search.found(item.workspace) if item.approval_token is None else bound_tools(item)
