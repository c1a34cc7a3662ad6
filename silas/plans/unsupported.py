"""What a plan names that this version cannot do, told from the plan alone (decision D365)."""

from collections.abc import Set as AbstractSet

from silas.gates import GateProvider, GateTrigger
from silas.plans.allowed_hosts import hosts_of, hosts_of_check
from silas.plans.goals.limits import unable_goal
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.projects.limits import unable_project
from silas.sandbox.network.names import EgressRefused

_IN_A_TASK = frozenset(
    {GateTrigger.after_step, GateTrigger.on_tool_call, GateTrigger.every_agent_response}
)
"""What a task comes to; a gate for anything else would never be asked."""


def unsupported(item: WorkItem, providers: AbstractSet[GateProvider]) -> str:
    """Why no approval could make this plan run, in one sentence; nothing where one could.

    Args:
        item: The plan.
        providers: Who evaluates gates in this version.
    """
    found = _kind(item) or _clock(item) or _gates(item, providers) or _hosts(item)
    if found:
        return found
    for child in item.children:
        if found := unsupported(child, providers):
            return f"The task {child.id} could not run. {found}"
    return ""


def _kind(item: WorkItem) -> str:
    if item.type is WorkItemType.project:
        return unable_project(item)
    return unable_goal(item) if item.type is WorkItemType.goal else ""


def _clock(item: WorkItem) -> str:
    if item.schedule is None or item.type is WorkItemType.goal:
        return ""
    return f"Only a goal runs by the clock; take `schedule` out of {item.id}."


def _gates(item: WorkItem, providers: AbstractSet[GateProvider]) -> str:
    for gate in item.gates:
        if gate.provider not in providers:
            return (
                f"This version has no provider {gate.provider} for the gate {gate.name!r}; give it "
                "`provider: predicate`, or take it out of the plan."
            )
        if gate.on not in _IN_A_TASK:
            return (
                f"The gate {gate.name!r} is for {gate.on}, to which a task never comes; give it "
                "`on: after_step`, `on_tool_call` or `every_agent_response`, or take it out of "
                "the plan."
            )
    return ""


def _hosts(item: WorkItem) -> str:
    """The first host that is no plain name; a plan that no parser read may name one."""
    try:
        hosts_of(item.network)
        for check in item.verify:
            hosts_of_check(check.network, check.run, item.network)
    except EgressRefused as refusal:
        return f"The plan names what cannot be reached by name: {refusal.message}"
    return ""
