"""Somebody else's toolset, made, entered and listed; whatever fails there is a fault."""

import asyncio
import importlib
import inspect
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Final, cast

from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from silas.canonical import canonical_json
from silas.errors import ConfigError, ToolError
from silas.tools.plugins.config import ExpandedConfig, fit_config
from silas.tools.plugins.names import GROUP, nearest
from silas.tools.plugins.run import Foreign, ToolsetContext, run_context
from silas.tools.plugins.schema import clean_schema, close_schema, validator_of
from silas.tools.plugins.spec import OwnerPolicy
from silas.tools.plugins.tool import MountedToolset, PluginTool, PluginToolDefinition
from silas.tools.plugins.toolset_stance import NeedsApprovalMethod

START_SECONDS: Final = 30.0  # for one toolset to connect and list its tools
MAX_DEFINITION: Final = 50_000  # characters of one tool's schema; a model reads them at every step
MAX_DESCRIPTION: Final = 4_000  # characters of one tool's description, for the same reason

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")  # what every model provider takes

RedactWords = Callable[[str], str]


class ToolsetFault(ToolError):
    """A toolset's own code failed while it was loaded; its tools are absent."""


async def mount_toolset(
    said: OwnerPolicy,
    class_path: str,
    expanded: ExpandedConfig,
    context: ToolsetContext,
    stack: AsyncExitStack,
    where: str,
    clean: RedactWords,
    redact: RedactWords,
) -> list[PluginTool]:
    """The tools of one toolset, which is entered on `stack`.

    Args:
        said: What the owner says about them.
        class_path: Where its code is; empty where no installed package has it.
        expanded: Its own settings.
        context: Where it is mounted.
        stack: Left when its tools are called no more.
        where: What the mapping that names it is called in errors.
        clean: Neutralises and redacts what a model or a person will read.
        redact: Redacts alone.

    Raises:
        ToolsetFault: One sentence; nothing of it stays entered.
    """
    name = context.name
    made_by = _import_toolset(name, class_path)
    toolset = _construct_toolset(name, made_by, _settings(name, made_by, expanded, where), context)
    async with AsyncExitStack() as trying:
        entered, listed = await _start_toolset(name, toolset, context, trying)
        ask = _asks_by(name, toolset, entered)
        mount = MountedToolset(entered, context, said, ask, clean)
        tools = _adapt_tools(mount, listed, redact)
        stack.push_async_exit(_Leaving(trying.pop_all()))
    return tools


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
        except (Exception, SystemExit):  # anybody's code, and nothing of it is needed any more
            return False
        return False


def _import_toolset(name: str, class_path: str) -> object:
    if not class_path:
        raise _fault(name, f"no installed package offers it under {GROUP}; install the package")
    module, _, attribute = class_path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # anybody's code
        # nothing that was filled in has reached it yet, so its words can be repeated
        raise _fault(name, f"it cannot be imported ({_first_line(error)})") from None


def _settings(name: str, made_by: object, expanded: ExpandedConfig, where: str) -> Any:
    try:
        return fit_config(made_by, expanded, f"{where}.{name}")
    except ConfigError as error:
        raise _fault(name, error.message.rstrip(".")) from None
    except Exception as error:  # its own model or schema, and it may repeat a secret
        raise _fault(name, f"its settings cannot be read ({type(error).__name__})") from None


def _construct_toolset(name: str, made_by: object, config: Any, context: ToolsetContext) -> Foreign:
    """By the convention `(config, context)`, else with the settings as keyword arguments."""
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


async def _start_toolset(
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


def _asks_by(name: str, made: Foreign, entered: Foreign) -> NeedsApprovalMethod | None:
    """Its `needs_approval`, by duck typing; one that a wrapper hides would never be asked."""
    ask: object = getattr(entered, "needs_approval", getattr(made, "needs_approval", None))
    if ask is None:
        hidden: list[Foreign] = []
        entered.apply(lambda leaf: hidden.append(leaf) if _has_opinion(leaf) else None)
        if hidden:
            raise _fault(name, "a wrapper hides its needs_approval; let the outermost have it")
        return None
    if not callable(ask):
        raise _fault(name, "its needs_approval cannot be called")
    return cast(NeedsApprovalMethod, ask)


def _has_opinion(leaf: Foreign) -> bool:
    return getattr(leaf, "needs_approval", None) is not None


def _adapt_tools(
    mount: MountedToolset, listed: dict[str, ToolsetTool[Any]], redact: RedactWords
) -> list[PluginTool]:
    name = mount.context.name
    for tool in sorted(mount.said.tools() - listed.keys()):
        hint = nearest(tool, listed)
        raise _fault(name, f"it has no tool {tool!r}, which its settings name{hint}")
    if mount.said.approval_config and mount.wrapped:
        raise _fault(name, "it asks by itself, so _approval_config has no place there")
    return [_adapter(mount, key, tool, redact) for key, tool in listed.items()]


def _adapter(
    mount: MountedToolset, key: str, tool: ToolsetTool[Any], redact: RedactWords
) -> PluginTool:
    name, defined = mount.context.name, tool.tool_def
    if defined.name != key or defined.kind not in ("function", "unapproved"):
        raise _fault(name, f"its tool {key!r} cannot be called from here")
    try:
        schema = close_schema(defined.parameters_json_schema)
        checked = validator_of(schema)
        text = canonical_json(clean_schema(schema, mount.clean))
    except (ValueError, TypeError, RecursionError) as error:
        raise _fault(name, f"its tool {key!r} cannot be used: {_first_line(error)}") from None
    if len(text) > MAX_DEFINITION or redact(text) != text:
        raise _fault(name, f"the definition of its tool {key!r} is too long or holds a secret")
    description = mount.clean(defined.description or "")[:MAX_DESCRIPTION]
    adapted = PluginTool(mount, tool, PluginToolDefinition(key, description, text, checked))
    target = mount.said.targets.get(key)
    if target is not None and target not in schema.get("properties", {}):
        raise _fault(name, f"its tool {key!r} has no argument {target!r}, which _targets names")
    if not _TOOL_NAME.match(adapted.tool_name):
        raise _fault(name, f"its tool {key!r} has a name that models do not take")
    return adapted


def _fault(name: str, words: str) -> ToolsetFault:
    return ToolsetFault(f"The toolset {name} is absent: {words}.", code="E_TOOL_TOOLSET")


def _first_line(error: BaseException) -> str:
    text = (str(error).splitlines() or [""])[0][:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
