"""Servers of tools in the configuration file: one is added on a yes, and removed without one."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from silas.audit import Audit
from silas.audit.intent import ChangeEvents, record_change
from silas.canonical import digest
from silas.cards import Action, Detail
from silas.cards.models import DecisionCard
from silas.config import SilasConfig
from silas.config.edit_servers import (
    ServersEdit,
    entry_after,
    plan_added,
    plan_removed,
    write_servers,
)
from silas.config.load import load_config
from silas.config.place import ConfigPlace
from silas.errors import ConfigError, SandboxError
from silas.home.unsupported import require_mcp
from silas.keys.secrets import SecretVault
from silas.language import tr
from silas.plans import show_lines
from silas.sandbox.mounts import SYSTEM_TARGETS, Roots, objection
from silas.sandbox.network.names import endpoints
from silas.sandbox.searchpath import SYSTEM
from silas.services.servers.from_secrets import (
    FromSecret,
    refuse_missing,
    refuse_unfit_headers,
    refuse_unfit_variables,
    tidy_lines,
)
from silas.services.servers.trust_card import server_lines
from silas.services.setup.one_question import NO, YES
from silas.stop.sentinel import RequireRunning
from silas.tools.mcp.settings import MCPEntry, is_server_name, is_server_url
from silas.types import Risk

_CODE: Final = "E_CFG_MCP"
_ADDITION: Final = ChangeEvents("mcp.adding", "mcp.added", "mcp.not_written")
_REMOVAL: Final = ChangeEvents("mcp.removing", "mcp.removed", "mcp.not_written")
_SHOWN: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64")))
"""What every sandbox shows of the system."""


class WantedServer(NamedTuple):
    """A server as its owner writes it down: a program with its reach, or an address.

    Attributes:
        name: What it is called.
        command: The program; empty for a server at an address.
        args: Its arguments, word by word.
        url: The address; empty for a program.
        hosts: The hosts that a program may reach.
        read, write: The paths that a program may read, and change in place.
        env: The variables that a program is given, each from a secret.
        headers: What is sent to an address with every request, each from a secret.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    hosts: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    env: tuple[FromSecret, ...] = ()
    headers: tuple[FromSecret, ...] = ()


class PlannedServer(NamedTuple):
    """One that is to be added, held against every rule; nothing is written yet."""

    entry: MCPEntry
    edit: ServersEdit
    wanted: WantedServer

    @property
    def digest(self) -> str:
        """Of its name, what it is and what it may reach; a yes to this adds exactly that."""
        return digest([self.entry.name, self.entry.source])


class SavedServers:
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
        wanted = _tidy_server(wanted)
        _refuse_unfit(wanted, config, self._place.file)
        self._refuse_missing(wanted)
        edit = plan_added(self._place, wanted.name, _server(wanted), _handling(wanted))
        entry = entry_after(edit, self._place)
        if entry is None:
            raise AssertionError("what is added is there afterwards")
        return PlannedServer(entry, edit, wanted)

    def secret_names(self) -> tuple[str, ...]:
        """The secrets that a server may be given, by name; nothing is opened."""
        return tuple(fact.name for fact in self._secrets.facts())

    def _refuse_missing(self, wanted: WantedServer) -> None:
        if lines := (*wanted.env, *wanted.headers):
            refuse_missing(lines, self.secret_names())

    async def add(self, planned: PlannedServer) -> None:
        """Write it into the file, on record. It is not started: its tools are trusted apart.

        Raises:
            ConfigError: The file changed meanwhile, or cannot be written, or a secret is gone.
            Stopped: Silas is stopped, or the record was changed outside Silas.
        """
        self._require_running()
        self._audit.require_whole()
        await asyncio.to_thread(self._refuse_missing, planned.wanted)
        entry, uses = planned.entry, planned.entry.server.uses
        facts = {
            "runs": entry.server.command or (entry.server.url or "").partition("?")[0],
            "reaches": list(entry.handling.network),
            "reads": list(map(str, entry.handling.read)),
            "writes": list(map(str, entry.handling.write)),
            "digest": planned.digest,
            **({"given": [f"{one.name}: {one.shown}" for one in uses]} if uses else {}),
        }
        await self._write(planned.edit, _ADDITION, facts)

    def names(self, name: str) -> bool:
        """Whether the file names a server."""
        return name in self._saved_config().mcpServers

    def plan_removal(self, name: str) -> ServersEdit:
        """What the file will say without one.

        Raises:
            ConfigError: It names none of this name, or nothing can be taken out of it.
        """
        if not self.names(name):
            raise ConfigError(
                tr("{file} names no server {name}.", file=str(self._place.file), name=repr(name)),
                code=_CODE,
            )
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


def added_card(planned: PlannedServer) -> DecisionCard:
    """Whether a server is to be added, with the whole of what it is and what it may reach."""
    entry = planned.entry
    said = tuple(part for line in planned.edit.lines for part in show_lines(line))
    return DecisionCard(
        intent=tr("Add the server of tools {name}", name=entry.name),
        risk=Risk.high,
        rationale=tr(
            "It is not started by this yes: its tools are shown and asked about on a card of their "
            "own."
        ),
        details=(
            Detail(heading=tr("Server"), lines=tuple(server_lines(entry)), open=True),
            Detail(
                heading=tr("What {file} will say", file=str(planned.edit.file)),
                lines=said,
                open=True,
            ),
            Detail(heading=tr("Digest"), lines=(f"sha256:{planned.digest}",), open=True),
        ),
        actions=(
            Action(label=tr("Add it"), value=YES, role="recommended"),
            Action(label=tr("Leave it out"), value=NO, role="decline"),
        ),
        safe=NO,
    )


