"""What a plan names that this version cannot do, told before it is asked (decision D365)."""

from collections.abc import Set as AbstractSet

from silas.gates import GateProvider, GateTrigger
from silas.plans.allowed_hosts import hosts_of, hosts_of_check
from silas.plans.goals.limits import REPORTS, blind_check, unable_goal
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.projects.limits import unable_project
from silas.sandbox.network.names import EgressRefused

_ON_STUCK = frozenset({"consult_planner", REPORTS})
_OF_OTHERS = ("depends_on", "follow_up_of", "input_artifacts_from")
_IN_A_TASK = frozenset(
    {GateTrigger.after_step, GateTrigger.on_tool_call, GateTrigger.every_agent_response}
)
"""What a task comes to; a gate for anything else would never be asked."""


def why_unsupported(item: WorkItem, providers: AbstractSet[GateProvider]) -> str:
    """Why no approval could make this plan run, in one sentence; nothing where one could.

    Args:
        item: The plan.
        providers: Who evaluates gates in this version.
    """
    found = (
        _kind(item)
        or blind_check(item)
        or _clock(item)
        or _failing(item)
        or _inputs(item)
        or _gates(item, providers)
    )
    found = found or _hosts(item)
    if found:
        return found
    for child in item.children:
        if found := why_unsupported(child, providers):
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


def _failing(item: WorkItem) -> str:
    """What shall follow a failure, where nothing would; a goal's task has its goal's answers."""
    if item.on_stuck not in _ON_STUCK:
        return (
            f"What {item.id} does when it is stuck is {item.on_stuck!r}, which nothing can do; use "
            "`on_stuck: consult_planner` or `report`."
        )
    if item.type is WorkItemType.goal or item.spawned_by is not None:
        return ""
    if item.on_failure != REPORTS:
        return (
            f"What follows a failure of {item.id} is {item.on_failure!r}, which only a goal can "
            "do; take `on_failure` out of it."
        )
    if item.failure_context is not None:
        return (
            f"Only a goal starts work after a failing check; take `failure_context` out of "
            f"{item.id}."
        )
    return ""


def _inputs(item: WorkItem) -> str:
    """What it would have of other work, where it cannot have any."""
    if item.type is WorkItemType.goal:
        given = (item.depends_on, item.follow_up_of, item.input_artifacts_from)
        for name, value in zip(_OF_OTHERS, given, strict=True):
            if value:
                return f"A goal waits for no other work; take `{name}` out of {item.id}."
    if item.input_artifacts_from and item.follow_up_of is None:
        return (
            f"{item.id} asks for artifacts of no work; name the work under `follow_up_of`, or take "
            "`input_artifacts_from` out of it."
        )
    return ""


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
