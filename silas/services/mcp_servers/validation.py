"""What no MCP server may be: refused in one sentence before anybody is asked."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from silas.config import SilasConfig
from silas.errors import ConfigError, SandboxError
from silas.language import tr
from silas.sandbox.mounts import SYSTEM_TARGETS, Roots, objection
from silas.sandbox.network.names import endpoints
from silas.sandbox.searchpath import SYSTEM
from silas.services.mcp_servers.from_secrets import refuse_unfit_headers, refuse_unfit_variables
from silas.services.mcp_servers.server_form import WantedServer
from silas.tools.mcp.settings import is_server_name, is_server_url

CODE: Final = "E_CFG_MCP"
_SHOWN: Final = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64")))
"""What every sandbox shows of the system."""


_NOTHING: Final = WantedServer("")


def _new(wanted: Sequence[str], was: Sequence[str]) -> Sequence[str]:
    return [one for one in wanted if one not in was]


def refuse_bad_name(name: str, config: SilasConfig) -> None:
    """Refuse what no new server may be called.

    Raises:
        ConfigError: In one sentence that says why.
    """
    if not is_server_name(name):
        raise _config_error(
            tr(
                "A server's name is 1 to 31 letters, digits, - and _, without two _ in a row and "
                "without one at the end."
            ),
            "name",
        )
    if name in config.mcpServers:
        words = tr("There is a server {name} already; choose another name.", name=name)
        raise _config_error(words, "name")


def refuse_unfit(
    wanted: WantedServer, config: SilasConfig, file: Path, was: WantedServer = _NOTHING
) -> None:
    """Refuse what cannot work, in the words of who wrote it; the file's own rules come after.

    Args:
        wanted: The server, whatever it is called.
        config: What is configured.
        file: Where.
        was: What it is until now: only what is new is refused.

    Raises:
        ConfigError: In one sentence that says why.
    """
    _refuse_unseen(wanted, was)
    if bool(wanted.command) == bool(wanted.url):
        words = tr("Write either the command of a program or an address.")
        raise _config_error(words, "command")
    if wanted.url:
        _refuse_address(wanted)
    else:
        for host in _new(wanted.hosts, was.hosts):
            _refuse_host(host)
        for path in _new(wanted.read, was.read):
            _refuse_path(Path(path), config, file, "read")
        for path in _new(wanted.write, was.write):
            _refuse_path(Path(path), config, file, "write")
        refuse_unfit_variables(wanted.env)
        if wanted.headers:
            raise _config_error(tr("Headers are for an address; a program is given variables."))
        if wanted[:2] != was[:2] or not {*was.read, *was.write} <= {*wanted.read, *wanted.write}:
            _refuse_command(wanted.command, tuple(map(Path, (*wanted.read, *wanted.write))))


def _refuse_unseen(wanted: WantedServer, was: WantedServer) -> None:
    stand = (was.command, *was.args, was.url, *was.hosts, *was.read, *was.write)
    every = {
        "command": (wanted.command,),
        "args": wanted.args,
        "url": (wanted.url,),
        "read": wanted.read,
        "write": wanted.write,
    }
    for field, lines in every.items():
        if any("${" in one or not one.isprintable() for one in lines if one not in stand):
            raise _config_error(
                tr(
                    "Write plain text on one line each: no {variable} and no characters that "
                    "cannot be seen.",
                    variable="${",
                ),
                field,
            )


def _refuse_address(wanted: WantedServer) -> None:
    if not is_server_url(wanted.url):
        raise _config_error(
            tr(
                "The address must be https://host/path without a user name; http is for this "
                "computer alone."
            ),
            "url",
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
            ),
            "hosts",
        ) from None


def _silas_own(config: SilasConfig, file: Path) -> Roots:
    """What no server is shown: also the file that says what each may reach, and former ones."""
    former = file.parent.glob(f"{file.name}.bak*")
    roots = Roots.of((config.data_dir, *config.keys.places, file, *former), ())
    link = file.parent.resolve() / file.name  # whoever could change the link changes the file
    return roots._replace(forbidden=(*roots.forbidden, link))


def _refuse_path(path: Path, config: SilasConfig, file: Path, field: str) -> None:
    if not path.is_absolute() or os.path.normpath(path) != str(path):
        words = tr("{path} is no whole path; write it from / on.", path=str(path))
        raise _config_error(words, field)
    if not path.exists():
        raise _config_error(tr("{path} does not exist.", path=str(path)), field)
    if path.resolve() != path:
        real = str(path.resolve())
        words = tr("{path} is a link to {real}; write that.", path=str(path), real=real)
        raise _config_error(words, field)
    if path in SYSTEM_TARGETS or objection(path, _silas_own(config, file)):
        raise _config_error(
            tr(
                "{path} is shown to no program: it is, or holds, your whole home, secrets, or "
                "what belongs to Silas or the system.",
                path=str(path),
            ),
            field,
        )


def _refuse_command(command: str, shown: Sequence[Path]) -> None:
    if "/" not in command:
        if shutil.which(command, path=":".join(SYSTEM)) is None:
            raise _config_error(
                tr(
                    "There is no program {command} in {places}; write its whole path.",
                    command=command,
                    places=", ".join(SYSTEM),
                ),
                "command",
            )
        return
    path = Path(command)
    if not path.is_absolute() or os.path.normpath(path) != command:
        words = tr("{path} is no whole path; write it from / on.", path=command)
        raise _config_error(words, "command")
    if not path.is_file() or not os.access(path, os.X_OK):
        words = tr("{path} does not exist, or is no program.", path=command)
        raise _config_error(words, "command")
    for place in (path, path.resolve()):
        if not any(place == root or root in place.parents for root in (*_SHOWN, *shown)):
            raise _config_error(
                tr(
                    "The server could not see its own program: let it read {folder}.",
                    folder=str(place.parent),
                ),
                "read",
            )


def _config_error(words: str, field: str = "") -> ConfigError:
    return ConfigError(words, code=CODE, field=field)
