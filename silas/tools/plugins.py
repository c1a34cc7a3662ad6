"""Toolsets by class path, alias or entry point, loaded with their configuration.

Loading runs somebody else's code in this process, so nothing is imported that the allowlist does
not name. What is wrong in the owner's own words is a `ConfigError`; what is wrong in somebody
else's code is a fault: that toolset's tools are absent, and everything else goes on.
"""

import asyncio
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from types import TracebackType
from typing import Any, Final, NamedTuple, cast

from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from silas.errors import ConfigError, ToolError
from silas.tools.models import BaseTool, ProviderType, RiskLevel, Stance, ToolConfig
from silas.tools.plugin_config import Expanded, expand, fitted, validator_of
from silas.tools.plugin_run import Foreign, ToolsetContext, run_context
from silas.tools.plugin_spec import (
    CODE,
    OwnersWord,
    ToolsetSpec,
    is_class_path,
    nearest,
    permits,
    read_spec,
)
from silas.tools.plugin_tool import Mount, PluginTool, closed

GROUP: Final = "silas.toolsets"
"""The group of entry points that packages offer toolsets under."""

START_SECONDS: Final = 30.0  # for one toolset to connect and list its tools

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")  # what every model provider takes


class LoadedTool(NamedTuple):
    """One tool, ready for the registry.

    Attributes:
        tool: The adapter that the tool door calls.
        config: For `ToolRegistry.register`; never pre-approved by itself.
        stance: `pre_approved` or `ask` where `_approval_config` says so, else `silent`: what a
            worker's policy, or the configuration's registration, says about it.
    """

    tool: BaseTool
    config: ToolConfig
    stance: Stance


class Fault(NamedTuple):
    """A toolset that could not be loaded, and why, in one sentence."""

    toolset: str
    words: str


class Loaded(NamedTuple):
    """What came of a `toolsets:` mapping."""

    tools: tuple[LoadedTool, ...]
    faults: tuple[Fault, ...]


BuiltIn = Callable[[ToolsetSpec, ToolsetContext], Iterable[LoadedTool]]
"""Makes the tools of a built-in alias; always allowed."""


class ToolsetFault(ToolError):
    """A toolset's own code failed while it was loaded; its tools are absent."""


@dataclass(frozen=True)
class ToolsetLoader:
    """Loads toolsets.

    Attributes:
        allow: `toolset_allow`: class paths, packages with a final dot, names of entry points.
        profiles: `toolset_profiles`.
        built_in: Makers by alias.
        environ: For `${NAME}` in configurations.
        learn: Told every filled-in value by the variable's name before any foreign code sees it,
            so that it is kept out of everything that is written or shown.
        clean: Neutralises text that a model or a person will read.
    """

    allow: tuple[str, ...]
    profiles: Mapping[str, Any]
    built_in: Mapping[str, BuiltIn]
    environ: Mapping[str, str]
    learn: Callable[[Mapping[str, str]], None]
    clean: Callable[[str], str]

    async def load(
        self,
        spec: Mapping[str, Any],
        context: ToolsetContext,
        stack: AsyncExitStack,
        where: str = "toolsets",
    ) -> Loaded:
        """Load every toolset of a mapping; each is entered on `stack` and left with it.

        Args:
            spec: As in the configuration or a worker's file: settings by name, `_defaults`,
                `extends`.
            context: For whom; its `name` and `data_dir` are completed for each toolset.
            stack: Closed by the same task, when no tool of it is called any more.
            where: What the mapping is called in errors.

        Raises:
            ConfigError: The mapping is wrong, or names what is not allowed; nothing was imported.
        """
        wanted = read_spec(spec, self.profiles, where)
        found = [(one, self._found(one, where)) for one in wanted]
        filled = [expand(one.config, self.environ, f"{where}.{one.name}") for one in wanted]
        tools: list[LoadedTool] = []
        faults: list[Fault] = []
        for (one, class_path), expanded in zip(found, filled, strict=True):
            here = replace(context, name=one.name, data_dir=context.data_dir / one.name)
            try:
                if class_path is None:
                    told = one._replace(config=expanded.config)
                    tools += self.built_in[one.name](told, here)
                else:
                    self.learn(expanded.values)
                    tools += await self._mounted(one, class_path, expanded, here, stack, where)
            except ToolsetFault as error:
                faults.append(Fault(one.name, error.message))
        return Loaded(tuple(tools), tuple(faults))

    def _found(self, one: ToolsetSpec, where: str) -> str | None:
        """The class path behind a name that may be loaded; None for a built-in alias."""
        if one.name in self.built_in:
            return None
        if is_class_path(one.name):
            if not permits(self.allow, one.name):
                raise _not_allowed(one.name, where)
            return one.name
        paths = {entry.value.replace(":", ".") for entry in _entries(one.name)}
        if one.name not in self.allow and not any(permits(self.allow, path) for path in paths):
            if paths:
                raise _not_allowed(one.name, where)
            known = {*self.built_in, *(entry.name for entry in entry_points(group=GROUP))}
            raise ConfigError(
                f"{where}.{one.name}: there is no toolset of that name{nearest(one.name, known)}.",
                code=CODE,
            )
        if len(paths) > 1:
            raise ConfigError(
                f"{where}.{one.name}: several packages offer it ({', '.join(sorted(paths))}); name "
                "the class path instead.",
                code=CODE,
            )
        return next(iter(paths), "")

    async def _mounted(
        self,
        one: ToolsetSpec,
        class_path: str,
        expanded: Expanded,
        context: ToolsetContext,
        stack: AsyncExitStack,
        where: str,
    ) -> list[LoadedTool]:
        made_by = _imported(one.name, class_path)
        try:
            config = fitted(made_by, expanded, f"{where}.{one.name}")
        except ConfigError as error:
            raise _fault(one.name, error.message.rstrip(".")) from None
        except Exception as error:  # its own model or schema, and it may repeat a secret
            raise _fault(
                one.name, f"its settings cannot be read ({type(error).__name__})"
            ) from None
        toolset = _constructed(one.name, made_by, config, context)
        ask = getattr(toolset, "needs_approval", None)
        if ask is not None and not callable(ask):
            raise _fault(one.name, "its needs_approval cannot be called")
        async with AsyncExitStack() as trying:
            entered, listed = await _started(one.name, toolset, context, trying)
            mount = Mount(entered, context, one.said, ask, self.clean)
            tools = _adapted(mount, listed)
            stack.push_async_exit(_Leaving(trying.pop_all()))
        said = one.said
        return [LoadedTool(tool, _config(tool, said), _stance(tool, said)) for tool in tools]


