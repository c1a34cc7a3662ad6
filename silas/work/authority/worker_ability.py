"""Whether the worker that a plan names can do the work, as the files of workers are now."""

from collections.abc import Callable

from silas.agents.worker_file import DELEGATE, Worker
from silas.agents.workers import Team, Workers
from silas.approval.grants import grants_of
from silas.errors import ConfigError
from silas.language import tr
from silas.plans import WorkItem
from silas.skills import Skills
from silas.tools.models import Stance

ToolsOf = Callable[[frozenset[str]], frozenset[str]]
"""The names of all tools of these toolsets, as they are loaded now."""


class WorkerAbility:
    """Knows what workers are offered.

    Args:
        workers: Reads the files.
        skills: What is installed.
        tools_of: Knows the tools of the toolsets that the configuration mounts.
        max_depth: How many workers deep a task may be handed on.
    """

    def __init__(self, workers: Workers, skills: Skills, tools_of: ToolsOf, max_depth: int) -> None:
        self._workers = workers
        self._skills = skills
        self._tools_of = tools_of
        self.max_depth = max_depth

    def refuse(self, item: WorkItem) -> str:
        """Why the worker that a plan names cannot do the work; nothing where it can."""
        if item.worker is None:
            return ""
        try:
            team = self._workers.team(item.worker)
        except ConfigError as error:
            return f"The plan's `worker` cannot do it: {error.message}"
        missing = self._skills.missing(team.skills())
        if missing:
            return f"The plan's `worker` needs skills that are not installed: {', '.join(missing)}."
        idle = next((name for name in _granted_tools(item) if not self._can_call(team, name)), "")
        if idle:
            return tr(
                "The plan grants the tool {tool}, which its worker {worker} cannot call: no file "
                "of a worker that would do the work offers it, or each blocks it. Take it out of "
                "`tools`, or change `toolsets` or `approval` in the worker's file.",
                tool=repr(idle),
                worker=repr(item.worker),
            )
        return ""

    def offered_tools(self, worker: Worker) -> frozenset[str]:
        """The tools that a worker's file gives it, with the one by which it hands tasks on."""
        tools = worker.offer.tools | self._tools_of(worker.offer.mounted)
        return tools | {DELEGATE} if worker.delegates and self.max_depth else tools

    def _can_call(self, team: Team, tool: str) -> bool:
        """Whether anybody of a team is offered a tool and does not block it whatever its call."""
        return any(
            tool in self.offered_tools(member)
            and member.offer.policy.tools.get(tool) is not Stance.blocked
            for member in team.members.values()
        )


def _granted_tools(item: WorkItem) -> tuple[str, ...]:
    """The tools that a plan grants; how their grants are written is refused elsewhere."""
    return tuple(grant.tool for grant in grants_of(item.tools))
