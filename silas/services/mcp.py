"""The owner's MCP servers in this house: kept connected, looked at, trusted."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from silas.audit import Audit
from silas.canonical import digest
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import ConfigError, ToolError
from silas.home.runtime import Runtime, sandbox_of
from silas.home.unsupported import require_mcp
from silas.language import tr
from silas.sandbox import RefusingSandbox, Sandbox, SandboxUnavailable
from silas.sandbox.bubblewrap.resident import Residents
from silas.services.record import open_record
from silas.services.servers.trust_card import ServerInspection
from silas.services.tools.registry import known_tools
from silas.stop import Sentinel
from silas.tools import ToolRegistry
from silas.tools.health import SqlHealthStore
from silas.tools.mcp.definitions import drift
from silas.tools.mcp.settings import MCPEntry
from silas.tools.mcp.trust import SqlTrust
from silas.tools.registry import tool_rows
from silas.work.authority.allowed_hosts import NetworkRecord

if TYPE_CHECKING:
    from silas.tools.mcp.link import Connect
    from silas.tools.mcp.servers import MCPServers, ServerState
    from silas.tools.mcp.transport import McpConnection

LearnSecrets = Callable[[Mapping[str, str]], None]
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
        learn: LearnSecrets,
    ) -> None:
        self._runtime, self._registry = runtime, registry
        self._learn = learn
        trusted = SqlTrust(db, runtime.clock)
        self._desk = MCPDesk(config, runtime.sandbox, db, audit, trusted)
        self._running: list[MCPServers] = []
        self._stack = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()

    @property
    def entries(self) -> tuple[MCPEntry, ...]:
        """Every one, as it is in force."""
        return self._desk.config.mcp_entries

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep the trusted ones connected."""
        async with self._stack:
            if self.entries:
                await self._begin()
            try:
                yield
            finally:
                self._running.clear()

    async def _begin(self) -> None:
        self._hide(self.entries)
        desk, runtime = self._desk, self._runtime
        servers = _servers(
            desk.config, runtime.sandbox, self._registry, desk.trusted, desk.audit, runtime.clock
        )
        await self._stack.enter_async_context(servers.running())
        self._running.append(servers)

    def _hide(self, entries: Iterable[MCPEntry]) -> None:
        for entry in entries:
            hidden = entry.server.hidden.items()
            self._learn({f"mcpServers.{entry.name}.{name}": value for name, value in hidden})

    async def states(self) -> "list[ServerState]":
        """How it stands with every one, by what is trusted now."""
        for servers in self._running:
            await servers.end_untrusted()
        return [state for servers in self._running for state in servers.states()]

    async def retry(self, name: str) -> None:
        """Try one now that is not there, and wait for how it went.

        Raises:
            ConfigError: No such server is configured.
            Stopped: Silas is stopped, or the record was changed outside Silas.
        """
        self._desk.entry(name)
        self._desk.require_able()
        for servers in self._running:
            await servers.retry(name)

    async def look(self, name: str) -> ServerInspection:
        """See `MCPDesk.look`."""
        return await self._desk.look(name)

    async def trust(self, look: ServerInspection) -> None:
        """See `MCPDesk.trust`; it counts at once.

        Raises:
            ConfigError: Its entry is another one than that which was looked at.
        """
        async with self._one_at_a_time:
            if self._desk.entry(look.entry.name) != look.entry:
                raise ConfigError(
                    tr("It is another server by now; look at its tools again."), code="E_CFG_MCP"
                )
            await self._desk.trust(look)
            await self._take(look.entry)

    async def refuse(self, look: ServerInspection) -> None:
        """See `MCPDesk.refuse`."""
        await self._desk.refuse(look)

    async def take(self, entry: MCPEntry) -> None:
        """Put one in force that was added to the configuration."""
        async with self._one_at_a_time:
            self._put(entry.name, entry)
            await self._take(entry)

    async def _take(self, entry: MCPEntry) -> None:
        if not self._running:
            await self._begin()
            return
        self._hide([entry])
        for servers in self._running:
            await servers.take(entry)

    async def distrust(self, name: str) -> bool:
        """See `MCPDesk.distrust`; it ends at once."""
        found = await self._desk.distrust(name)
        from silas.tools.mcp.servers import look_again  # noqa: PLC0415 - the SDK is heavy

        for servers in self._running:
            await servers.leave(name, f"no longer trusted; {look_again(name)}")
        return found

    async def remove(self, name: str) -> None:
        """End one and know nothing of it any more; it is trusted no more already."""
        async with self._one_at_a_time:
            self._put(name, None)
            for servers in self._running:
                await servers.remove(name, "removed")

    def _put(self, name: str, entry: MCPEntry | None) -> None:
        config = self._desk.config
        servers = {one: it for one, it in config.mcpServers.items() if one != name}
        handling = {one: it for one, it in config.mcp.items() if one != name}
        if entry is not None:
            servers[name], handling[name] = entry.server, entry.handling
        there = config.model_copy(update={"mcpServers": servers, "mcp": handling})
        self._desk = replace(self._desk, config=there)


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
    connect = _connector(config, sandbox, audit)
    from silas.tools.mcp.servers import MCPServers, ServerHome  # noqa: PLC0415 - the SDK is heavy

    log = audit.log if recorded else _unrecorded
    return MCPServers(config.mcp_entries, connect, ServerHome(registry, trust, log, clock))


