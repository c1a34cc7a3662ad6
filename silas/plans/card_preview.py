"""The card of a plan wherever it is only looked at: what a question about it would show now."""

from collections.abc import Callable
from typing import NamedTuple

from silas.approval import ApprovalScope
from silas.cards.models import PlanCard
from silas.errors import ApprovalError, ConfigError
from silas.plans.binding import ShownTo, bound_files, bound_shown, bound_tools, shown_now
from silas.plans.bound_files import files_of
from silas.plans.card import Files, files_hash, plan_card
from silas.plans.goals.standing import AS_SHIPPED, StandingLimit, limit_asked, limit_signed
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.projects.card import BoundPlan, project_card, project_hash
from silas.plans.subject import plan_bytes, plan_hash
from silas.sandbox.toolchains.mounts import ToolSearch


class PlanLook(NamedTuple):
    """What looks up that which a card shows and a plan does not say.

    Attributes:
        tools: Finds the owner's tools.
        shown_to: Who outside this machine is shown what the work reads.
        standing_limit: How far a yes to a goal would go now, in uses and days.
    """

    tools: ToolSearch
    shown_to: ShownTo
    standing_limit: Callable[[], StandingLimit]


def preview_card(item: WorkItem, *, rationale: str, look: PlanLook) -> PlanCard:
    """A plan's card with the files that it runs, the owner's tools, and who is shown what it reads.

    All are those that its approval binds; of a plan that nobody approved, those of now. Looks at
    the disk, so an event loop calls it in a thread.

    Args:
        item: The plan.
        rationale: As `plan_card` takes it.
        look: What looks them up.
    """
    own = _bind_plan(item, look)
    if item.type is WorkItemType.project and item.children:
        return project_card(own, [_bind_plan(child, look) for child in item.children], rationale)
    return plan_card(
        own.canonical,
        rationale=rationale,
        files=own.files,
        tools=own.tools,
        shown=own.shown,
        standing=_standing(item, look.standing_limit),
    )


def _standing(item: WorkItem, standing_limit: Callable[[], StandingLimit]) -> StandingLimit:
    """How far a yes to a goal goes: the one that was given, or one that would be given now."""
    if item.type is not WorkItemType.goal:
        return AS_SHIPPED
    token = item.approval_token
    if token is None or token.scope is not ApprovalScope.standing:
        return limit_asked(standing_limit(), item.standing)
    return limit_signed(token.max_executions, token.issued_at, token.expires_at, item.standing)


def _bind_plan(item: WorkItem, look: PlanLook) -> BoundPlan:
    return BoundPlan(
        plan_bytes(item),
        preview_files(item),
        preview_tools(item, look.tools),
        preview_shown(item, look.shown_to),
    )


def preview_shown(item: WorkItem, shown_to: ShownTo) -> Files:
    """Who a card of this item says is shown what it reads: as its token binds it, or as now."""
    if item.approval_token is not None:
        return bound_shown(item)
    try:
        return shown_now(item, shown_to)
    except ConfigError:
        return {}  # its worker is not there, so no approval of it can be given


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
    return search.find_tools(item.workspace) if item.approval_token is None else bound_tools(item)
