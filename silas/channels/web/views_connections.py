"""What the cockpit shows of servers of tools and of channels that are configured."""

from typing import Literal

from pydantic import AwareDatetime

from silas.types import FrozenModel


class ServerTool(FrozenModel):
    """A tool that a server gives.

    Attributes:
        name: As a model calls it.
        usable: Whether it can be used now.
        last_used: When it last did what it was asked; null where that is not known.
    """

    name: str
    usable: bool
    last_used: AwareDatetime | None


class SecretLine(FrozenModel):
    """A variable or header that a server is given from secrets of the owner.

    Attributes:
        name: Of the variable or header.
        secrets: The names of the secrets.
        missing: Those of them that are not stored.
    """

    name: str
    secrets: tuple[str, ...]
    missing: tuple[str, ...]


class NewFromSecret(FrozenModel):
    """A variable or header; see `silas.services.mcp_servers.from_secrets.FromSecret`."""

    name: str
    scheme: str
    secret: str


class ServerFields(FrozenModel):
    """The fields of a server; see `silas.services.mcp_servers.server_form.WantedServer`."""

    command: str
    args: tuple[str, ...]
    url: str
    hosts: tuple[str, ...]
    read: tuple[str, ...]
    write: tuple[str, ...]
    env: tuple[NewFromSecret, ...]
    headers: tuple[NewFromSecret, ...]


class ServerFormView(ServerFields):
    """What fills the form of a server; see `silas.services.mcp_servers.server_form.ServerForm`.

    Attributes:
        kept: The variables and headers whose text is in the file and not shown, by name.
        seen: A digest of the server; it is sent back with a change.
    """

    kept: tuple[str, ...]
    seen: str


class ServerRow(FrozenModel):
    """A server of `mcpServers`.

    Attributes:
        standing: How it stands with it.
        words: The same in a sentence.
        trouble: Why it is not there, in its own words or the system's; empty where it is.
        runs: The program with its arguments, or the address.
        remote: Whether it is reached over HTTP, outside the sandbox.
        reaches: The hosts that a program may reach.
        sees, changes: The paths that a program may read, and change in place.
        given: What it is given from secrets.
        tools: What it gives; empty where it is not trusted.
        form: What it is, to be changed.
    """

    name: str
    standing: Literal["connected", "drifted", "down", "untrusted"]
    words: str
    trouble: str
    runs: str
    remote: bool
    reaches: tuple[str, ...]
    sees: tuple[str, ...]
    changes: tuple[str, ...]
    given: tuple[SecretLine, ...]
    tools: tuple[ServerTool, ...]
    form: ServerFormView


class ChannelRow(FrozenModel):
    """A channel; `trouble`: why it is not there, empty where it is."""

    name: str
    words: str
    trouble: str


class ConnectionRows(FrozenModel):
    """Everything that Silas is connected with, and the file that says so.

    Attributes:
        asks: Whether the owner is being asked about a server.
        secrets: The names of the secrets that a new server may be given.
        schemes: The words that may stand before the secret of a header.
    """

    servers: tuple[ServerRow, ...]
    channels: tuple[ChannelRow, ...]
    file: str
    asks: bool
    secrets: tuple[str, ...]
    schemes: tuple[str, ...]


class NewServer(ServerFields):
    """A server as its owner writes it down, and what it is called."""

    name: str


class ServerChange(NewServer):
    """The same server as it is to be from now on.

    Attributes:
        kept: The variables and headers that stay as the file has them, by name.
        seen: The digest of the server that was changed in the form.
    """

    kept: tuple[str, ...]
    seen: str
