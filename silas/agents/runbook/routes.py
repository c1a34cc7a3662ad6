"""Where a request goes: answered at once, or to the planner with a plan of the library."""

from typing import Final

from silas.agents.models import AgentResponse, PlanAction, PlanActionType, RouteDecision
from silas.agents.runbook.by_the_clock import NO_SUCH_TIME, RecurringRequest, tidying_goal
from silas.language import tr
from silas.types import InteractionMode, InteractionRegister

_DEFAULT_PROFILE: Final = "default"
"""Stands where a route must name a context profile; a route that names none gets the first."""


def direct(reason: str, response: AgentResponse) -> RouteDecision:
    """An answer at once; nothing is planned."""
    return RouteDecision(
        route="direct",
        reason=reason,
        response=response,
        interaction_register=InteractionRegister.status,
        interaction_mode=InteractionMode.default_and_offer,
        context_profile=_DEFAULT_PROFILE,
    )


def to_planner(
    reason: str,
    mode: InteractionMode = InteractionMode.act_and_report,
    continuation_of: str | None = None,
) -> RouteDecision:
    """To the planner, which fills a plan of the library or repeats an earlier one."""
    return RouteDecision(
        route="planner",
        reason=reason,
        interaction_register=InteractionRegister.execution,
        interaction_mode=mode,
        continuation_of=continuation_of,
        context_profile=_DEFAULT_PROFILE,
    )


def propose_tidying(wanted: RecurringRequest, item_id: str, workspace: str) -> AgentResponse:
    """The goal that has a folder tidied by the clock.

    Args:
        wanted: When, and which folder.
        item_id: Of the plan that a turn makes.
        workspace: The folder that the request is about; empty for none.
    """
    plan = tidying_goal(item_id.replace("task-", "goal-", 1), wanted, workspace)
    said = tr("I propose to look at a folder by the clock and to ask you batch by batch.")
    action = PlanAction(action=PlanActionType.propose, plan_markdown=plan)
    return AgentResponse(message=said, plan_action=action)


def at_its_times(wanted: RecurringRequest) -> RouteDecision:
    """To the planner with work that recurs, where cron can say when."""
    if wanted.fault or not wanted.cron:
        said = AgentResponse(message=wanted.fault or tr(NO_SUCH_TIME), understood=False)
        return direct("asked for work at times that no goal has", said)
    return to_planner(
        "the plan library has a plan for this, to be done by the clock",
        InteractionMode.confirm_only_when_required,
    )
