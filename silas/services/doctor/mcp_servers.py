"""How it stands with each configured MCP server, for `silas doctor`."""

from collections.abc import Set
from pathlib import Path

from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import SilasError
from silas.home.database import open_database
from silas.home.findings import DoctorFinding, FindingState
from silas.services.doctor.reachability import why_unreachable
from silas.services.mcp import open_mcp
from silas.services.secrets import secret_facts
from silas.tools.mcp.settings import MCPEntry
from silas.tools.mcp.trust import SqlTrust

_PART = "MCP server {}"


async def mcp_findings(config: SilasConfig, *, deep: bool) -> list[DoctorFinding]:
    """Each server: whether it is trusted and there.

    Args:
        config: With an initialised home.
        deep: Also start the trusted ones, which `silas ask` would.
    """
    if not config.mcp_entries:
        return []
    try:
        return await (_findings_when_started(config) if deep else _looked_at(config))
    except SilasError as error:
        return [DoctorFinding("MCP servers", "failed", error.message)]


async def _looked_at(config: SilasConfig) -> list[DoctorFinding]:
    clock = SystemClock()
    with open_database(config, clock) as db:
        trust = SqlTrust(db, clock)
        trusted = {entry.name: trust.of(entry.name).source for entry in config.mcp_entries}
    stored = frozenset(fact.name for fact in secret_facts(config))
    return [await _finding(entry, trusted[entry.name], stored) for entry in config.mcp_entries]


async def _finding(entry: MCPEntry, trusted: str, stored: Set[str]) -> DoctorFinding:
    part = _PART.format(entry.name)
    url = entry.server.url
    fault = _no_secret(entry, stored) or (
        _no_program(entry) if url is None else await why_unreachable(url, "`url`")
    )
    if fault:
        return DoctorFinding(part, "failed", fault)
    if trusted == entry.source:
        return DoctorFinding(part, "ok", "trusted; Silas starts it when it starts itself")
    why = "its entry in the configuration changed" if trusted else "never trusted"
    return DoctorFinding(part, "advice", _out_of_use(entry.name, why))


def _out_of_use(name: str, why: str) -> str:
    return f"out of use: {why}; look at its tools with `silas mcp trust {name}`"


def _no_secret(entry: MCPEntry, stored: Set[str]) -> str:
    """Which secret it is to be given and is not there, in one clause; empty where all are."""
    gone = next((name for name in entry.server.secret_names if name not in stored), "")
    return (
        f"the secret {gone} is not stored; store it first: `silas secrets add {gone}`"
        if gone
        else ""
    )


def _no_program(entry: MCPEntry) -> str:
    """Why its program cannot be there, in one clause; empty where it may be."""
    command = Path(entry.server.command or "").expanduser()
    if command.is_absolute() and not command.exists():
        return f"{command} does not exist; correct `command` in mcpServers.{entry.name}"
    return ""


async def _findings_when_started(config: SilasConfig) -> list[DoctorFinding]:
    """As it is once Silas runs."""
    async with open_mcp(config) as service:
        states = await service.states()
    levels: dict[str, FindingState] = {"connected": "ok", "untrusted": "advice"}
    return [
        DoctorFinding(
            _PART.format(one.name),
            levels.get(one.standing, "failed"),
            f"out of use: {one.last_error}" if one.last_error else f"offers {len(one.tools)} tools",
        )
        for one in states
    ]
