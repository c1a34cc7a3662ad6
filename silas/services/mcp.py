"""The owner's MCP servers in this house: kept connected, looked at, trusted."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from silas.audit import Audit
from silas.canonical import digest
from silas.cards import Action, Detail
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.context import scrub
from silas.db import Database
from silas.errors import ConfigError, ToolError
from silas.home.runtime import Runtime, sandbox_of
from silas.home.unsupported import require_mcp
from silas.plans import show_lines
from silas.sandbox import RefusingSandbox, Sandbox, SandboxUnavailable
from silas.sandbox.bubblewrap.resident import Residents
from silas.services.record import open_record
from silas.services.tools.registry import known_tools
from silas.tools import RiskLevel, ToolRegistry
from silas.tools.health import SqlHealthStore
from silas.tools.mcp.definitions import Listing, ListingDrift, McpToolDefinition, drift
from silas.tools.mcp.settings import MCPEntry
from silas.tools.mcp.trust import SqlTrust
from silas.tools.registry import tool_rows
from silas.types import Risk
from silas.work.authority.allowed_hosts import NetworkRecord

if TYPE_CHECKING:
    from silas.tools.mcp.link import Connect
    from silas.tools.mcp.servers import MCPServers, ServerState

Learn = Callable[[Mapping[str, str]], None]
"""Told every value that no answer may show, by name."""


class RunningServers:
    """The servers of a Silas that is open; where none is configured nothing is loaded.

    Args:
        learn: Told what `env` and `headers` hold, so that no answer shows it.
    """

    def __init__(
        self,
        config: SilasConfig,
        runtime: Runtime,
        registry: ToolRegistry,
        db: Database,
        audit: Audit,
        learn: Learn,
    ) -> None:
        self._config, self._runtime, self._registry = config, runtime, registry
        self._learn = learn
        trusted = SqlTrust(db, runtime.clock)
        self._desk = MCPDesk(config, runtime.sandbox, db, audit, trusted)
        self._running: list[MCPServers] = []

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep the trusted ones connected."""
        if not self._config.mcp_entries:
            yield
            return
        for entry in self._config.mcp_entries:
            hidden = entry.server.hidden.items()
            self._learn({f"mcpServers.{entry.name}.{name}": value for name, value in hidden})
        sandbox, clock, desk = self._runtime.sandbox, self._runtime.clock, self._desk
        servers = _servers(self._config, sandbox, self._registry, desk.trusted, desk.audit, clock)
        async with servers.running():
            self._running.append(servers)
            try:
                yield
            finally:
                self._running.clear()

    def states(self) -> "list[ServerState]":
        """How it stands with every one."""
        return [state for servers in self._running for state in servers.states()]

    async def retry(self, name: str) -> None:
        """Try one now that is not there, and wait for how it went.

        Raises:
            ConfigError: No such server is configured.
            Stopped: Silas is stopped, or the record was changed outside Silas.
        """
        self._desk.entry(name)
        self._desk.audit.require_whole()
        for servers in self._running:
            await servers.retry(name)

    async def distrust(self, name: str) -> bool:
        """See `MCPDesk.distrust`; it ends at once."""
        found = await self._desk.distrust(name)
        for servers in self._running:
            await servers.leave(name, f"no longer trusted; {trust_again(name)}")
        return found


def _servers(
    config: SilasConfig,
    sandbox: Sandbox,
    registry: ToolRegistry,
    trust: SqlTrust,
    audit: Audit,
    clock: Clock,
    *,
    recorded: bool = True,
) -> "MCPServers":
    connect = _connector(sandbox, audit)
    from silas.tools.mcp.servers import MCPServers, ServerHome  # noqa: PLC0415 - the SDK is heavy

    log = audit.log if recorded else _unrecorded
    return MCPServers(config.mcp_entries, connect, ServerHome(registry, trust, log, clock))


async def _unrecorded(event: str, **data: object) -> None:
    """Whoever only looks writes nothing down."""
    del event, data


