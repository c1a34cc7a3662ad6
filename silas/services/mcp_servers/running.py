"""The MCP servers of an open Silas: kept connected, and as they are trusted now."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from silas.audit import Audit
from silas.config import SilasConfig
from silas.config.servers_file import ReadServers
from silas.db import Database
from silas.errors import ConfigError, DatabaseError, Stopped
from silas.home.runtime import Runtime
from silas.keys.secret_registry import SecretRegistry
from silas.language import tr
from silas.services.mcp import MCPService, servers_of
from silas.services.mcp_servers.trust_card import ServerInspection
from silas.tools import ToolRegistry
from silas.tools.mcp.settings import MCPEntry, users_of
from silas.tools.mcp.trust import SqlTrust

if TYPE_CHECKING:
    from silas.tools.mcp.servers import MCPServers, ServerState


class RunningServers:
    """The servers of a Silas that is open; where none is configured nothing is loaded.

    Args:
        secrecy: The owner's secrets; told what `env` and `headers` hold, so that no answer shows
            it.
        read: What the configuration file names by now.
    """

    def __init__(
        self,
        config: SilasConfig,
        runtime: Runtime,
        registry: ToolRegistry,
        db: Database,
        audit: Audit,
        secrecy: SecretRegistry,
        read: ReadServers,
    ) -> None:
        self._runtime, self._registry = runtime, registry
        self._secrecy, self._read = secrecy, read
        trusted = SqlTrust(db, runtime.clock)
        self._service = MCPService(config, runtime.sandbox, db, audit, trusted, secrecy)
        self._running: list[MCPServers] = []
        self._stack = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()
        self._wanted: list[tuple[MCPEntry, ...]] = []  # what the file names, until it counts
        self._seen: tuple[tuple[str, ...], ...] = ()  # the trust and the secrets that are in force

    @property
    def entries(self) -> tuple[MCPEntry, ...]:
        """Every one, as it is in force."""
        return self._service.config.mcp_entries

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
        service, runtime = self._service, self._runtime
        servers = servers_of(
            service.config,
            runtime.sandbox,
            self._registry,
            service.trusted,
            service.audit,
            runtime.clock,
            self._secrecy,
        )
        await self._stack.enter_async_context(servers.running())
        self._running.append(servers)

    def _hide(self, entries: Iterable[MCPEntry]) -> None:
        for entry in entries:
            hidden = entry.server.hidden.items()
            self._secrecy.learn({f"mcpServers.{entry.name}.{n}": value for n, value in hidden})
            with suppress(ConfigError):  # why it has none of them is said when it is begun
                self._secrecy.values_of(entry.server.secret_names)

    def users_of(self, secret: str) -> tuple[str, ...]:
        """The servers that are given a secret, by its name."""
        return users_of(self.entries, secret)

    def missing_of(self, entry: MCPEntry) -> tuple[str, ...]:
        """The secrets that a server is to be given, and that are not stored."""
        names = entry.server.secret_names
        there = self._secrecy.refs_of(names)
        return tuple(name for name in names if name not in there)

    async def follow(self) -> None:
        """Put in force what was added, removed or trusted elsewhere, as `silas mcp` does it.

        A server that was begun with a secret that is another one now, or gone, is begun anew. What
        has not changed goes on as it is, and what is called now is left to a later time.
        Nothing is begun while Silas is stopped, or its record was changed outside Silas.
        """
        async with self._one_at_a_time:
            found = await asyncio.to_thread(self._read)
            self._wanted = self._wanted if found is None else [found]
            try:
                self._service.require_able()
                seen = (*self._service.trusted.pins(), *self._secrets())
            except (Stopped, DatabaseError, ConfigError):
                return
            if (self._wanted or seen != self._seen) and await self._apply():
                self._wanted, self._seen = [], seen

    def _secrets(self) -> list[tuple[str, str]]:
        """Name and reference of every secret that a server is given, as they are now."""
        entries = self._wanted[0] if self._wanted else self.entries
        names = {name for entry in entries for name in entry.server.secret_names}
        return sorted(self._secrecy.refs_of(names).items())

    async def _apply(self) -> bool:
        """Whether all of it counts now."""
        before = self.entries
        wanted = self._wanted[0] if self._wanted else before
        if not self._running and wanted:
            self._put_all(wanted)
            await self._begin()
        later = set[str]()
        for servers in self._running:
            self._hide(wanted)
            later |= await servers.follow(wanted)
        named = {entry.name for entry in wanted}
        kept = [one for one in before if one.name in later - named]
        self._put_all([*wanted, *kept])
        return not later

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
        self._service.entry(name)
        self._service.require_able()
        for servers in self._running:
            await servers.retry(name)

    async def look(self, name: str) -> ServerInspection:
        """See `MCPService.look`."""
        return await self._service.look(name)

    async def trust(self, look: ServerInspection) -> None:
        """See `MCPService.trust`; it counts at once.

        Raises:
            ConfigError: Its entry is another one than that which was looked at.
        """
        async with self._one_at_a_time:
            if self._service.entry(look.entry.name) != look.entry:
                raise ConfigError(
                    tr("It is another server by now; look at its tools again."), code="E_CFG_MCP"
                )
            await self._service.trust(look)
            await self._take(look.entry)

    async def refuse(self, look: ServerInspection) -> None:
        """See `MCPService.refuse`."""
        await self._service.refuse(look)

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
        """See `MCPService.distrust`; it ends at once."""
        found = await self._service.distrust(name)
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

    def _put_all(self, entries: Iterable[MCPEntry]) -> None:
        servers = {one.name: one.server for one in entries}
        handling = {one.name: one.handling for one in entries}
        there = self._service.config.model_copy(update={"mcpServers": servers, "mcp": handling})
        self._service = replace(self._service, config=there)

    def _put(self, name: str, entry: MCPEntry | None) -> None:
        config = self._service.config
        servers = {one: it for one, it in config.mcpServers.items() if one != name}
        handling = {one: it for one, it in config.mcp.items() if one != name}
        if entry is not None:
            servers[name], handling[name] = entry.server, entry.handling
        there = config.model_copy(update={"mcpServers": servers, "mcp": handling})
        self._service = replace(self._service, config=there)
