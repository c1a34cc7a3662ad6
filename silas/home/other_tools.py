"""The tools of servers and plugins in a line for the planner: an executor alone may call them."""

from typing import Final

from silas.context.framing import flatten_line
from silas.tools import ToolRegistry
from silas.tools.models import ProviderType
from silas.tools.port import RegisteredTool

_MOST: Final = 20
"""Tools that are named; each costs the planner about forty tokens."""

_LONGEST: Final = 160
"""Characters of what a tool says that it does."""


def describe_other_tools(registry: ToolRegistry) -> str:
    """Their names, arguments and what they do; empty where there are none.

    What a tool says of itself is what its owner trusted, flattened to the one line.
    """
    found = [
        one
        for one in registry.list_healthy()
        if one.provider_type is not ProviderType.native
        and "executor" in one.capabilities
        and not one.blocked
    ]
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return "; ".join(map(_describe, found[:_MOST])) + more


def _describe(one: RegisteredTool) -> str:
    arguments = ", ".join(map(str, one.tool.schema.get("properties", {})))
    does = " ".join(flatten_line(one.tool.description).split())[:_LONGEST]
    return f"{one.tool_name}({flatten_line(arguments)}): {does}"
