"""What every prompt of a turn holds before anything was said: counted once, and kept free (5.7)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from silas.agents.calls import PLANNER, PROXY, StructuredCall
from silas.agents.prompt import TurnRequest, instructions
from silas.canonical import canonical_json
from silas.config import SilasConfig
from silas.context import TokenCounter
from silas.errors import SilasError
from silas.home.other_tools import describe_other_tools
from silas.home.prompt_facts import USUAL, profiles
from silas.services.skills.catalogue import owners_key, skill_loader
from silas.services.tools.registry import configured_tools
from silas.tools import ToolRegistry
from silas.types import TaintLevel

_NOW = datetime(2000, 1, 1, microsecond=1, tzinfo=UTC)  # any moment: each is as long as another
_ACCESS = "(owner)"


class Overhead(NamedTuple):
    """Tokens of a prompt that are no context: instructions, form of the answer, tools, framing.

    Attributes:
        proxy, planner: Of each of the two that are shown the context.
    """

    proxy: int
    planner: int

    @property
    def reserved(self) -> int:
        """What no context may use, whichever of the two is asked."""
        return max(self)


def overhead_of(config: SilasConfig, registry: ToolRegistry, skills: Mapping[str, str]) -> Overhead:
    """Count what is really sent, with every tool: one that is unavailable may come back."""
    request = TurnRequest(
        text="",
        now=_NOW,
        taint=TaintLevel.owner,
        profiles=profiles(config),
        skills=skills,
        access_level=_ACCESS,
    )
    return Overhead(
        proxy=_tokens(PROXY, request, registry),
        planner=_tokens(PLANNER, replace(request, facts=_facts(registry)), registry),
    )


def _facts(registry: ToolRegistry) -> Mapping[str, str]:
    return {**USUAL, "tools_to_grant": describe_other_tools(registry)}


async def window_finding(config: SilasConfig) -> tuple[str, bool, str]:
    """For `silas doctor`: what prompts hold besides the context, and whether it leaves room."""
    try:
        registry = await configured_tools(config)
        skills = skill_loader(config, owners_key(config)).catalogue()
    except SilasError as error:
        return "context", False, f"what prompts hold cannot be counted: {error.message}"
    held = overhead_of(config, registry, skills)
    total = config.context.total_tokens
    words = (
        f"of {total:,} tokens, what every prompt holds takes {held.proxy:,} (proxy) and "
        f"{held.planner:,} (planner)"
    )
    room = int(total * config.context.eviction_threshold_pct) - held.reserved
    if room >= held.reserved // 2:
        return "context", True, words
    return "context", False, f"{words}: too little is left; raise context.total_tokens"


def _tokens(call: StructuredCall[Any], request: TurnRequest, registry: ToolRegistry) -> int:
    offered = (one.tool for one in registry.all() if call.name in one.capabilities)
    parts = (
        instructions(call.name),
        "\n".join((call.form, call.describe, _schema(call.shown(request.profiles, False)))),
        request.render().text,
        *("\n".join((t.tool_name, t.description, canonical_json(t.schema))) for t in offered),
    )
    return sum(map(TokenCounter().count, parts))


@cache  # making one costs 10 ms, at every start
def _schema(output: type[BaseModel]) -> str:
    return canonical_json(output.model_json_schema())
