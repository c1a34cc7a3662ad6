"""The built-in tools, and how they stand before anything has run."""

from typing import Any

from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.sandbox import RefusingSandbox, Sandbox
from silas.tools import FILE_TOOLS, RiskLevel, ToolConfig, ToolRegistry
from silas.tools.python import PythonTool
from silas.tools.shell import ShellTool
from silas.wiring.ground import sandbox_of


def built_in_tools(clock: Clock, sandbox: Sandbox) -> ToolRegistry:
    """What every Silas can call. Low risk: they act in a private copy, with named hosts only."""
    registry = ToolRegistry(clock)
    inside = (ShellTool, PythonTool, *FILE_TOOLS)
    for tool in (made(sandbox) for made in inside):
        registry.register(tool, ToolConfig(connector_id="sandbox", risk_default=RiskLevel.low))
    return registry


def tool_rows(config: SilasConfig) -> list[dict[str, Any]]:
    """Every tool's name, risk, scopes, health and last error, for `silas tools list`.

    Without a sandbox they are unavailable, and the error says what to install.
    """
    sandbox = sandbox_of(config)
    refused = sandbox.reason.message if isinstance(sandbox, RefusingSandbox) else None
    return [
        {
            "name": tool.tool_name,
            "risk": tool.risk_default.value,
            "scopes": list(tool.scopes),
            "health": tool.health.status.value if refused is None else "unavailable",
            "last_error": tool.health.last_error if refused is None else refused,
        }
        for tool in built_in_tools(SystemClock(), sandbox).all()
    ]