def _tidy_server(wanted: WantedServer) -> WantedServer:
    """Without blanks around, and with whole paths instead of `~`."""
    return WantedServer(
        name=wanted.name.strip(),
        command=_whole(wanted.command.strip()),
        args=wanted.args,
        url=wanted.url.strip(),
        hosts=tuple(filter(None, (one.strip() for one in wanted.hosts))),
        read=_tidy_paths(wanted.read),
        write=_tidy_paths(wanted.write),
        env=tidy_lines(wanted.env),
        headers=tidy_lines(wanted.headers),
    )


def _tidy_paths(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(_whole(one.strip()) for one in paths if one.strip())


def _whole(path: str) -> str:
    return str(Path(path).expanduser()) if path.startswith("~/") else path


def _server(wanted: WantedServer) -> dict[str, Any]:
    if wanted.url:
        headers = {one.name: one.text for one in wanted.headers}
        return {"url": wanted.url, **({"headers": headers} if headers else {})}
    given = {"args": list(wanted.args), "env": {one.name: one.text for one in wanted.env}}
    return {"command": wanted.command, **{name: value for name, value in given.items() if value}}


def _handling(wanted: WantedServer) -> dict[str, Any]:
    given = {"network": wanted.hosts, "read": wanted.read, "write": wanted.write}
    return {name: list(value) for name, value in given.items() if value}


def _refuse_unfit(wanted: WantedServer, config: SilasConfig, file: Path) -> None:
    """Refuse what cannot work, in the words of who wrote it; the file's own rules come after."""
    if not is_server_name(wanted.name):
        raise _config_error(
            tr(
                "A server's name is 1 to 31 letters, digits, - and _, without two _ in a row and "
                "without one at the end."
            )
        )
    if wanted.name in config.mcpServers:
        raise _config_error(
            tr("There is a server {name} already; choose another name.", name=wanted.name)
        )
    every = (wanted.command, *wanted.args, wanted.url, *wanted.read, *wanted.write)
    if any("${" in one or not one.isprintable() for one in every):
        raise _config_error(
            tr(
                "Write plain text on one line each: no {variable} and no characters that cannot "
                "be seen.",
                variable="${",
            )
        )
    if bool(wanted.command) == bool(wanted.url):
        raise _config_error(tr("Write either the command of a program or an address."))
    if wanted.url:
        _refuse_address(wanted)
    else:
        for host in wanted.hosts:
            _refuse_host(host)
        for path in (*wanted.read, *wanted.write):
            _refuse_path(Path(path), config, file)
        refuse_unfit_variables(wanted.env)
        if wanted.headers:
            raise _config_error(tr("Headers are for an address; a program is given variables."))
        _refuse_command(wanted.command, tuple(map(Path, (*wanted.read, *wanted.write))))


def _refuse_address(wanted: WantedServer) -> None:
    if not is_server_url(wanted.url):
        raise _config_error(
            tr(
                "The address must be https://host/path without a user name; http is for this "
                "computer alone."
            )
        )
    if wanted.args or wanted.hosts or wanted.read or wanted.write:
        raise _config_error(
            tr("Arguments, hosts and paths are for a program; an address has none.")
        )
    if wanted.env:
        raise _config_error(tr("Variables are for a program; an address is sent headers."))
    refuse_unfit_headers(wanted.headers)


def _refuse_host(host: str) -> None:
    try:
        endpoints(host)
    except SandboxError:
        raise _config_error(
            tr(
                "{host} is no host; write a name such as example.com or example.com:8443.",
                host=host,
            )
        ) from None


def _silas_own(config: SilasConfig, file: Path) -> Roots:
    """What no server is shown: also the file that says what each may reach, and former ones."""
    former = file.parent.glob(f"{file.name}.bak*")
    roots = Roots.of((config.data_dir, config.keys.socket, file, *former), ())
    link = file.parent.resolve() / file.name  # whoever could change the link changes the file
    return roots._replace(forbidden=(*roots.forbidden, link))


def _refuse_path(path: Path, config: SilasConfig, file: Path) -> None:
    if not path.is_absolute() or os.path.normpath(path) != str(path):
        raise _config_error(tr("{path} is no whole path; write it from / on.", path=str(path)))
    if not path.exists():
        raise _config_error(tr("{path} does not exist.", path=str(path)))
    if path.resolve() != path:
        real = str(path.resolve())
        raise _config_error(
            tr("{path} is a link to {real}; write that.", path=str(path), real=real)
        )
    if path in SYSTEM_TARGETS or objection(path, _silas_own(config, file)):
        raise _config_error(
            tr(
                "{path} is shown to no program: it is, or holds, your whole home, secrets, or "
                "what belongs to Silas or the system.",
                path=str(path),
            )
        )


def _refuse_command(command: str, shown: Sequence[Path]) -> None:
    if "/" not in command:
        if shutil.which(command, path=":".join(SYSTEM)) is None:
            raise _config_error(
                tr(
                    "There is no program {command} in {places}; write its whole path.",
                    command=command,
                    places=", ".join(SYSTEM),
                )
            )
        return
    path = Path(command)
    if not path.is_absolute() or os.path.normpath(path) != command:
        raise _config_error(tr("{path} is no whole path; write it from / on.", path=command))
    if not path.is_file() or not os.access(path, os.X_OK):
        raise _config_error(tr("{path} does not exist, or is no program.", path=command))
    for place in (path, path.resolve()):
        if not any(place == root or root in place.parents for root in (*_SHOWN, *shown)):
            raise _config_error(
                tr(
                    "The server could not see its own program: let it read {folder}.",
                    folder=str(place.parent),
                )
            )


def _config_error(words: str) -> ConfigError:
    return ConfigError(words, code=_CODE)
