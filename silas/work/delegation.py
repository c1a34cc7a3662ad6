"""`delegate`: one worker hands a task to another, by name, through the tool door."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from pydantic import Field

from silas.agents.worker_file import DELEGATE
from silas.tools import CallFacts, RiskLevel, ToolCallContext, ToolConfig, ToolResult
from silas.tools.builtin.base import BuiltInTool
from silas.tools.builtin.sandboxed import Argument, Arguments
from silas.tools.toolset import WORKER

Delegated = Callable[[ToolCallContext, str, str], Awaitable[ToolResult]]
"""Lets a worker do a task for the run that the context is of."""

DELEGATE_CONFIG: Final = ToolConfig(connector_id="workers", risk_default=RiskLevel.low)
"""Low: whatever the other worker does is a call of its own."""


class DelegateArguments(Arguments):
    """To whom, and what is to be done, in prose: the other sees nothing else."""

    worker: Annotated[Argument, Field(min_length=1, max_length=64)]
    task: Annotated[Argument, Field(min_length=1)]


class DelegateTool(BuiltInTool):
    """Hands a task to another worker. Its own effect is none: every effect is a call of theirs.

    It repeats nothing by itself: what the other worker did is in the journal call by call.
    """

    name = DELEGATE
    words = (
        "Hand a task to another worker and get its report. It sees the task and the same "
        "workspace, nothing else; it has its own tools and rules."
    )
    action = "delegate"
    arguments = DelegateArguments
    roles = (WORKER,)  # only a worker whose file allows it is offered it
    repeatable = True
    previewed = "Would hand a task to another worker."

    def __init__(self, delegated: Delegated) -> None:
        self._delegated = delegated

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """Nothing: it changes nothing and carries nothing out."""
        return CallFacts(state_changing=False, egress=False, addressed=False)

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Have it done; a worker that fails is a result, not an error."""
        return await self._delegated(context, request["worker"], request["task"])
