"""Toolsets by class path, alias or entry point, loaded with their settings (`toolset-plugins.md`).

Loading runs somebody else's code in this process, so nothing is imported that the allowlist does
not name. What is wrong in the owner's own words is a `ConfigError`; what is wrong in somebody
else's code is a fault: that toolset's tools are absent, and everything else goes on.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from silas.tools.models import ProviderType, RiskLevel, Stance, ToolConfig
from silas.tools.plugins.config import ExpandedConfig, expand
from silas.tools.plugins.mount import ToolsetFault, mount_toolset
from silas.tools.plugins.names import class_path_of
from silas.tools.plugins.run import ToolsetContext
from silas.tools.plugins.spec import ToolsetSpec, read_spec
from silas.tools.plugins.tool import PluginTool
from silas.tools.port import BaseTool


class LoadedTool(NamedTuple):
    """One tool, ready for the registry.

    Attributes:
        tool: The adapter that the tool door calls.
        config: For `ToolRegistry.register`; never pre-approved by itself.
        stance: What `_approval_config` says about it: for the configuration's registration, or a
            worker's policy. Its block and its question are the adapter's already.
    """

    tool: BaseTool
    config: ToolConfig
    stance: Stance


class ToolsetProblem(NamedTuple):
    """A toolset that could not be loaded, and why, in one sentence."""

    toolset: str
    words: str


class LoadedToolsets(NamedTuple):
    """What came of a `toolsets:` mapping."""

    tools: tuple[LoadedTool, ...]
    faults: tuple[ToolsetProblem, ...]


BuiltIn = Callable[[ToolsetSpec, ToolsetContext], Iterable[LoadedTool]]
"""Makes the tools of a built-in alias; always allowed."""


class SettingsRedactor(Protocol):
    """Keeps what was filled in from the environment out of all that is shown or kept."""

    def learn(self, values: Mapping[str, str]) -> None:
        """Values by the name of their variable, before any foreign code sees them."""
        ...

    def redact(self, text: str) -> str:
        """The text without any of them."""
        ...


@dataclass(frozen=True)
class ToolsetLoader:
    """Loads toolsets.

    Attributes:
        allow: `toolset_allow`: class paths, packages with a final dot, names of entry points.
        profiles: `toolset_profiles`.
        built_in: Makers by alias.
        environ: For `${NAME}` in settings.
        discretion: See there.
        scrub: Neutralises text that a model or a person will read.
    """

    allow: tuple[str, ...]
    profiles: Mapping[str, Any]
    built_in: Mapping[str, BuiltIn]
    environ: Mapping[str, str]
    discretion: SettingsRedactor
    scrub: Callable[[str], str]

    async def load(
        self,
        spec: Mapping[str, Any],
        context: ToolsetContext,
        stack: AsyncExitStack,
        where: str = "toolsets",
    ) -> LoadedToolsets:
        """Load every toolset of a mapping; each is entered on `stack` and left with it.

        Args:
            spec: As in the configuration or a worker's file: settings by name, `_defaults`,
                `extends`.
            context: For whom; its `name` and `data_dir` are completed for each toolset.
            stack: Closed by the same task, when no tool of it is called any more.
            where: What the mapping is called in errors.

        Raises:
            ConfigError: The mapping is wrong, a variable is not set, or something is named that is
                not allowed; nothing was imported.
        """
        wanted, found, filled = self._examine_spec(spec, where)
        tools: list[LoadedTool] = []
        faults: list[ToolsetProblem] = []
        for one, class_path, expanded in zip(wanted, found, filled, strict=True):
            here = replace(context, name=one.name, data_dir=context.data_dir / one.name)
            self.discretion.learn(expanded.values)
            if class_path is None:
                tools += self.built_in[one.name](one._replace(config=expanded.config), here)
                continue
            try:
                own = await mount_toolset(
                    one.said, class_path, expanded, here, stack, where, self._clean, self._redact
                )
            except ToolsetFault as error:
                faults.append(ToolsetProblem(one.name, error.message))
                continue
            tools += [_load_tool(tool) for tool in own]
        return LoadedToolsets(tuple(tools), tuple(faults))

    def examine(self, spec: Mapping[str, Any], where: str = "toolsets") -> None:
        """Refuse what `load` would refuse before it imports anything; nothing is imported.

        Raises:
            ConfigError: As `load`.
        """
        self._examine_spec(spec, where)

    def _examine_spec(
        self, spec: Mapping[str, Any], where: str
    ) -> tuple[list[ToolsetSpec], list[str | None], list[ExpandedConfig]]:
        """What is wanted, the class path of each, and its settings with variables filled in."""
        wanted = list(read_spec(spec, self.profiles, where))
        found = [class_path_of(one.name, self.allow, self.built_in, where) for one in wanted]
        filled = [expand(one.config, self.environ, f"{where}.{one.name}") for one in wanted]
        return wanted, found, filled

    def _redact(self, text: str) -> str:
        return self.discretion.redact(text)

    def _clean(self, text: str) -> str:
        return self._redact(self.scrub(text))


def _load_tool(tool: PluginTool) -> LoadedTool:
    """With the owner's rating; what nothing was said about is high risk and external."""
    [scope], said, approval = tool.scopes_required, tool.said, tool.approval
    config = ToolConfig(
        connector_id=scope,
        risk_default=said.risk.get(tool.own_name, RiskLevel.high),
        provider_type=ProviderType.toolset,
        config_ref=scope,
        result_taint=tool.taint,
    )
    return LoadedTool(tool, config, approval)
