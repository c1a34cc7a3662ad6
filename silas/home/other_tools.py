"""The tools outside the sandbox in a line for models: an executor alone may call them."""

from typing import Final

from silas.context import flatten_line, scrub
from silas.tools import ToolRegistry
from silas.tools.mcp.tool import SAYS
from silas.tools.models import ProviderType
from silas.tools.port import RegisteredTool

_MOST: Final = 20
"""Tools that are named; each costs the planner about forty tokens, and the proxy a third of it."""

_LONGEST: Final = 160
"""Characters of what a tool says that it does, for the planner."""

_SHORT: Final = 60
"""The same for the proxy, which only has to know whether a plan could help."""

_WEB: Final = "web"
"""Whose tools of Silas's own a plan grants: the sandbox's and the look-ups need no grant."""


def describe_other_tools(registry: ToolRegistry) -> str:
    """For the planner: names, arguments and what they do; empty where there are none.

    What a tool says of itself is what its owner trusted, flattened to the one line.
    """
    return _joined_lines([_describe(one) for one in _callable(registry) if _to_grant(one)])


def name_other_tools(registry: ToolRegistry) -> str:
    """For the proxy: names of servers' and plugins' tools, and the beginning of what they say."""
    return _joined_lines([_name(one) for one in _callable(registry) if not _is_native(one)])


def _callable(registry: ToolRegistry) -> list[RegisteredTool]:
    usable = registry.list_healthy()
    return [one for one in usable if "executor" in one.capabilities and not one.blocked]


def _is_native(one: RegisteredTool) -> bool:
    return one.provider_type is ProviderType.native


def _to_grant(one: RegisteredTool) -> bool:
    return not _is_native(one) or one.connector_id == _WEB


def _joined_lines(found: list[str]) -> str:
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return "; ".join(found[:_MOST]) + more


def _describe(one: RegisteredTool) -> str:
    arguments = ", ".join(map(str, one.tool.schema.get("properties", {})))
    call = f"{one.tool_name}({flatten_line(arguments)})"
    # a name of Silas's own says enough, and stands in every request
    return call if _is_native(one) else f"{call}: {_one_line(one.tool.description, _LONGEST)}"


def _name(one: RegisteredTool) -> str:
    # the name says whose tool it is
    said = one.tool.description.partition(SAYS)[2] or one.tool.description
    return f"{one.tool_name}: {_one_line(said, _SHORT)}"


def _one_line(text: str, most: int) -> str:
    return " ".join(flatten_line(scrub(text)).split())[:most]