def _connector(sandbox: Sandbox, audit: Audit) -> "Callable[[MCPEntry], Connect]":
    """How each server is reached: in the sandbox, or over HTTP."""
    require_mcp()
    from silas.tools.mcp.transport import over_http, program  # noqa: PLC0415 - the SDK is heavy

    def connect(entry: MCPEntry) -> "Connect":
        if entry.server.url is not None:
            return lambda: over_http(entry)
        record = NetworkRecord(audit, f"mcpServers.{entry.name}", "server")
        return lambda: program(entry, _residents(sandbox), record)

    return connect


def _residents(sandbox: Sandbox) -> Residents:
    """The sandbox as one that keeps programs. Raises `SandboxUnavailable` where it cannot."""
    if isinstance(sandbox, RefusingSandbox):
        raise sandbox.reason
    if not isinstance(sandbox, Residents):
        raise SandboxUnavailable(
            f"The sandbox {sandbox.name!r} keeps no server running; MCP servers with a `command` "
            "need `sandbox.backend: subprocess`.",
            code="E_SANDBOX_RESIDENT",
        )
    return sandbox


class ServerInspection(NamedTuple):
    """What a server is now, beside what was trusted of it.

    Attributes:
        digest: Of the whole of it; trusting this look trusts exactly that.
    """

    entry: MCPEntry
    listing: Listing
    drift: ListingDrift
    known: bool
    digest: str


@dataclass(frozen=True)
class MCPDesk:
    """The MCP servers alone, for the commands about them."""

    config: SilasConfig
    sandbox: Sandbox
    db: Database
    audit: Audit
    trusted: SqlTrust

    def entry(self, name: str) -> MCPEntry:
        """One that is configured. Raises `ConfigError` where there is none of this name."""
        found = next((e for e in self.config.mcp_entries if e.name == name), None)
        if found is None:
            raise ConfigError(
                f"mcpServers names no server {name!r}; see `silas mcp list`.", code="E_CFG_MCP"
            )
        return found

    async def look(self, name: str) -> ServerInspection:
        """Start a server in its sandbox and ask it for its tools.

        Raises:
            ConfigError: No such server is configured.
            SilasError: It cannot be started, or does not speak the protocol.
        """
        entry = self.entry(name)
        connect = _connector(self.sandbox, self.audit)(entry)
        from silas.tools.mcp.link import look_at  # noqa: PLC0415 - the SDK is heavy

        try:
            found = await look_at(name, connect)
        except ToolError as error:
            raise ToolError(entry.server.without_hidden(error.message), code=error.code) from None
        known = self.trusted.of(name)
        pins = sorted(each.digest for each in found.definitions.values())
        differs = drift(known.definitions, found.definitions)
        seen = digest([entry.source, pins])
        return ServerInspection(entry, found, differs, bool(known.source), seen)

    async def trust(self, look: ServerInspection) -> None:
        """Pin exactly what was looked at, on record.

        Raises:
            Stopped: The record was changed outside Silas; nothing was trusted.
        """
        self.audit.require_whole()
        name = look.entry.name
        with self.db.write():
            self.trusted.trust(name, look.entry.source, look.listing.definitions.values())
            self.audit.log_now(
                "mcp.trusted", server=name, tools=sorted(look.listing.definitions), look=look.digest
            )

    async def distrust(self, name: str) -> bool:
        """Trust nothing of a server any more, on record; whether anything of it was trusted.

        Raises:
            ConfigError: No such server is configured.
        """
        self.entry(name)
        with self.db.write():
            found = self.trusted.distrust(name)
            if found:
                self.audit.log_now("mcp.distrusted", server=name)
        return found

    async def refuse(self, look: ServerInspection) -> None:
        """Note that the owner looked and did not trust."""
        await self.audit.log("mcp.not_trusted", server=look.entry.name, look=look.digest)

    async def states(self) -> "list[ServerState]":
        """How it stands with every server; the trusted ones are started to see."""
        if not self.config.mcp_entries:
            return []
        clock = SystemClock()
        servers = self._servers(ToolRegistry(clock), clock)
        async with servers.running():
            return servers.states()

    async def rows(self) -> list[dict[str, Any]]:
        """Every MCP tool as `silas tools list` shows it."""
        clock = SystemClock()
        registry = ToolRegistry(clock, SqlHealthStore(self.db))
        async with self._servers(registry, clock).running():
            return tool_rows(registry)

    def _servers(self, registry: ToolRegistry, clock: Clock) -> "MCPServers":
        return _servers(
            self.config, self.sandbox, registry, self.trusted, self.audit, clock, recorded=False
        )


