"""The built-in tools, and how they stand before anything has run."""

from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager
from typing import Any

from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.errors import ConfigError
from silas.home.database import database_path, open_database
from silas.home.runtime import sandbox_of
from silas.sandbox import RefusingSandbox, Sandbox
from silas.services.tools.toolsets import NOTHING_KEPT, mount_toolsets, scopes_of
from silas.services.tools.uncalled_tools import add_uncalled
from silas.tools import FILE_TOOLS, ToolRegistry
from silas.tools.builtin.git_look import WORKSPACE_TOOLS
from silas.tools.builtin.python import PythonTool
from silas.tools.builtin.sandboxed import SANDBOX_TOOL
from silas.tools.builtin.shell import ShellTool
from silas.tools.builtin.workspace_looks import WORKSPACE_TOOL
from silas.tools.health import NOT_KEPT, HealthStore, SqlHealthStore
from silas.tools.registry import tool_rows


def built_in_tools(clock: Clock, sandbox: Sandbox, store: HealthStore = NOT_KEPT) -> ToolRegistry:
    """What every Silas can call. Low risk: they act in a private copy, with named hosts only."""
    registry = ToolRegistry(clock, store)
    inside = (ShellTool, PythonTool, *FILE_TOOLS)
    for tool in (made(sandbox) for made in inside):
        registry.register(tool, SANDBOX_TOOL)
    for look in WORKSPACE_TOOLS:
        registry.register(look(sandbox), WORKSPACE_TOOL)
    return registry


async def known_tools(config: SilasConfig) -> list[dict[str, Any]]:
    """Every tool's name, risk, scopes, health and last error, for `silas tools list`.

    Toolsets of the configuration are loaded and left again. Without a sandbox the tools that need
    it are unavailable, and the error says what to install.
    """
    sandbox = sandbox_of(config)
    with _kept_health(config) as store:
        registry = built_in_tools(SystemClock(), sandbox, store)
        in_sandbox = {tool.tool_name for tool in registry.all()}
        add_uncalled(registry, config)
        await _look(config, registry)
        rows = tool_rows(registry)
    if isinstance(sandbox, RefusingSandbox):
        refused = {"health": "unavailable", "last_error": sandbox.reason.message}
        rows = [row | refused if row["name"] in in_sandbox else row for row in rows]
    return rows


@contextmanager
def _kept_health(config: SilasConfig) -> Generator[HealthStore]:
    """What is known of tools since earlier runs; nothing before the first one."""
    if not database_path(config).exists():
        yield NOT_KEPT
        return
    with open_database(config, SystemClock(), ("silas.tools",)) as db:
        yield SqlHealthStore(db)


async def configured_tools(config: SilasConfig) -> ToolRegistry:
    """Every built-in tool, and those of the configured toolsets; none of them is ever called.

    Raises:
        ConfigError: A toolset cannot be loaded.
    """
    registry = built_in_tools(SystemClock(), sandbox_of(config))
    add_uncalled(registry, config)
    await _look(config, registry)
    return registry


async def toolset_findings(config: SilasConfig) -> list[tuple[str, bool, str]]:
    """For `silas doctor`: each configured toolset, whether it loads, and what it offers."""
    if not config.toolsets:
        return []
    registry = built_in_tools(SystemClock(), sandbox_of(config))
    add_uncalled(registry, config)
    built_in = {tool.tool_name for tool in registry.all()}
    try:
        await _look(config, registry)
    except ConfigError as error:  # Silas would not start; the other parts have findings, too
        return [("toolsets", False, error.message)]
    tools: dict[str, list[str]] = {scope: [] for scope in sorted(scopes_of(config))}
    for tool in registry.all():
        if tool.tool_name not in built_in:
            tools[tool.connector_id].append(tool.tool_name)
    absent = {f"toolset.{name}": words for name, words in registry.absent().items()}
    return [
        (
            f"toolset {scope.removeprefix('toolset.')}",
            scope not in absent,
            absent.get(scope) or f"offers {', '.join(names) or 'no tool'}",
        )
        for scope, names in tools.items()
    ]


async def _look(config: SilasConfig, registry: ToolRegistry) -> None:
    """Load the toolsets of the configuration and leave them again."""
    async with AsyncExitStack() as stack:
        await mount_toolsets(config, registry, NOTHING_KEPT, stack)
