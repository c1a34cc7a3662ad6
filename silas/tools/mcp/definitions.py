"""What an MCP server says its tools are: bounded, named apart, pinned by digest (decision D121).

All of it is a stranger's text. Nothing here trusts it, and what a model sees of it is scrubbed.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, cast

from silas.canonical import canonical_json, read_json, sha256_hex
from silas.context import scrub
from silas.language import tr_later
from silas.types import FrozenModel

MOST_TOOLS: Final = 128  # of one server; a model is confused by fewer
_MOST_BYTES = 64_000  # of one definition
_MOST_DEPTH = 16  # of a schema; what is deeper is for no model
_LONGEST_NAME = 64  # of `server__tool`; what model interfaces take

_NAME = re.compile(r"[A-Za-z0-9_./-]{1,64}")
_PROSE = frozenset({"description", "title", "$comment"})
"""Keywords of a schema whose text only explains; everything else must stand as it is."""


class ListedTool(NamedTuple):
    """A tool as a server lists it."""

    name: str
    description: str
    schema: dict[str, Any]


class McpToolDefinition(FrozenModel):
    """A tool as it was, or may be, trusted. `arguments_json` is canonical."""

    server: str
    name: str
    description: str
    arguments_json: str

    @cached_property
    def digest(self) -> str:
        """Hex SHA-256 over everything a model could see of it."""
        return sha256_hex(canonical_json(self.model_dump()).encode())

    @property
    def tool_name(self) -> str:
        """The name that models call: of one server and one tool, whatever others are called."""
        return f"{self.server}__{re.sub('[./]', '_', self.name)}"

    def arguments(self) -> dict[str, Any]:
        """The schema of its arguments as the server has it; the caller's own copy."""
        return cast(dict[str, Any], read_json(self.arguments_json))


class ServerTools(NamedTuple):
    """A server's tools: those that can be used by name, and why others cannot."""

    definitions: dict[str, McpToolDefinition]
    refused: dict[str, str]


class ListingDrift(NamedTuple):
    """How a listing differs from what was trusted: names of tools."""

    changed: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.changed or self.new or self.gone)


def listing(server: str, offered: Sequence[ListedTool]) -> ServerTools:
    """Sort what a server offers into what can be used and what cannot."""
    definitions: dict[str, McpToolDefinition] = {}
    refused: dict[str, str] = {}
    names = Counter(_tool_name(server, tool.name) for tool in offered)
    for tool in offered[:MOST_TOOLS]:
        shown = scrub(tool.name)[:_LONGEST_NAME]
        why = _objection(server, tool, names)
        if why:
            refused[shown] = why
            continue
        definitions[tool.name] = McpToolDefinition(
            server=server,
            name=tool.name,
            description=tool.description,
            arguments_json=canonical_json(tool.schema),
        )
    if len(offered) > MOST_TOOLS:
        refused["..."] = f"the server names {len(offered)} tools, more than {MOST_TOOLS}"
    return ServerTools(definitions, refused)


def without_secrets(found: ServerTools, redact: Callable[[str], str]) -> ServerTools:
    """The same without tools that say a secret: what models see and records name has none."""
    kept = dict[str, McpToolDefinition]()
    refused = {redact(name): why for name, why in found.refused.items()}
    for name, tool in found.definitions.items():
        words = tool.model_dump_json()
        if redact(words) == words:
            kept[name] = tool
        else:
            refused[redact(name)] = tr_later("it says one of your secrets")
    return ServerTools(kept, refused)


def _tool_name(server: str, name: str) -> str:
    return f"{server}__{re.sub('[./]', '_', name)}"


def _objection(server: str, tool: ListedTool, names: Mapping[str, int]) -> str:
    """Why a tool cannot be used, or nothing."""
    called = _tool_name(server, tool.name)
    if not _NAME.fullmatch(tool.name) or len(called) > _LONGEST_NAME:
        return tr_later("its name is no plain name of at most 64 signs together with its server's")
    if names[called] > 1:
        return tr_later("the server gives this name to several tools")
    if tool.schema.get("type") != "object":
        return tr_later("its arguments are no object")
    if not _stands(tool.schema, _MOST_DEPTH):
        return tr_later("its schema is too deep, or holds signs that cannot be seen")
    try:
        size = len(canonical_json([tool.description, tool.schema]))
    except (ValueError, TypeError):
        return tr_later("its schema is not JSON")
    return tr_later("its description is too long") if size > _MOST_BYTES else ""


def _stands(value: Any, depth: int) -> bool:
    """Whether every word that is more than prose is the same after scrubbing."""
    if depth < 0:
        return False
    match value:
        case str():
            return scrub(value) == value
        case dict():
            members = cast(dict[str, Any], value).items()
            return all(
                scrub(key) == key
                and ((key in _PROSE and isinstance(member, str)) or _stands(member, depth - 1))
                for key, member in members
            )
        case list():
            return all(_stands(member, depth - 1) for member in cast(list[Any], value))
        case _:
            return True


def drift(
    trusted: Mapping[str, McpToolDefinition], now: Mapping[str, McpToolDefinition]
) -> ListingDrift:
    """What differs between what was trusted and what is there."""
    both = trusted.keys() & now.keys()
    return ListingDrift(
        changed=tuple(sorted(n for n in both if trusted[n].digest != now[n].digest)),
        new=tuple(sorted(now.keys() - trusted.keys())),
        gone=tuple(sorted(trusted.keys() - now.keys())),
    )


def shown_schema(definition: McpToolDefinition) -> dict[str, Any]:
    """The schema as a model sees it: explanations scrubbed, everything else as it was."""
    return cast(dict[str, Any], _scrub_prose(definition.arguments()))


def _scrub_prose(value: Any) -> Any:
    match value:
        case dict():
            members = cast(dict[str, Any], value).items()
            return {
                key: scrub(member)
                if key in _PROSE and isinstance(member, str)
                else _scrub_prose(member)
                for key, member in members
            }
        case list():
            return [_scrub_prose(member) for member in cast(list[Any], value)]
        case _:
            return value