async def _unrecorded(event: str, **data: object) -> None:
    """Whoever only looks writes nothing down."""
    del event, data


def _connector(
    config: SilasConfig, sandbox: Sandbox, audit: Audit
) -> "Callable[[MCPEntry], Connect]":
    """How each server is reached: in the sandbox, or over HTTP; none while Silas is stopped."""
    require_mcp()
    from silas.tools.mcp.transport import over_http, program  # noqa: PLC0415 - the SDK is heavy

    sentinel = _sentinel(config)

    def far(entry: MCPEntry) -> "AbstractAsyncContextManager[McpConnection]":
        sentinel.require_running()  # a program's own is the sandbox's
        return over_http(entry)

    def connect(entry: MCPEntry) -> "Connect":
        if entry.server.url is not None:
            return partial(far, entry)
        record = NetworkRecord(audit, f"mcpServers.{entry.name}", "server")
        return lambda: program(entry, _residents(sandbox), record)

    return connect


def _sentinel(config: SilasConfig) -> Sentinel:
    return Sentinel(config.data_dir, config.scheduler.zone)


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

    def require_running(self) -> None:
        """Raises `Stopped` where Silas is stopped."""
        _sentinel(self.config).require_running()

    def require_able(self) -> None:
        """Raises `Stopped` where Silas is stopped, or the record was changed outside Silas."""
        self.require_running()
        self.audit.require_whole()

    async def look(self, name: str) -> ServerInspection:
        """Start a server in its sandbox and ask it for its tools.

        Raises:
            ConfigError: No such server is configured.
            Stopped: Silas is stopped, or the record was changed outside Silas.
            SilasError: It cannot be started, or does not speak the protocol.
        """
        entry = self.entry(name)
        self.require_able()
        connect = _connector(self.config, self.sandbox, self.audit)(entry)
        from silas.tools.mcp.link import look_at  # noqa: PLC0415 - the SDK is heavy

        try:
            found = await look_at(name, connect)
        except ToolError as error:
            raise ToolError(entry.server.remove_hidden(error.message), code=error.code) from None
        known = self.trusted.of(name)
        pins = sorted(each.digest for each in found.definitions.values())
        differs = drift(known.definitions, found.definitions)
        held = entry.handling
        rated = {name: risk.value for name, risk in held.rate.items()}
        said = [rated, sorted(held.reads), None if held.offer is None else sorted(held.offer)]
        seen = digest([name, entry.source, pins, said])
        return ServerInspection(entry, found, differs, known, seen)

    async def trust(self, look: ServerInspection) -> None:
        """Pin exactly what was looked at, on record.

        Raises:
            Stopped: Silas is stopped, or the record was changed outside Silas; nothing was trusted.
        """
        self.require_able()
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
