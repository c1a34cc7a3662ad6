"""Toolsets that fail in every way one can."""

import sys
from typing import Any, Literal

from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import (
    AbstractToolset,
    CombinedToolset,
    FunctionToolset,
    ToolsetTool,
)
from pydantic_core import SchemaValidator, core_schema


class Unmakeable(FunctionToolset[Any]):
    """Repeats its secret when it cannot be made."""

    def __init__(self, key: str) -> None:
        super().__init__()
        raise ValueError(f"cannot connect with {key}")


class Unstartable(FunctionToolset[Any]):
    """Cannot be entered."""

    async def __aenter__(self) -> Any:
        raise ConnectionError("no server")


class Quitter(FunctionToolset[Any]):
    """Ends the process."""

    def __init__(self) -> None:
        super().__init__()
        sys.exit(3)


def nothing() -> None:
    """Makes no toolset."""


async def later() -> FunctionToolset[Any]:
    """Makes one too late."""
    return FunctionToolset()


not_callable = 7


class Judge(FunctionToolset[Any]):
    """Has an opinion, which a wrapper around it does not pass on."""

    def needs_approval(self, name: str, tool_args: dict[str, Any]) -> bool:
        return True


def hidden() -> AbstractToolset[Any]:
    """Hides it."""
    return CombinedToolset([Judge()]).prefixed("x")


class Opinionated(FunctionToolset[Any]):
    """Its opinion is no method."""

    needs_approval = "never"


class Telling(FunctionToolset[Any]):
    """Puts its secret where every model reads it."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return one_tool(self, "use", {"properties": {"key": {"default": self.key}}})


class Windy(FunctionToolset[Any]):
    """Has a definition that fills a model's context."""

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return one_tool(self, "use", {"title": "x" * 60_000})


class Oddly(FunctionToolset[Any]):
    """Calls its tool what no model can."""

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return one_tool(self, "use it!", {})


class Elsewhere(FunctionToolset[Any]):
    """Wants its tool to be called by somebody else."""

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return one_tool(self, "use", {}, kind="external")


class Slammer(FunctionToolset[Any]):
    """Cannot be left."""

    async def __aexit__(self, *args: Any) -> bool | None:
        raise RuntimeError("the door is stuck")


class Slammer2(FunctionToolset[Any]):
    """Ends the process when it is left."""

    async def __aexit__(self, *args: Any) -> bool | None:
        sys.exit(4)


def one_tool(
    toolset: AbstractToolset[Any],
    name: str,
    schema: dict[str, Any],
    kind: Literal["function", "external"] = "function",
) -> dict[str, ToolsetTool[Any]]:
    """A listing that has one tool, with a validator that takes anything."""
    any_object = SchemaValidator(core_schema.dict_schema())
    defined = ToolDefinition(
        name=name, parameters_json_schema={"type": "object", **schema}, kind=kind
    )
    return {
        name: ToolsetTool(
            toolset=toolset, tool_def=defined, max_retries=0, args_validator=any_object
        )
    }