def trust_again(name: str) -> str:
    """Where a server is looked at and trusted."""
    return f"look at its tools with `silas mcp trust {name}`"


@asynccontextmanager
async def open_mcp(config: SilasConfig) -> AsyncGenerator[MCPDesk]:
    """The MCP servers of an initialised Silas, without starting anything else."""
    with open_record(config, []) as (db, audit, _):
        audit.look()
        yield MCPDesk(config, sandbox_of(config), db, audit, SqlTrust(db, SystemClock()))


async def all_tool_rows(config: SilasConfig) -> list[dict[str, Any]]:
    """Every tool's name, risk, scopes, health and last error, for `silas tools list`."""
    rows = await known_tools(config)
    if not config.mcp_entries:
        return rows
    async with open_mcp(config) as desk:
        return [*rows, *await desk.rows()]


def trust_card(look: ServerInspection) -> DecisionCard:
    """Everything a model would see of a server, in plain words; silence trusts nothing."""
    entry, count = look.entry, len(look.listing.definitions)
    no, yes = DecisionAnswer(), DecisionAnswer(selected_value="trust", approved=True)
    return DecisionCard(
        intent=f"Trust the MCP server {entry.name} with {count} tools, as they are now",
        risk=Risk.high,
        rationale="What it says of itself is its own word; it runs, and is rated, as shown here.",
        details=(
            Detail(heading="Server", lines=tuple(_server_lines(entry))),
            *(_tool_detail(look, each) for each in look.listing.definitions.values()),
            *_odd(look),
        ),
        actions=(
            Action(label=f"Trust these {count} tools", value=yes, role="recommended"),
            Action(label="Trust nothing new", value=no, role="decline"),
        ),
        safe=no,
    )


def _server_lines(entry: MCPEntry) -> list[str]:
    handling = entry.handling
    if entry.server.url is not None:
        where = "over HTTP, outside this machine's sandbox"
    else:
        where = "in the sandbox, started with Silas"
    told = [
        ("runs", f"{where}: {entry.server.words}"),
        ("reaches", ", ".join(handling.network) or "no host"),
        ("sees", ", ".join(map(str, handling.read)) or "no file of yours"),
        ("changes", ", ".join(map(str, handling.write)) or "no file of yours"),
    ]
    shown = told[:1] if entry.server.url is not None else told
    return [line for name, words in shown for line in show_lines(f"{name}: {words}")]


def _tool_detail(look: ServerInspection, tool: McpToolDefinition) -> Detail:
    handling = look.entry.handling
    risk = handling.rate.get(tool.name, RiskLevel.high)
    kind = "reads only, on your word" if tool.name in handling.reads else "may change something"
    rated = f"{risk.value} risk, {kind}"
    if not handling.offers(tool.name):
        rated = "not offered to models"
    stands = ""
    if look.known and tool.name in (*look.drift.changed, *look.drift.new):
        stands = ", CHANGED" if tool.name in look.drift.changed else ", NEW"
    lines = [
        f"{tool.tool_name}: {rated}{stands}",
        *scrub(tool.description).splitlines(),
        f"arguments: {tool.arguments_json}",
    ]
    shown = tuple(part for line in lines for part in show_lines(line))
    return Detail(heading=f"Tool {tool.name}", lines=shown)


def _odd(look: ServerInspection) -> list[Detail]:
    lines = [f"{name}: cannot be used, {why}" for name, why in look.listing.refused.items()]
    lines += [f"{name}: is gone" for name in look.drift.gone]
    shown = tuple(part for line in lines for part in show_lines(line))
    return [Detail(heading="Not among them", lines=shown)] if shown else []
