"""What the owner says about MCP servers: standard `mcpServers`, and Silas's own `mcp`."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from silas.canonical import digest
from silas.errors import SandboxError
from silas.sandbox.network.names import Endpoint, endpoints
from silas.tools.mcp.secret_refs import SecretUse, fill_secrets, secrets_in
from silas.tools.models import RiskLevel
from silas.types import FrozenModel

_SERVER_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,30}(?<!_)")
"""No `__` and no `_` at the end: `server__tool` then means one server and one tool."""


_TOLD_APART = 8  # characters; what is shorter is part of ordinary words (decision D71)


def _check_server_name(name: str) -> str:
    if not _SERVER_NAME.fullmatch(name):
        raise ValueError(
            "a server's name is 1 to 31 letters, digits, `-` and `_`, with no `__` and no `_` at "
            "the end"
        )
    return name


def is_server_name(text: str) -> bool:
    """Whether a server may be called so."""
    return _SERVER_NAME.fullmatch(text) is not None


def is_server_url(text: str) -> bool:
    """Whether a server may be at this address."""
    try:
        _check_url(text)
    except ValueError:
        return False
    return " " not in text


ServerName = Annotated[str, AfterValidator(_check_server_name)]


def _host(entry: str) -> str:
    try:
        endpoints(entry)
    except SandboxError as error:
        raise ValueError(error.message) from error
    return entry


class MCPServer(FrozenModel):
    """One entry of `mcpServers`, as every MCP client has it: a program, or an address.

    Attributes:
        type: Says again which of the two it is; may be left out.
        command: The program; found along PATH inside the sandbox, or an absolute path.
        args: Its arguments, word by word.
        env: Its environment besides PATH, HOME and LANG; nothing is inherited. May hold secrets,
            the owner's own as `${secret:NAME}`.
        cwd: Where it stands inside; a private, empty directory unless a path of `mcp` covers it.
        url: Where it is reached over HTTP; `https`, or `http` on this machine.
        headers: Sent with every request. May hold secrets, as `env` may.
    """

    type: Literal["stdio", "http", "streamable-http"] | None = None
    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = Field(default_factory=dict[str, SecretStr])
    cwd: Path | None = None
    url: str | None = None
    headers: dict[str, SecretStr] = Field(default_factory=dict[str, SecretStr])

    @model_validator(mode="after")
    def _one_of_two(self) -> "MCPServer":
        if (self.command is None) == (self.url is None):
            raise ValueError("give either `command`, or `url`")
        if self.url is None and (self.headers or self.type in ("http", "streamable-http")):
            raise ValueError("`headers` and `type: http` need a `url`")
        if self.url is not None:
            _check_url(self.url)
            if self.args or self.env or self.cwd is not None or self.type == "stdio":
                raise ValueError("`args`, `env`, `cwd` and `type: stdio` need a `command`")
        if any(map(secrets_in, (self.command or "", self.url or "", *self.args))):
            raise ValueError("secrets are named in `env` and `headers` alone")
        for value in (*self.env.values(), *self.headers.values()):
            secrets_in(value.get_secret_value())
        return self

    @property
    def hidden(self) -> dict[str, str]:
        """Every value that may be secret and stands here, by what it is called here."""
        both = (("env", self.env), ("headers", self.headers))
        return {
            f"{kind}.{name}": value.get_secret_value()
            for kind, values in both
            for name, value in values.items()
            if not secrets_in(value.get_secret_value())
        }

    @property
    def uses(self) -> tuple[SecretUse, ...]:
        """Its variables, or headers, that hold secrets of the owner."""
        given = sorted((self.env or self.headers).items())
        texts = [(name, value.get_secret_value()) for name, value in given]
        return tuple(
            SecretUse(name, text, names) for name, text in texts if (names := secrets_in(text))
        )

    @property
    def secret_names(self) -> tuple[str, ...]:
        """The secrets of the owner that it is given, each once."""
        return tuple(sorted({name for use in self.uses for name in use.secrets}))

    def with_secrets(self, values: Mapping[str, str]) -> "MCPServer":
        """The same as it is started or reached, by the values of its secrets."""
        env, headers = (
            {
                name: SecretStr(fill_secrets(value.get_secret_value(), values))
                for name, value in given.items()
            }
            for given in (self.env, self.headers)
        )
        return self.model_copy(update={"env": env, "headers": headers})

    def remove_hidden(self, text: str) -> str:
        """A text of the server's own, such as its last words, without what it was told."""
        for name, value in self.hidden.items():
            text = text.replace(value, f"[{name}]") if len(value) >= _TOLD_APART else text
        return text

    @property
    def words(self) -> str:
        """What it is, for a person; no value that may be secret."""
        return self.url or " ".join((self.command or "", *self.args))

    @property
    def source(self) -> str:
        """A digest of what is started or reached: another program is another server."""
        place = None if self.cwd is None else str(self.cwd)
        names = [sorted(self.env), sorted(self.headers)]
        uses = [[use.name, use.text] for use in self.uses]
        return digest(
            [self.command, list(self.args), place, self.url, *names, *([uses] if uses else [])]
        )


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username is not None:
        raise ValueError("`url` must be https://host/path, without a user name")
    if not _is_port(parts):
        raise ValueError("the port of `url` must be a number from 1 to 65535")
    if parts.scheme == "http" and not _this_machine(parts.hostname):
        raise ValueError("`url` must be https; http is for this machine alone")


