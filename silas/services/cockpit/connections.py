"""Servers of tools and channels, for the cockpit: how they fare, and what is done with a server."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from silas.channels.web.views import Done
from silas.channels.web.views_connections import (
    ChannelRow,
    ConnectionRows,
    NewFromSecret,
    NewServer,
    SecretLine,
    ServerChange,
    ServerFormView,
    ServerRow,
    ServerTool,
)
from silas.config import SilasConfig
from silas.language import COCKPIT, refusal_words, said_at, tr
from silas.services.mcp_servers.from_secrets import FromSecret
from silas.services.mcp_servers.management import ServerManagement
from silas.services.mcp_servers.running import RunningServers
from silas.services.mcp_servers.server_form import ServerForm, WantedServer, form_of
from silas.tools import ToolRegistry
from silas.tools.mcp.secret_refs import SCHEMES
from silas.tools.mcp.settings import MCPEntry

if TYPE_CHECKING:
    from silas.tools.mcp.servers import ServerState


class CockpitConnections:
    """`silas.channels.web.choices_port.ConnectionRoom` over an open Silas.

    Args:
        config: What it was started with.
        servers: Those that run in it.
        asked: Adds, trusts and removes servers.
        registry: The tools, with how each fared.
        absent: Why a channel is not there, by its name; empty where it is.
        file: The configuration.
        redact: Takes secrets out of what a server says of itself.
    """

    def __init__(
        self,
        config: SilasConfig,
        servers: RunningServers,
        asked: ServerManagement,
        registry: ToolRegistry,
        absent: Mapping[str, str],
        file: str,
        redact: Callable[[str], str],
    ) -> None:
        self._config = config
        self._servers = servers
        self._asked = asked
        self._registry = registry
        self._absent = absent
        self._file = file
        self._redact = redact

    async def look(self) -> ConnectionRows:
        """See `ConnectionRoom.look`."""
        await self._servers.follow()
        own = ChannelRow(name=tr("Browser"), words=tr("The page that you see."), trouble="")
        return ConnectionRows(
            servers=tuple(self._row(state) for state in await self._servers.states()),
            channels=(own, *(self._channel(name) for name in self._config.channels.others)),
            file=self._file,
            asks=self._asked.waits,
            secrets=await asyncio.to_thread(self._asked.secret_names),
            schemes=SCHEMES,
        )

    async def retry(self, name: str) -> Done:
        """See `ConnectionRoom.retry`."""
        await self._servers.retry(name)
        (state,) = (one for one in await self._servers.states() if one.name == name)
        return Done(words=_words(state))

    async def distrust(self, name: str) -> Done:
        """See `ConnectionRoom.distrust`."""
        await self._servers.distrust(name)
        return Done(words=tr("{name} is out of use: it is no longer trusted.", name=name))

    async def add(self, wanted: NewServer) -> Done:
        """See `ConnectionRoom.add`."""
        await self._asked.add(_wanted_of(wanted))
        return Done(words=tr("Your yes is asked for in Review."))

    async def change(self, wanted: ServerChange) -> Done:
        """See `ConnectionRoom.change`."""
        await self._servers.follow()
        hidden = dict[str, str]()
        for entry in self._servers.entries:
            if entry.name == wanted.name:
                hidden = self._hidden_texts(form_of(entry).wanted)
        written = _wanted_of(wanted)
        written = written._replace(
            command=hidden.get(written.command, written.command),
            url=hidden.get(written.url, written.url),
            args=tuple(hidden.get(one, one) for one in written.args),
        )
        await self._asked.change(ServerForm(written, wanted.kept, wanted.seen))
        return Done(words=tr("Your yes is asked for in Review."))

    async def trust(self, name: str) -> Done:
        """See `ConnectionRoom.trust`."""
        await self._asked.trust(name)
        return Done(words=tr("Its tools were looked at. Your yes is asked for in Review."))

    async def remove(self, name: str) -> Done:
        """See `ConnectionRoom.remove`."""
        await self._asked.remove(name)
        return Done(words=tr("{name} is removed; the former file is kept beside it.", name=name))

    async def close(self) -> None:
        """Ask nobody any more."""
        await self._asked.close()

    def _row(self, state: "ServerState") -> ServerRow:
        (entry,) = (one for one in self._servers.entries if one.name == state.name)
        handling, remote = entry.handling, entry.server.url is not None
        return ServerRow(
            name=state.name,
            standing=state.standing.value,
            words=_words(state),
            trouble=self._trouble(state, entry) if state.standing == "down" else "",
            runs=self._redact(entry.server.words),
            remote=remote,
            reaches=() if remote else handling.network,
            sees=() if remote else tuple(map(str, handling.read)),
            changes=() if remote else tuple(map(str, handling.write)),
            given=self._secret_lines(entry),
            tools=tuple(self._tool(name, usable) for name, usable in state.tools.items()),
            form=self._form(entry),
        )

    def _form(self, entry: MCPEntry) -> ServerFormView:
        form = form_of(entry)
        told = form.wanted
        return ServerFormView(
            command=self._redact(told.command),
            args=tuple(map(self._redact, told.args)),
            url=self._redact(told.url),
            hosts=told.hosts,
            read=told.read,
            write=told.write,
            env=_to_view(told.env),
            headers=_to_view(told.headers),
            kept=form.kept,
            seen=form.seen,
        )

    def _hidden_texts(self, told: WantedServer) -> dict[str, str]:
        """What is shown with a secret left out, and what it is: unchanged it stays as it is."""
        every = (told.command, told.url, *told.args)
        return {shown: one for one in every if (shown := self._redact(one)) != one}

    def _trouble(self, state: "ServerState", entry: MCPEntry) -> str:
        """Why it is not there: in its own words, or in Silas's where a secret of it is missing."""
        words = refusal_words(state.last_error)
        own = said_at(COCKPIT, words) if self._servers.missing_of(entry) else words
        return self._redact(own)

    def _secret_lines(self, entry: MCPEntry) -> tuple[SecretLine, ...]:
        gone = self._servers.missing_of(entry)
        return tuple(
            SecretLine(
                name=use.name,
                secrets=use.secrets,
                missing=tuple(one for one in use.secrets if one in gone),
            )
            for use in entry.server.uses
        )

    def _tool(self, name: str, usable: bool) -> ServerTool:
        tool = self._registry.get(name)
        last = None if tool is None else tool.health.last_success_at
        return ServerTool(name=name, usable=usable, last_used=last)

    def _channel(self, name: str) -> ChannelRow:
        other = self._config.channels.others[name]
        heard = [
            *([tr("hears you")] if other.owner else []),
            *([tr("hears strangers, who get no tools")] if other.strangers else []),
        ]
        words = ", ".join([other.use, *heard])
        trouble = said_at(COCKPIT, refusal_words(self._absent.get(name, "")))
        return ChannelRow(name=name, words=words, trouble=self._redact(trouble))


def _wanted_of(wanted: NewServer) -> WantedServer:
    return WantedServer(
        wanted.name,
        wanted.command,
        wanted.args,
        wanted.url,
        wanted.hosts,
        wanted.read,
        wanted.write,
        _from_secrets(wanted.env),
        _from_secrets(wanted.headers),
    )


def _to_view(lines: Iterable[FromSecret]) -> tuple[NewFromSecret, ...]:
    return tuple(
        NewFromSecret(name=one.name, scheme=one.scheme, secret=one.secret) for one in lines
    )


def _from_secrets(lines: Iterable[NewFromSecret]) -> tuple[FromSecret, ...]:
    return tuple(FromSecret(one.name, one.secret, one.scheme) for one in lines)


def _words(state: "ServerState") -> str:
    if state.standing == "connected":
        return tr("It is there, as you trusted it.")
    if state.standing == "drifted":
        return tr(
            "It is not as you trusted it; what changed is out of use until you look at it again."
        )
    if state.standing == "down":
        return tr("It is not there now; Silas tries again by itself.")
    return tr("It is not started: look at its tools, and say whether you trust them.")
