"""An MCP server as its owner enters it, and the part of it that the configuration has."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from silas.config.change_server import Parts
from silas.services.mcp_servers.from_secrets import FromSecret, renew_lines, tidy_lines
from silas.tools.mcp.secret_refs import SCHEMES
from silas.tools.mcp.settings import MCPEntry

_USE = re.compile(rf"(?:({'|'.join(SCHEMES)}) )?\$\{{secret:([A-Za-z0-9_]+)\}}")


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


def tidy_server(wanted: WantedServer) -> WantedServer:
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


def server_data(wanted: WantedServer) -> dict[str, Any]:
    """What stands about it in `mcpServers`."""
    if wanted.url:
        headers = {one.name: one.text for one in wanted.headers}
        return {"url": wanted.url, **({"headers": headers} if headers else {})}
    given = {"args": list(wanted.args), "env": {one.name: one.text for one in wanted.env}}
    return {"command": wanted.command, **{name: value for name, value in given.items() if value}}


def handling_data(wanted: WantedServer) -> dict[str, Any]:
    """What stands about it in `mcp`."""
    given = {"network": wanted.hosts, "read": wanted.read, "write": wanted.write}
    return {name: list(value) for name, value in given.items() if value}


class ServerForm(NamedTuple):
    """A server that is there, as its owner would write it down.

    Attributes:
        wanted: What can be written down anew.
        kept: The variables and headers whose text stands in the file, by name: it is not shown.
        seen: A digest of the server; who changes it says which one he saw.
    """

    wanted: WantedServer
    kept: tuple[str, ...]
    seen: str


def form_of(entry: MCPEntry) -> ServerForm:
    """What the form of a server is filled with; no value of a secret."""
    server = entry.server
    given = {use.name: _USE.fullmatch(use.text) for use in server.uses}
    told = tuple(
        FromSecret(name, found[2], found[1] or "")
        for name, found in given.items()
        if found is not None and (server.headers or not found[1])
    )
    plain = {one.name for one in told}
    kept = tuple(name for name in (*server.env, *server.headers) if name not in plain)
    wanted = WantedServer(
        entry.name,
        server.command or "",
        server.args,
        server.url or "",
        *((), (), ()) if server.url else _reach(entry),
        () if server.headers else told,
        told if server.headers else (),
    )
    return ServerForm(wanted, kept, entry.source)


def _reach(entry: MCPEntry) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    held = entry.handling
    return held.network, tuple(map(str, held.read)), tuple(map(str, held.write))


def parts_of(entry: MCPEntry) -> Parts:
    """Everything that stands in the file about what a server is and reaches, by its keys."""
    server, (network, read, write) = entry.server, _reach(entry)
    return {
        ("type",): server.type or "",
        ("command",): server.command or "",
        ("url",): server.url or "",
        ("args",): server.args,
        ("cwd",): "" if server.cwd is None else str(server.cwd),
        **{("env", name): value.get_secret_value() for name, value in server.env.items()},
        **{("headers", name): value.get_secret_value() for name, value in server.headers.items()},
        ("network",): network,
        ("read",): read,
        ("write",): write,
    }


def parts_wanted(wanted: WantedServer, kept: Sequence[str], now: MCPEntry) -> Parts:
    """The same as it is wanted; what the form does not have stays as it is."""
    before, far = parts_of(now), bool(wanted.url)
    stays = {
        keys: text
        for keys, text in before.items()
        if keys[0] == ("headers" if far else "env") and keys[1] in kept
    }
    same = far == (now.server.url is not None)
    given = {("headers" if far else "env", one.name): one.text for one in _secret_lines(wanted)}
    left = ("type", "cwd", *(("network", "read", "write") if far else ())) if same else ()
    return {
        ("command",): wanted.command,
        ("url",): wanted.url,
        ("args",): wanted.args,
        ("network",): wanted.hosts,
        ("read",): wanted.read,
        ("write",): wanted.write,
        **{(one,): before[(one,)] for one in left},
        **stays,
        **given,
    }


def _secret_lines(wanted: WantedServer) -> tuple[FromSecret, ...]:
    return wanted.headers if wanted.url else wanted.env


def renew_form(
    form: ServerForm,
    given: Mapping[str, Any],
    env: Sequence[FromSecret] = (),
    headers: Sequence[FromSecret] = (),
) -> ServerForm:
    """A form with what is given written into it, and nothing else; see `silas mcp change`.

    An address takes the place of the program with all that belongs to it, and the reverse.

    Args:
        form: What is there.
        given: Fields of `WantedServer`.
        env, headers: Each takes the place of one of its name; without a secret it takes it out.

    Raises:
        ConfigError: A variable or header that is to go is not there.
    """
    wanted, kept = form.wanted, form.kept
    if (given.get("url") and not wanted.url) or (given.get("command") and wanted.url):
        wanted, kept = WantedServer(wanted.name), ()
    wanted = wanted._replace(**given)
    mine, other = (headers, env) if wanted.url else (env, headers)
    lines, kept = renew_lines(_secret_lines(wanted), kept, mine, exact=not wanted.url)
    none, _ = renew_lines((), (), other, exact=True)  # refused by the rules, or not there
    env, headers = (none, lines) if wanted.url else (lines, none)
    return ServerForm(wanted._replace(env=env, headers=headers), kept, form.seen)
