"""How a toolset is driven outside an agent: a run context with nothing of Silas in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.toolsets import AbstractToolset, ApprovalRequiredToolset, WrapperToolset
from pydantic_ai.usage import RunUsage

from silas.errors import ToolError


@dataclass(frozen=True)
class ToolsetContext:
    """What a toolset is told about where it is mounted; also the `deps` of its run context.

    Attributes:
        name: The toolset's name in the configuration.
        worker: The worker it was loaded for; empty for the owner's own configuration.
        data_dir: A directory of its own, which it may make and write to.
    """

    name: str
    worker: str
    data_dir: Path


Foreign = AbstractToolset[Any]
"""A toolset of somebody else's code."""


class NoModel(Model):
    """The model of a toolset's run context: a tool is given none."""

    @property
    def model_name(self) -> str:
        """`none`."""
        return "none"

    @property
    def system(self) -> str:
        """Silas."""
        return "silas"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Refuse."""
        raise ToolError("A toolset is given no model.", code="E_TOOL_NO_MODEL")


_NO_MODEL = NoModel()


def run_context(
    context: ToolsetContext,
    *,
    tool: str = "",
    call_id: str = "",
    run_id: str = "",
    approved: bool = False,
) -> RunContext[ToolsetContext]:
    """What PydanticAI hands a toolset, without messages, model, authority or other tools."""
    return RunContext(
        deps=context,
        model=_NO_MODEL,
        usage=RunUsage(),
        tool_name=tool or None,
        tool_call_id=call_id or None,
        run_id=run_id or None,
        run_step=1,
        tool_call_approved=approved,
    )


def approval_wrappers(toolset: Foreign) -> Iterator[ApprovalRequiredToolset[Any]]:
    """The approval wrappers in a chain of wrappers, from the outside in."""
    layer: Foreign | None = toolset
    while layer is not None:
        if isinstance(layer, ApprovalRequiredToolset):
            yield layer
        layer = layer.wrapped if isinstance(layer, WrapperToolset) else None