def _is_port(parts: SplitResult) -> bool:
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def _this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class MCPHandling(FrozenModel):
    """What Silas does with one server: one entry of `mcp`. Every default is the least trusted one.

    Attributes:
        rate: Risk by tool; a tool that is not here is high.
        reads: Tools that change nothing, on your word: they need no approval where their risk asks
            for none.
        offer: The tools that models may see; null for every tool you trusted.
        network: Hosts it may reach, as in a plan; none by default. Only for a `command`.
        read: Paths it sees, read-only.
        write: Paths it may change in place; nothing of that can be undone.
        memory_mb: Memory of all its processes together, and address space of each.
        timeout_seconds: How long one call may take; what took longer has an unknown outcome.
    """

    rate: dict[str, RiskLevel] = Field(default_factory=dict[str, RiskLevel])
    reads: tuple[str, ...] = ()
    offer: tuple[str, ...] | None = None
    network: tuple[Annotated[str, AfterValidator(_host)], ...] = ()
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    memory_mb: int = Field(default=2048, ge=64)
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600)

    @property
    def hosts(self) -> tuple[Endpoint, ...]:
        """What `network` allows, each once."""
        return tuple(dict.fromkeys(there for entry in self.network for there in endpoints(entry)))

    def at(self, base: Path) -> "MCPHandling":
        """The same with absolute paths."""
        read, write = (
            tuple(base / path.expanduser() for path in paths) for paths in (self.read, self.write)
        )
        return self.model_copy(update={"read": read, "write": write})

    def offers(self, tool: str) -> bool:
        """Whether models may see a tool."""
        return self.offer is None or tool in self.offer


class MCPEntry(FrozenModel):
    """One server whole: what it is, and what the owner said about it."""

    name: str
    server: MCPServer
    handling: MCPHandling

    @property
    def leaves(self) -> bool:
        """Whether what a tool is told may leave this machine."""
        return self.server.url is not None or bool(self.handling.network)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Where what a tool is told may go, as in a plan's `network`; no host for none."""
        if self.server.url is None:
            return self.handling.network
        parts = urlsplit(self.server.url)
        host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
        return (f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}",)

    @property
    def source(self) -> str:
        """A digest of what it is and what it may reach."""
        held = self.handling
        paths = [list(map(str, held.read)), list(map(str, held.write))]
        return digest([self.server.source, list(held.network), *paths])


def entries(
    servers: Mapping[str, MCPServer], handling: Mapping[str, MCPHandling]
) -> tuple[MCPEntry, ...]:
    """Every configured server, in the order of the configuration."""
    return tuple(
        MCPEntry(name=name, server=server, handling=handling.get(name, MCPHandling()))
        for name, server in servers.items()
    )


def users_of(entries: Iterable[MCPEntry], secret: str) -> tuple[str, ...]:
    """The servers that are given a secret, by its name."""
    return tuple(one.name for one in entries if secret in one.server.secret_names)
