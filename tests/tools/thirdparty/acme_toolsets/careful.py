"""A toolset that comes with PydanticAI's own approval wrapper."""

from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset


def careful() -> AbstractToolset[Any]:
    """Asks for what is heavy."""
    inner: FunctionToolset[Any] = FunctionToolset()

    @inner.tool_plain
    def lift(kilos: int) -> str:
        """Lift something."""
        return f"lifted {kilos}"

    def heavy(ctx: RunContext[Any], tool: ToolDefinition, args: dict[str, Any]) -> bool:
        return args["kilos"] > 10

    return inner.approval_required(heavy).prefixed("crane")
