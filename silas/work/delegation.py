"""`delegate`: one worker hands a task to another, by name, through the tool door."""

from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Annotated, Any, Final

from pydantic import Field

from silas.agents.worker_file import DELEGATE
from silas.tools import (
    SANDBOX_SCOPE,
    CallFacts,
    PreviewResult,
    RiskLevel,
    Stance,
    ToolCallContext,
    ToolConfig,
    ToolResult,
)
from silas.tools.builtin.sandboxed import Argument, Arguments, validated_arguments
from silas.tools.toolset import WORKER

Delegated = Callable[[ToolCallContext, str, str], Awaitable[ToolResult]]
"""Lets a worker do a task for the run that the context is of."""

DELEGATE_CONFIG: Final = ToolConfig(connector_id="workers", risk_default=RiskLevel.low)
"""Low: whatever the other worker does is a call of its own."""


class DelegateArguments(Arguments):
    """To whom, and what is to be done, in prose: the other sees nothing else."""

    worker: Annotated[Argument, Field(min_length=1, max_length=64)]
    task: Annotated[Argument, Field(min_length=1)]


class DelegateTool:
    """Hands a task to another worker. Its own effect is none: every effect is a call of theirs."""

    def __init__(self, delegated: Delegated) -> None:
        self._delegated = delegated

    @property
    def tool_name(self) -> str:
        """The name a model calls."""
        return DELEGATE

    @property
    def description(self) -> str:
        """What it does, for the model."""
        return (
            "Hand a task to another worker and get its report. It sees the task and the same "
            "workspace, nothing else; it has its own tools and rules."
        )

    @property
    def capabilities(self) -> list[str]:
        """Only a worker whose file allows it is offered it."""
        return [WORKER]

    @property
    def actions(self) -> list[str]:
        """It delegates."""
        return ["delegate"]

    @property
    def scopes_required(self) -> list[str]:
        """Whoever may have something done may have it done by somebody else."""
        return [SANDBOX_SCOPE]

    @property
    def requires_authority(self) -> bool:
        """Every delegation rests on the approved plan that names the worker."""
        return True

    @property
    def idempotent(self) -> bool:
        """Nothing is repeated by it: what the other worker did is in the journal call by call."""
        return True

    @property
    def supports_preview(self) -> bool:
        """It can say who would be asked."""
        return True

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments; the caller's own copy."""
        return deepcopy(_SCHEMA)

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The canonical arguments; `ValueError` with one sentence otherwise."""
        return validated_arguments(DelegateArguments, args)

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """Nothing: it changes nothing and carries nothing out."""
        return CallFacts(state_changing=False, egress=False, addressed=False)

    def needs_approval(self, action: str, request: dict[str, Any]) -> Stance:
        """No stance of its own; the caller's policy has one, by this tool's name."""
        return Stance.silent

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """Who would be asked to do what."""
        return PreviewResult(summary="Would hand a task to another worker.", details=dict(request))

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Have it done; a worker that fails is a result, not an error."""
        return await self._delegated(context, request["worker"], request["task"])


_SCHEMA: Final = DelegateArguments.model_json_schema()
