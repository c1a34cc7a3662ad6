"""MCP servers in the configuration file: adding one takes a yes, removing one does not."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from silas.audit import Audit
from silas.audit.intent import ChangeEvents, UnrecordedChange, record_change
from silas.canonical import digest
from silas.cards import Detail
from silas.cards.models import DecisionCard
from silas.config import SilasConfig
from silas.config.change_server import part_changes, plan_changed
from silas.config.edit_servers import (
    ServersEdit,
    entry_after,
    plan_added,
    plan_removed,
    write_servers,
)
from silas.config.load import load_config
from silas.config.place import ConfigPlace
from silas.errors import ConfigError, SilasError
from silas.home.unsupported import require_mcp
from silas.keys.secrets import SecretVault
from silas.language import refusal_words, tr
from silas.services.mcp_servers.change_plan import PlannedChange
from silas.services.mcp_servers.file_card import file_card
from silas.services.mcp_servers.from_secrets import (
    refuse_missing,
    refuse_twice,
)
from silas.services.mcp_servers.server_form import (
    ServerForm,
    WantedServer,
    form_of,
    handling_data,
    parts_of,
    parts_wanted,
    server_data,
    tidy_server,
)
from silas.services.mcp_servers.trust_card import server_lines
from silas.services.mcp_servers.validation import CODE, refuse_bad_name, refuse_unfit
from silas.stop.sentinel import RequireRunning
from silas.tools.mcp.settings import MCPEntry

_ADDITION: Final = ChangeEvents("mcp.adding", "mcp.added", "mcp.not_written")
_CHANGE: Final = ChangeEvents("mcp.changing", "mcp.changed", "mcp.not_written")
_REMOVAL: Final = ChangeEvents("mcp.removing", "mcp.removed", "mcp.not_written")


class PlannedServer(NamedTuple):
    """One that is to be added, held against every rule; nothing is written yet."""

    entry: MCPEntry
    edit: ServersEdit
    wanted: WantedServer

    @property
    def digest(self) -> str:
        """Of its name, what it is and what it may reach; a yes to this adds exactly that."""
        return digest([self.entry.name, self.entry.source])


class ConfiguredServers:
    """Changes which servers the configuration file names, for the cockpit and the terminal."""

    def __init__(
        self,
        place: ConfigPlace,
        audit: Audit,
        require_running: RequireRunning,
        secrets: SecretVault,
    ) -> None:
        self._place = place
        self._audit = audit
        self._require_running = require_running
        self._secrets = secrets

    def plan(self, wanted: WantedServer) -> PlannedServer:
        """What the file will say with one more.

        Raises:
            ConfigError: It cannot be added, in one sentence that says why.
            Stopped: Silas is stopped.
        """
        require_mcp()
        self._require_running()
        config = self._saved_config()
        wanted = tidy_server(wanted)
        refuse_bad_name(wanted.name, config)
        refuse_unfit(wanted, config, self._place.file)
        self._refuse_missing(wanted)
        edit = plan_added(self._place, wanted.name, server_data(wanted), handling_data(wanted))
        entry = entry_after(edit, self._place)
        if entry is None:
            raise AssertionError("what is added is there afterwards")
        return PlannedServer(entry, edit, wanted)

    def secret_names(self) -> tuple[str, ...]:
        """The secrets that a server may be given, by name; nothing is opened."""
        return tuple(fact.name for fact in self._secrets.facts())

    def _refuse_missing(self, wanted: WantedServer) -> None:
        for field, lines in (("env", wanted.env), ("headers", wanted.headers)):
            if lines:
                refuse_missing(lines, self.secret_names(), field)

    async def add(self, planned: PlannedServer) -> None:
        """Write it into the file, on record. It is not started: its tools are trusted apart.

        Raises:
            ConfigError: The file changed meanwhile, or cannot be written, or a secret is gone.
            Stopped: Silas is stopped, or the record was changed outside Silas.
        """
        await self._require_able(planned.wanted)
        await self._write(planned.edit, _ADDITION, _facts(planned.entry, planned.digest))

    async def _require_able(self, wanted: WantedServer) -> None:
        self._require_running()
        self._audit.require_whole()
        await asyncio.to_thread(self._refuse_missing, wanted)

    def form(self, name: str) -> ServerForm:
        """A server that is there, as its owner would write it down.

        Raises:
            ConfigError: The file names none of this name.
        """
        return form_of(self._entry(name))

    def plan_change(self, form: ServerForm) -> PlannedChange:
        """What the file will say with a server changed, held against the rules of a new one.

        Raises:
            ConfigError: It is not there, is another one than was seen, would stay as it is, or
                cannot be what is wanted.
            Stopped: Silas is stopped.
        """
        require_mcp()
        self._require_running()
        wanted, now = tidy_server(form.wanted), self._entry(form.wanted.name)
        was = form_of(now)
        if form.seen != now.source or not set(form.kept) <= set(was.kept):
            raise ConfigError(
                tr("{name} was changed meanwhile; look at it again.", name=now.name), code=CODE
            )
        before, after = parts_of(now), parts_wanted(wanted, form.kept, now)
        changes = part_changes(before, after)
        refuse_unfit(wanted, self._saved_config(), self._place.file, was.wanted)
        _refuse_two_of_a_name(wanted, form.kept)
        if not changes:
            raise ConfigError(tr("There is nothing to change."), code=CODE)
        self._refuse_missing(wanted)
        edit = plan_changed(self._place, now.name, changes)
        entry = entry_after(edit, self._place)
        if entry is None or part_changes(after, parts_of(entry)):
            raise ConfigError(
                tr(
                    "{file} does not decide all of {name}: a variable of the environment wins over "
                    "it.",
                    file=str(self._place.file),
                    name=now.name,
                ),
                code=CODE,
            )
        return PlannedChange(now, entry, edit, wanted)

    async def change(
        self, planned: PlannedChange, distrust: Callable[[str], Awaitable[bool]]
    ) -> None:
        """Write it into the file, on record, and end the trust in what it was.

        Args:
            planned: The change.
            distrust: Ends the trust in a server.

        Raises:
            ConfigError: The file changed meanwhile, or cannot be written, or a secret is gone.
            Stopped: Silas is stopped, or the record was changed outside Silas.
            UnrecordedChange: It is changed, and that or the end of the trust is not on record. It
                is not what was trusted, so it is not started all the same.
        """
        await self._require_able(planned.wanted)
        facts, name = _facts(planned.entry, planned.digest), planned.entry.name
        await self._write(planned.edit, _CHANGE, facts)
        try:
            await distrust(name)
        except SilasError as error:
            raise UnrecordedChange(
                tr(
                    "{name} is changed, and is not started until you trust it anew. That it is "
                    "trusted no more as it was could not be recorded: {why}",
                    name=name,
                    why=refusal_words(error.message),
                ),
                code=error.code,
            ) from error

    def _entry(self, name: str) -> MCPEntry:
        found = [one for one in self._saved_config().mcp_entries if one.name == name]
        if not found:
            raise self._not_named(name)
        return found[0]

    def _not_named(self, name: str) -> ConfigError:
        words = tr("{file} names no server {name}.", file=str(self._place.file), name=repr(name))
        return ConfigError(words, code=CODE)

    def names(self, name: str) -> bool:
        """Whether the file names a server."""
        return name in self._saved_config().mcpServers

    def plan_removal(self, name: str) -> ServersEdit:
        """What the file will say without one.

        Raises:
            ConfigError: It names none of this name, or nothing can be taken out of it.
        """
        if not self.names(name):
            raise self._not_named(name)
        edit = plan_removed(self._place, name)
        entry_after(edit, self._place)
        return edit

    async def remove(self, edit: ServersEdit) -> None:
        """Write the file without it, on record. It lets nothing new in, so nobody is asked.

        Raises:
            ConfigError: The file changed meanwhile, or cannot be written.
        """
        await self._write(edit, _REMOVAL, {})

    async def _write(
        self, edit: ServersEdit, events: ChangeEvents, facts: Mapping[str, object]
    ) -> None:
        async with record_change(self._audit, events, server=edit.name, **facts):
            await asyncio.to_thread(write_servers, edit, self._place)

    def _saved_config(self) -> SilasConfig:
        file = self._place.file
        return load_config(file if file.exists() else None, self._place.environ)


def _facts(entry: MCPEntry, digest: str) -> dict[str, object]:
    """What the record has of a server."""
    uses = entry.server.uses
    return {
        "runs": entry.server.command or (entry.server.url or "").partition("?")[0],
        "reaches": list(entry.handling.network),
        "reads": list(map(str, entry.handling.read)),
        "writes": list(map(str, entry.handling.write)),
        "digest": digest,
        **({"given": [f"{one.name}: {one.shown}" for one in uses]} if uses else {}),
    }


def _refuse_two_of_a_name(wanted: WantedServer, kept: Sequence[str]) -> None:
    """Each name stands in one place: what the file has by hand stays as it is (decision D561)."""
    if wanted.url:
        every = (*(one.name for one in wanted.headers), *kept)
        refuse_twice([name.lower() for name in every], "headers")
    else:
        refuse_twice([*(one.name for one in wanted.env), *kept], "env")


def added_card(planned: PlannedServer) -> DecisionCard:
    """Whether a server is to be added, with the whole of what it is and what it may reach."""
    entry = planned.entry
    return file_card(
        tr("Add the server of tools {name}", name=entry.name),
        tr(
            "It is not started by this yes: its tools are shown and asked about on a card of their "
            "own."
        ),
        (Detail(heading=tr("Server"), lines=tuple(server_lines(entry)), open=True),),
        planned.edit,
        planned.digest,
        (tr("Add it"), tr("Leave it out")),
    )
