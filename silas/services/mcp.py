"""The owner's MCP servers in this house: how they are reached, looked at, trusted."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from silas.audit import Audit
from silas.canonical import digest
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import ConfigError, ToolError
from silas.home.runtime import sandbox_of
from silas.home.secret_store import secrets_of
from silas.home.unsupported import require_mcp
from silas.keys.secret_registry import SecretRegistry
from silas.sandbox import RefusingSandbox, Sandbox, SandboxUnavailable
from silas.sandbox.bubblewrap.resident import Residents
from silas.services.mcp_servers.secret_injection import SecretInjector
from silas.services.mcp_servers.trust_card import ServerInspection
from silas.services.record import open_record
from silas.services.tools.registry import known_tools
from silas.stop import Sentinel
from silas.tools import ToolRegistry
from silas.tools.health import SqlHealthStore
from silas.tools.mcp.definitions import drift, without_secrets
from silas.tools.mcp.settings import MCPEntry
from silas.tools.mcp.trust import SqlTrust
from silas.tools.registry import tool_rows
from silas.work.authority.allowed_hosts import NetworkRecord

if TYPE_CHECKING:
    from silas.tools.mcp.link import Connect
    from silas.tools.mcp.servers import MCPServers, ServerState
    from silas.tools.mcp.transport import McpConnection


def servers_of(
    config: SilasConfig,
    sandbox: Sandbox,
    registry: ToolRegistry,
    trust: SqlTrust,
    audit: Audit,
    clock: Clock,
    secrecy: SecretRegistry,
    *,
    recorded: bool = True,
) -> "MCPServers":
    """The configured servers, not yet running; told to the record where it is `recorded`."""
    connect = _connector(config, sandbox, audit, secrecy)
    from silas.tools.mcp.servers import MCPServers, ServerHome  # noqa: PLC0415 - the SDK is heavy

    log = audit.log if recorded else _record_nothing
    redact = partial(secrecy.redact, cut=True)
    home = ServerHome(registry, trust, log, clock, redact, secrecy.refs_of)
    return MCPServers(config.mcp_entries, connect, home)


async def _record_nothing(event: str, **data: object) -> None:
    """Whoever only looks writes nothing down."""
    del event, data


def _connector(
    config: SilasConfig, sandbox: Sandbox, audit: Audit, secrecy: SecretRegistry
) -> "Callable[[MCPEntry], Connect]":
    """How each server is reached: in the sandbox, or over HTTP; none while Silas is stopped."""
    require_mcp()
    from silas.tools.mcp.transport import over_http, program  # noqa: PLC0415 - the SDK is heavy

    sentinel, giver = _sentinel(config), SecretInjector(secrecy, audit)

    def reach(entry: MCPEntry) -> "AbstractAsyncContextManager[McpConnection]":
        if entry.server.url is not None:
            return over_http(entry)
        record = NetworkRecord(audit, f"mcpServers.{entry.name}", "server")
        return program(entry, _residents(sandbox), record)

    def connect(entry: MCPEntry) -> "Connect":
        given = giver.connect(entry, reach)

        def begin() -> "AbstractAsyncContextManager[McpConnection]":
            sentinel.require_running()  # before a secret is given, or an address reached
            return given()

        return begin

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
class MCPService:
    """The MCP servers alone, for the commands about them."""

    config: SilasConfig
    sandbox: Sandbox
    db: Database
    audit: Audit
    trusted: SqlTrust
    secrecy: SecretRegistry

    def entry(self, name: str) -> MCPEntry:
        """One that is configured. Raises `ConfigError` where there is none of this name."""
        found = next((e for e in self.config.mcp_entries if e.name == name), None)
        if found is None:
            raise ConfigError(
                f"The configuration names no server {name!r}; see `silas mcp list`.",
                code="E_CFG_MCP",
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
        self.secrecy.values_of(entry.server.secret_names)  # whoever types for them has his time
        connect = _connector(self.config, self.sandbox, self.audit, self.secrecy)(entry)
        from silas.tools.mcp.link import look_at  # noqa: PLC0415 - the SDK is heavy

        try:
            found = without_secrets(await look_at(name, connect), self.secrecy.redact)
        except ToolError as error:
            words = self.secrecy.redact(entry.server.remove_hidden(error.message), cut=True)
            raise ToolError(words, code=error.code) from None
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

    @asynccontextmanager
    async def offering(self, registry: ToolRegistry) -> AsyncGenerator[None]:
        """The tools of the trusted servers in a registry, for who only looks; nothing is called."""
        async with self._servers(registry, SystemClock()).running():
            yield

    def _servers(self, registry: ToolRegistry, clock: Clock) -> "MCPServers":
        for entry in self.config.mcp_entries:
            with suppress(ConfigError):  # why it has none of them is said when it is begun
                self.secrecy.values_of(entry.server.secret_names)
        return servers_of(
            self.config,
            self.sandbox,
            registry,
            self.trusted,
            self.audit,
            clock,
            self.secrecy,
            recorded=False,
        )


@asynccontextmanager
async def open_mcp(config: SilasConfig) -> AsyncGenerator[MCPService]:
    """The MCP servers of an initialised Silas, without starting anything else."""
    with open_record(config, []) as (db, audit, _):
        audit.look()
        clock = SystemClock()
        secrecy = SecretRegistry(secrets_of(config), clock.now)
        yield MCPService(config, sandbox_of(config), db, audit, SqlTrust(db, clock), secrecy)


async def all_tool_rows(config: SilasConfig) -> list[dict[str, Any]]:
    """Every tool's name, risk, scopes, health and last error, for `silas tools list`."""
    rows = await known_tools(config)
    if not config.mcp_entries:
        return rows
    async with open_mcp(config) as service:
        return [*rows, *await service.rows()]
