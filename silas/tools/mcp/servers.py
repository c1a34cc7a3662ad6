"""The owner's MCP servers: what of them is trusted is a tool, and only while it is as trusted."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from silas.clock import Clock
from silas.errors import DatabaseError
from silas.tools.mcp.definitions import ListingDrift, ServerTools, drift, without_secrets
from silas.tools.mcp.link import HANDSHAKE_SECONDS, Connect, ServerLink
from silas.tools.mcp.settings import MCPEntry
from silas.tools.mcp.tool import McpAnswer, McpCallNotSent, MCPTool, tool_config
from silas.tools.mcp.trust import ServerTrust, SqlTrust
from silas.tools.registry import ToolRegistry

_NO_DRIFT = ListingDrift((), (), ())
_GRACE_SECONDS = 5.0  # beyond a handshake, for a program to be ended


class ServerStanding(StrEnum):
    """How it stands with a server."""

    untrusted = "untrusted"
    """Its tools were never looked at, or its entry changed since; it is not started."""
    connected = "connected"
    drifted = "drifted"
    """Connected, and some of its tools are not what was trusted."""
    down = "down"


class ServerState(NamedTuple):
    """One server, for a person.

    Attributes:
        tools: Every trusted tool, by the name a model calls, and whether it can be used now.
        last_error: Why not; empty where all is well.
    """

    name: str
    standing: ServerStanding
    tools: dict[str, bool]
    last_error: str


class TrustedServer:
    """Keeps the registry true to what one server is now.

    Args:
        entry: What it is.
        trusted: What the owner trusted of it.
        connect: Opens a connection to it.
        home: What it needs of the house.
        leave: Ends it, for the reason given: it is trusted no more.
    """

    def __init__(
        self,
        entry: MCPEntry,
        trusted: ServerTrust,
        connect: Connect,
        home: "ServerHome",
        leave: "Callable[[str, str], Awaitable[None]]",
    ) -> None:
        self._entry = entry
        self._leave = leave
        self._trusted = trusted
        self._home = home
        self.link = ServerLink(entry.name, connect, self, home.clock)
        self._standing = ServerStanding.down
        self._error = "it was not reached yet"
        self._drift: ListingDrift = _NO_DRIFT
        self._usable: dict[str, bool] = {}
        self._calls = 0
        self._secrets = home.refs_of(entry.server.secret_names)
        for name, definition in trusted.definitions.items():
            if entry.handling.offers(name):
                tool = MCPTool(entry, definition, self)
                home.registry.register(tool, tool_config(entry, name))
                self._suspend(name, self._error)

    async def up(self, now: ServerTools) -> bool:
        """It is there: what is as trusted can be used, the rest cannot until it is asked again.

        Returns:
            Whether all of it is as it was trusted.
        """
        now = without_secrets(now, self._home.redact)
        found = drift(self._trusted.definitions, now.definitions)
        stays_out = {*found.changed, *found.gone}
        name = self._entry.name
        for tool in self._usable:
            if tool in stays_out:
                words = "is not what you trusted" if tool in found.changed else "is gone"
                self._suspend(tool, f"it {words}; look at it with `silas mcp trust {name}`")
            else:
                self._restore(tool)
        if found != self._drift:
            await self._home.log("mcp.drifted", server=name, **found._asdict())
        if self._standing is ServerStanding.down:
            await self._home.log("mcp.connected", server=name, tools=len(self._usable))
        self._drift = found
        self._standing = ServerStanding.drifted if found else ServerStanding.connected
        self._error = _words_of(found)
        return not found

    async def down(self, why: str) -> None:
        """It is not there: nothing of it is offered, and a call fails at once."""
        why = self._home.redact(self._entry.server.remove_hidden(why))
        for tool in self._usable:
            self._suspend(tool, f"the MCP server {self._entry.name!r} is not there: {why}")
        if self._standing is not ServerStanding.down or self._error != why:
            await self._home.log("mcp.disconnected", server=self._entry.name, why=why)
        self._standing, self._error = ServerStanding.down, why

    async def retry(self) -> None:
        """Try now, and wait for how it went, where it is not there."""
        if self._standing is ServerStanding.down:
            self.link.retry()
            async with asyncio.timeout(HANDSHAKE_SECONDS + _GRACE_SECONDS):
                await self.link.tried.wait()

    async def call(self, tool: str, args: dict[str, Any], seconds: float) -> McpAnswer:
        """See `McpLink.call`. What the owner trusts is read anew: he may have said so elsewhere."""
        if why := self.doubt():
            await self._leave(self._entry.name, why)
            raise McpCallNotSent(f"The MCP server {self._entry.name!r} is out of use: {why}.")
        self._calls += 1
        try:
            return await self.link.call(tool, args, seconds)
        finally:
            self._calls -= 1

    @property
    def is_called(self) -> bool:
        """Whether it is at a call now: to end it would leave nobody knowing what came of it."""
        return self._calls > 0

    def differs(self, entry: MCPEntry, trusted: ServerTrust) -> bool:
        """Whether it is not what this is, or was begun with other secrets than are there now."""
        secrets = self._home.refs_of(entry.server.secret_names)
        return (self._entry, self._trusted, self._secrets) != (entry, trusted, secrets)

    def doubt(self) -> str:
        """Why it is not as it is trusted in the database now; empty where it is."""
        try:
            now = self._home.trust.of(self._entry.name)
        except DatabaseError as error:
            return error.message.rstrip(".")
        if now == self._trusted:
            return ""
        why = "it was looked at again elsewhere" if now.source else "no longer trusted"
        return f"{why}; {look_again(self._entry.name)}"

    def withdraw(self) -> None:
        """Take its tools out of the registry: others may have their names."""
        for tool in self._usable:
            self._home.registry.withdraw(self._trusted.definitions[tool].tool_name)

    async def leave(self, why: str) -> ServerState:
        """Out of use for good; how it stands from then on."""
        await self.down(why)
        return ServerState(self._entry.name, ServerStanding.untrusted, {}, why)

    def _suspend(self, tool: str, why: str) -> None:
        self._usable[tool] = False
        self._home.registry.suspend(self._trusted.definitions[tool].tool_name, why)

    def _restore(self, tool: str) -> None:
        self._usable[tool] = True
        self._home.registry.restore(self._trusted.definitions[tool].tool_name)

    def state(self) -> ServerState:
        """How it stands."""
        called = {self._trusted.definitions[n].tool_name: ok for n, ok in self._usable.items()}
        return ServerState(self._entry.name, self._standing, called, self._error)


def _words_of(found: ListingDrift) -> str:
    parts = [
        f"{words} since you trusted it: {', '.join(names)}"
        for words, names in (("changed", found.changed), ("new", found.new), ("gone", found.gone))
        if names
    ]
    return "; ".join(parts)


class ServerLog(Protocol):
    """Where it is told how it stands with a server: `Audit.log` is one."""

    def __call__(self, event: str, **data: object) -> Awaitable[object]:
        """Record one event."""
        ...


class ServerHome(NamedTuple):
    """What every server needs of the house.

    Attributes:
        redact: Takes secrets out of what it says of itself.
        refs_of: The references of those secrets of these names that are there now.
    """

    registry: ToolRegistry
    trust: SqlTrust
    log: ServerLog
    clock: Clock
    redact: Callable[[str], str]
    refs_of: Callable[[Sequence[str]], Mapping[str, str]]


def look_again(name: str) -> str:
    """Where a server is looked at and trusted."""
    return f"look at its tools with `silas mcp trust {name}`"


class MCPServers:
    """Every configured server. One that was never trusted is not even started."""

    def __init__(
        self,
        entries: Sequence[MCPEntry],
        connect: Callable[[MCPEntry], Connect],
        home: ServerHome,
    ) -> None:
        self._connect = connect
        self._home = home
        self._untrusted: dict[str, ServerState] = {}
        self._servers: dict[str, TrustedServer] = {}
        self._left: dict[str, TrustedServer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        for entry in entries:
            self._admit(entry)

    def _admit(self, entry: MCPEntry) -> TrustedServer | None:
        home, name = self._home, entry.name
        trusted = home.trust.of(name)
        if trusted.source == entry.source:
            server = TrustedServer(entry, trusted, self._connect(entry), home, self.leave)
            self._servers[name] = server
            return server
        why = "its entry in the configuration changed" if trusted.source else "never trusted"
        words = f"{why}; {look_again(name)}"
        home.registry.note_absent(f"mcp.{name}", f"The MCP server {name} is out of use: {words}.")
        self._untrusted[name] = ServerState(name, ServerStanding.untrusted, {}, words)
        return None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep them connected; each had its first try before this goes on."""
        try:
            await self._start(self._servers)
            yield
        finally:
            for server in self._servers.values():
                server.link.end()
            for task in self._tasks.values():
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks.values())

    async def _start(self, servers: Mapping[str, TrustedServer]) -> None:
        self._tasks |= {n: asyncio.create_task(one.link.run()) for n, one in servers.items()}
        tried = [asyncio.create_task(one.link.tried.wait()) for one in servers.values()]
        if tried:
            await asyncio.wait(tried, timeout=HANDSHAKE_SECONDS)
        for each in tried:
            each.cancel()

    async def retry(self, name: str) -> None:
        """Try a trusted server now where it is not there; another is left as it is."""
        if name in self._servers:
            await self._servers[name].retry()

    async def take(self, entry: MCPEntry) -> None:
        """Begin with a server while the others run, or anew with one whose trust changed."""
        await self.remove(entry.name, "it is begun anew")
        if server := self._admit(entry):
            await self._start({entry.name: server})

    async def leave(self, name: str, why: str) -> None:
        """End a server, and start it no more; one that was never started stays as it is."""
        server, task = self._servers.pop(name, None), self._tasks.pop(name, None)
        if server is None or task is None:
            return
        self._left[name] = server
        server.link.end()
        task.cancel()
        await asyncio.wait([task])
        if self._left.get(name) is server:  # not removed meanwhile
            state = await server.leave(why)
            if self._left.get(name) is server:
                self._untrusted[name] = state

    async def remove(self, name: str, why: str) -> None:
        """End a server and know nothing of it any more."""
        await self.leave(name, why)
        self._untrusted.pop(name, None)
        if left := self._left.pop(name, None):
            left.withdraw()
        self._home.registry.note_there(f"mcp.{name}")

    async def follow(self, entries: Sequence[MCPEntry]) -> Set[str]:
        """Be as these are, and trusted, now; each that has not changed goes on as it is.

        Returns:
            Those that changed and are at a call now: they are as they were until a later time.
        """
        named = {entry.name for entry in entries}
        gone = ({*self._servers, *self._untrusted, *self._left}) - named
        changed = [entry for entry in entries if self._has_changed(entry)]
        later = {
            name
            for name in {*gone, *(entry.name for entry in changed)}
            if name in self._servers and self._servers[name].is_called
        }
        for name in gone - later:
            await self.remove(name, "removed")
        begun = dict[str, TrustedServer]()
        for entry in changed:
            if entry.name not in later:
                await self.remove(entry.name, "it is begun anew")
                if server := self._admit(entry):
                    begun[entry.name] = server
        await self._start(begun)
        return later

    def _has_changed(self, entry: MCPEntry) -> bool:
        try:
            trusted = self._home.trust.of(entry.name)
        except DatabaseError:
            return False  # what cannot be read ends it before its next call
        if server := self._servers.get(entry.name):
            return server.differs(entry, trusted)
        return trusted.source == entry.source or entry.name not in self._untrusted

    async def end_untrusted(self) -> None:
        """End each that is not trusted any more as it runs: another process may have said so."""
        doubts = {name: why for name, one in self._servers.items() if (why := one.doubt())}
        for name, why in doubts.items():
            await self.leave(name, why)

    def states(self) -> list[ServerState]:
        """How it stands with each, those that were never trusted last."""
        return [*(server.state() for server in self._servers.values()), *self._untrusted.values()]
