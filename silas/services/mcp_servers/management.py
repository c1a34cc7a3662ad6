"""Adding, changing, trusting and removing MCP servers in an open Silas, by cards."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from silas.audit.intent import UnrecordedChange
from silas.language import tr, tr_later
from silas.services.mcp_servers.change_plan import PlannedChange, changed_card
from silas.services.mcp_servers.configuration import ConfiguredServers, PlannedServer, added_card
from silas.services.mcp_servers.running import RunningServers
from silas.services.mcp_servers.server_form import ServerForm, WantedServer
from silas.services.mcp_servers.trust_card import ServerInspection, trust_card
from silas.services.setup.one_question import OneQuestion
from silas.stream.owner import Owner
from silas.tools.mcp.settings import MCPEntry


class ServerManagement:
    """Adds, changes, trusts and removes servers; what counts afterwards counts at once.

    Args:
        saved: The configuration file.
        running: Those of this Silas.
        owner: Whom it is asked.
    """

    def __init__(self, saved: ConfiguredServers, running: RunningServers, owner: Owner) -> None:
        self._saved = saved
        self._running = running
        self._question = OneQuestion(owner, "a server of tools", "E_CFG_MCP_ASKED")

    @property
    def waits(self) -> bool:
        """Whether the owner is being asked."""
        return self._question.waits

    def secret_names(self) -> tuple[str, ...]:
        """The secrets that a server may be given, by name."""
        return self._saved.secret_names()

    async def add(self, wanted: WantedServer) -> None:
        """Ask about a server; on the yes of a device of his it is in the file, and not started.

        Raises:
            ConfigError: It cannot be added, or he is being asked already.
        """
        planned = await asyncio.to_thread(self._saved.plan, wanted)
        failed = tr_later("The server was not added: {why}")
        self._question.ask(added_card(planned), partial(self._add_server, planned), failed)

    async def change(self, form: ServerForm) -> None:
        """Ask about another form of a server; on the yes of a device of his it is in the file.

        It is ended then, and trusted no more.

        Raises:
            ConfigError: It cannot be changed so, or he is being asked already.
        """
        await self._running.follow()
        planned = await asyncio.to_thread(self._saved.plan_change, form)
        failed = tr_later("The server was not changed: {why}")
        self._question.ask(changed_card(planned), partial(self._change_server, planned), failed)

    async def trust(self, name: str) -> None:
        """Look at a server's tools, and ask; on the yes of a device of his they can be used.

        Raises:
            ConfigError: There is none of this name, or he is being asked already.
            SilasError: It cannot be started, or does not speak the protocol.
        """
        self._question.require_free()
        look = await self._running.look(name)
        failed = tr_later("Nothing new is trusted: {why}")
        refused = partial(self._running.refuse, look)
        self._question.ask(trust_card(look), partial(self._trust_server, look), failed, refused)

    async def remove(self, name: str) -> None:
        """Trust a server no more, end it, and take it out of the file where it stands there.

        Raises:
            ConfigError: There is none of this name, or the file cannot be written.
        """
        if not await asyncio.to_thread(self._saved.names, name):
            await self._running.distrust(name)
            await self._running.remove(name)
            return
        edit = await asyncio.to_thread(self._saved.plan_removal, name)
        await self._running.distrust(name)
        await self._saved.remove(edit)
        await self._running.remove(name)

    async def close(self) -> None:
        """Ask nobody any more."""
        await self._question.close()

    @asynccontextmanager
    async def _put_in_force(self, entry: MCPEntry) -> AsyncGenerator[None]:
        """What is in the file is in force, whether or not all of it could be recorded."""
        try:
            yield
        except UnrecordedChange:
            await self._running.take(entry)
            raise
        await self._running.take(entry)

    async def _add_server(self, planned: PlannedServer) -> str:
        async with self._put_in_force(planned.entry):
            await self._saved.add(planned)
        return tr(
            "The server {name} is added, and not started: look at its tools under Connections.",
            name=planned.entry.name,
        )

    async def _change_server(self, planned: PlannedChange) -> str:
        async with self._put_in_force(planned.entry):
            await self._saved.change(planned, self._running.distrust)
        return tr(
            "The server {name} is changed, and ended: look at its tools under Connections.",
            name=planned.entry.name,
        )

    async def _trust_server(self, look: ServerInspection) -> str:
        await self._running.trust(look)
        return tr("The tools of {name} are trusted, and it is started.", name=look.entry.name)