class _Leaving:
    """Leaves a toolset; what its code raises at the end hurts nobody else."""

    def __init__(self, entered: AsyncExitStack) -> None:
        self._entered = entered

    async def __call__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._entered.aclose()
        except Exception:  # anybody's code, and nothing of it is needed any more
            return False
        return False


def _entries(name: str) -> Any:
    return entry_points(group=GROUP, name=name)


def _imported(name: str, class_path: str) -> object:
    if not class_path:
        raise _fault(name, f"no installed package offers it under {GROUP}; install the package")
    module, _, attribute = class_path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # anybody's code
        # the owner's values are not yet known to it, so its words can be repeated
        raise _fault(name, f"it cannot be imported ({_first_line(error)})") from error


def _constructed(name: str, made_by: object, config: Any, context: ToolsetContext) -> Foreign:
    """By the convention `(config, context)`, else with the configuration as keyword arguments."""
    if not callable(made_by):
        raise _fault(name, "it is neither a class nor a function")
    try:
        if _follows_convention(made_by):
            made = made_by(config=config, context=context)
        else:
            made = made_by(**dict(config))
    except (Exception, SystemExit) as error:  # anybody's code, and it may repeat a secret
        raise _fault(name, f"it cannot be made ({type(error).__name__})") from None
    if inspect.iscoroutine(made):
        made.close()
    if not isinstance(made, AbstractToolset):
        raise _fault(name, "what it makes is no PydanticAI toolset")
    return cast(Foreign, made)


def _follows_convention(made_by: Callable[..., Any]) -> bool:
    try:
        names = inspect.signature(made_by).parameters
    except (TypeError, ValueError):
        return False
    return {"config", "context"} <= names.keys()


async def _started(
    name: str, toolset: Foreign, context: ToolsetContext, stack: AsyncExitStack
) -> tuple[Foreign, dict[str, ToolsetTool[Any]]]:
    """Enter a toolset as an agent run would, and list its tools once."""
    ctx = run_context(context)
    try:
        async with asyncio.timeout(START_SECONDS):
            entered = await toolset.for_run(ctx)
            await stack.enter_async_context(entered)
            entered = await entered.for_run_step(ctx)
            return entered, dict(await entered.get_tools(ctx))
    except (Exception, SystemExit) as error:  # anybody's code, and it may repeat a secret
        raise _fault(name, f"it does not start ({type(error).__name__})") from None


def _adapted(mount: Mount, listed: dict[str, ToolsetTool[Any]]) -> list[PluginTool]:
    name = mount.context.name
    for tool in mount.said.tools() - listed.keys():
        hint = nearest(tool, listed)
        raise _fault(name, f"it has no tool {tool!r}, which its settings name{hint}")
    if mount.said.approval_config and mount.wrapped:
        raise _fault(name, "it asks by itself, so _approval_config has no place there")
    return [_adapter(mount, key, tool) for key, tool in listed.items()]


def _adapter(mount: Mount, key: str, tool: ToolsetTool[Any]) -> PluginTool:
    name, defined = mount.context.name, tool.tool_def
    if defined.name != key or defined.kind not in ("function", "unapproved"):
        raise _fault(name, f"its tool {key!r} cannot be called from here")
    try:
        adapted = PluginTool(mount, tool, validator_of(closed(defined.parameters_json_schema)))
        adapted.schema  # noqa: B018 - it must be JSON
    except (ValueError, TypeError) as error:
        raise _fault(name, f"its tool {key!r} cannot be used: {_first_line(error)}") from None
    if not _TOOL_NAME.match(adapted.tool_name):
        raise _fault(name, f"its tool {key!r} has a name that models do not take")
    return adapted


def _config(tool: PluginTool, said: OwnersWord) -> ToolConfig:
    name = tool.scopes_required[0]
    return ToolConfig(
        connector_id=name,
        risk_default=said.risk.get(tool.own_name, RiskLevel.high),
        provider_type=ProviderType.toolset,
        config_ref=name,
        result_taint=tool.taint,
    )


def _stance(tool: PluginTool, said: OwnersWord) -> Stance:
    approval = said.approval_config.get(tool.own_name)
    if approval is None:
        return Stance.silent
    return Stance.pre_approved if approval.pre_approved else Stance.ask


def _not_allowed(name: str, where: str) -> ConfigError:
    return ConfigError(
        f"{where}.{name}: toolset_allow does not name it, and nothing of it was loaded; its code "
        "would run inside Silas. Add it there if you trust it.",
        code="E_CFG_TOOLSET_ALLOW",
    )


def _fault(name: str, words: str) -> ToolsetFault:
    return ToolsetFault(f"The toolset {name} is absent: {words}.", code="E_TOOL_TOOLSET")


def _first_line(error: BaseException) -> str:
    text = (str(error).splitlines() or [""])[0][:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
