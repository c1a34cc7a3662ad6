"""Toolsets of others in this house: loaded when Silas opens, left when it closes."""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from itertools import groupby
from typing import TYPE_CHECKING

from silas.audit import Audit
from silas.config import SilasConfig
from silas.context import scrub_output
from silas.errors import ConfigError
from silas.language import refusal_words, tr
from silas.stop import Sentinel
from silas.tools import Stance, ToolRegistry, ValidatedCall
from silas.tools.plugins.names import BUILT_IN, CODE
from silas.tools.plugins.spec import read_spec
from silas.tools.plugins.toolset_stance import OpinionatedTool

if TYPE_CHECKING:
    from silas.tools.plugins.run import ToolsetContext
    from silas.tools.plugins.spec import ToolsetSpec
    from silas.tools.plugins.toolsets import (
        LoadedTool,
        SettingsRedactor,
        ToolsetLoader,
        ToolsetProblem,
    )

LearnValues = Callable[[Mapping[str, str]], None]
"""Told values by name that must stay out of all that is written or shown."""

RESERVED = frozenset(
    {"ask_owner", "context_inspection", "delegate", "memory_search", "web_fetch", "web_search"}
)
"""Names of Silas's own tools that are not always there: nobody else's may stand in for one."""

_STOPPED = "Silas is stopped, so its code was not run; after `silas resume`, start Silas again"


def loader_of(config: SilasConfig, discretion: "SettingsRedactor") -> "ToolsetLoader":
    """What loads toolsets, with the owner's allowlist and profiles."""
    from silas.tools.plugins.toolsets import ToolsetLoader  # noqa: PLC0415 - PydanticAI

    return ToolsetLoader(
        allow=config.toolset_allow,
        profiles=config.toolset_profiles,
        built_in=dict.fromkeys(BUILT_IN, _here_already),
        environ=os.environ,
        discretion=discretion,
        scrub=scrub_output,
    )


def scopes_of(config: SilasConfig) -> frozenset[str]:
    """What the owner's own work is granted: every toolset of the configuration."""
    names = (one.name for one in read_spec(config.toolsets, config.toolset_profiles))
    return frozenset(f"toolset.{name}" for name in names if name not in BUILT_IN)


def examine_toolsets(config: SilasConfig) -> None:
    """Refuse a `toolsets` section that Silas would not start with; nothing is loaded.

    Raises:
        ConfigError: As `mount_toolsets`.
    """
    if config.toolsets:
        loader_of(config, NOTHING_KEPT).examine(config.toolsets)


class _NothingKept:
    """Secrets of a toolset that is only examined: none is learned, none is redacted."""

    def learn(self, values: Mapping[str, str]) -> None:
        """Nothing."""

    def redact(self, text: str) -> str:
        """The text, which goes nowhere."""
        return text


NOTHING_KEPT: "SettingsRedactor" = _NothingKept()


async def mount_toolsets(
    config: SilasConfig,
    registry: ToolRegistry,
    discretion: "SettingsRedactor",
    stack: AsyncExitStack,
) -> None:
    """Load what `toolsets` names into the registry; what fails is noted there as absent.

    Nothing is loaded while Silas is stopped.

    Raises:
        ConfigError: The section is wrong, or names what `toolset_allow` does not.
    """
    if not config.toolsets:
        return
    if Sentinel(config.data_dir).stands():
        for one in read_spec(config.toolsets, config.toolset_profiles):
            registry.note_absent(one.name, f"The toolset {one.name} is absent: {_STOPPED}.")
        return
    from silas.tools.plugins.run import ToolsetContext  # noqa: PLC0415 - PydanticAI

    context = ToolsetContext(name="", worker="", data_dir=config.data_dir / "toolsets")
    loaded = await loader_of(config, discretion).load(config.toolsets, context, stack)
    for fault in (*loaded.faults, *_register(registry, loaded.tools)):
        registry.note_absent(fault.toolset, fault.words)


async def tell_absent(
    registry: ToolRegistry, audit: Audit, tell: Callable[[str], Awaitable[None]]
) -> None:
    """Say what could not be loaded: in the record, and once to the owner."""
    for name, words in registry.absent().items():
        await audit.log("toolset.absent", toolset=name, why=words)
        said = refusal_words(words)
        await tell(tr("{words} Everything else works; see `silas tools list`.", words=said))


def claims_of(registry: ToolRegistry) -> Callable[[ValidatedCall], str]:
    """What the code of a mounted tool says that a call would do; empty for Silas's own tools."""

    def claim(call: ValidatedCall) -> str:
        known = registry.get(call.tool_name)
        if known is None or not isinstance(known.tool, OpinionatedTool):
            return ""
        return known.tool.opinion(call.args).description

    return claim


def _register(registry: ToolRegistry, tools: Iterable["LoadedTool"]) -> "list[ToolsetProblem]":
    """All tools of a toolset, or none where a name of one is taken."""
    from silas.tools.plugins.toolsets import ToolsetProblem  # noqa: PLC0415 - PydanticAI

    faults: list[ToolsetProblem] = []
    for connector, some in groupby(tools, key=lambda loaded: loaded.config.connector_id):
        group = list(some)
        names = (loaded.tool.tool_name for loaded in group)
        taken = next((name for name in names if registry.get(name) or name in RESERVED), None)
        if taken is not None:
            name = connector.removeprefix("toolset.")
            words = (
                f"The toolset {name} is absent: there is another tool named {taken}; give this "
                "one a `_prefix`."
            )
            faults.append(ToolsetProblem(name, words))
            continue
        for loaded in group:
            said = {
                "pre_approved": loaded.stance is Stance.pre_approved,
                "blocked": loaded.stance is Stance.blocked,
            }
            config = loaded.config.model_copy(update=said)
            registry.register(loaded.tool, config)
    return faults


def _here_already(one: "ToolsetSpec", context: "ToolsetContext") -> "Iterable[LoadedTool]":
    """Nothing more to load; what is said about it would be said to nobody.

    Raises:
        ConfigError: There are settings.
    """
    if one.config or one.said.tools() or one.said.prefix:
        raise ConfigError(
            f"toolsets.{one.name}: it is there in any case and has no settings here.", code=CODE
        )
    return ()
