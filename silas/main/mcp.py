"""The commands about MCP: who is there, what of it is trusted, and Silas as a server itself."""

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    config_option,
    hash_option,
    json_option,
    look_config,
    open_silas,
    read_config,
    run_to_exit,
)
from silas.main.terminal import terminal
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from silas.cards.models import DecisionCard
    from silas.services.mcp import MCPService
    from silas.services.mcp_servers.configuration import ConfiguredServers
    from silas.tools.mcp.servers import ServerStanding


@click.group(cls=ShortGroup)
def mcp() -> None:
    """Servers of tools: who is there, and what of it you trust."""


@mcp.command("list")
@json_option
@click.pass_context
def mcp_list(ctx: click.Context, as_json: bool) -> None:
    """Every configured server, its health, its last error and its tools."""

    async def work() -> int:
        from silas.language import refusal_words, tr
        from silas.services.mcp import open_mcp

        async with open_mcp(look_config(ctx)) as service:
            states = await service.states()
        if as_json:
            print_json([{**state._asdict(), "standing": state.standing.value} for state in states])
            return DONE
        for state in states:
            why = refusal_words(state.last_error)
            error = "  " + tr("last error: {why}", why=why) if why else ""
            click.echo(f"{state.name:16} {_standing_word(state.standing):14}{error}")
            for tool, usable in state.tools.items():
                click.echo(f"  {tr('ok') if usable else tr('NO')}  {tool}")
        if not states:
            click.echo(
                tr(
                    "No MCP server is configured. Add one with `silas mcp add`, or in the cockpit "
                    "under More, Connections."
                )
            )
        return DONE

    run_to_exit(work)


def _standing_word(standing: "ServerStanding") -> str:
    from silas.language import tr

    words = {
        "untrusted": tr("untrusted"),
        "connected": tr("connected"),
        "drifted": tr("drifted"),
        "down": tr("down"),
    }
    return words[standing.value]


@mcp.command("trust")
@click.argument("name")
@click.option(
    "--approve",
    metavar="HASH",
    callback=hash_option,
    help="sha256:HEX as printed; trusts only that.",
)
@click.pass_context
def mcp_trust(ctx: click.Context, name: str, approve: str | None) -> None:
    """Start a server, show what its tools are, and trust exactly that on your yes."""

    async def work() -> int:
        from silas.language import tr
        from silas.services.mcp import open_mcp
        from silas.services.mcp_servers.trust_card import trust_card

        config = read_config(ctx)
        async with open_mcp(config) as service:
            look = await service.look(name)
            if not await _says_yes(trust_card(look), look.digest, approve):
                await service.refuse(look)
                click.echo(tr("Nothing new is trusted."))
                return DECLINED
            await service.trust(look)
        count = len(look.listing.definitions)
        if count == 1:
            click.echo(tr("Trusted: one tool of {name}.", name=name))
        else:
            click.echo(tr("Trusted: {count} tools of {name}.", count=count, name=name))
        _tell_when(config.data_dir)
        return DONE

    run_to_exit(work)


def _tell_when(data: Path) -> None:
    """Where a Silas is open: when what was trusted counts there."""
    from silas.home.lease import runs_jobs
    from silas.language import tr

    if runs_jobs(data):
        click.echo(tr("The Silas that is open has them from its next message or work on."))


async def _says_yes(card: "DecisionCard", digest: str, approve: str | None) -> bool:
    """Whether the owner says yes: to the card, or beforehand by the hash of exactly this."""
    from silas.language import tr

    if approve is None:
        click.echo(f"sha256:{digest}")
        screen = terminal(to_stderr=False, approve=None).screen
        return (await screen.ask("owner", card)).approved
    yes = approve == digest
    said = (
        tr("sha256:{digest} is approved beforehand", digest=digest)
        if yes
        else tr("sha256:{digest} is not what was approved: {other}", digest=digest, other=approve)
    )
    click.echo(said)
    return yes


class _ServerOptions(NamedTuple):
    """What is written on the command line of a server that is added or changed."""

    command: tuple[str, ...]
    url: str
    hosts: tuple[str, ...]
    read: tuple[str, ...]
    write: tuple[str, ...]
    variables: tuple[str, ...]
    headers: tuple[str, ...]
    approve: str | None


def _server_options(
    *, url: str, host: str, read: str, write: str, env: str, header: str, approve: str
) -> Callable[[Callable[[click.Context, str, _ServerOptions], None]], Callable[..., None]]:
    """Name, program and options of such a server; each is given the help that it has there."""
    given = "NAME=secret:SECRET"
    options = (
        click.argument("name"),
        click.argument("command", nargs=-1),
        click.option("--url", default="", help=url),
        click.option("--host", "hosts", multiple=True, help=host),
        click.option("--read", multiple=True, help=read),
        click.option("--write", multiple=True, help=write),
        click.option("--env", "variables", metavar=given, multiple=True, help=env),
        click.option("--header", "headers", metavar=given, multiple=True, help=header),
        click.option("--approve", metavar="HASH", callback=hash_option, help=approve),
        click.pass_context,
    )

    def put(does: Callable[[click.Context, str, _ServerOptions], None]) -> Callable[..., None]:
        @wraps(does)
        def pass_options(ctx: click.Context, name: str, **told: Any) -> None:
            does(ctx, name, _ServerOptions(**told))

        command: Callable[..., None] = pass_options
        for option in reversed(options):
            command = option(command)
        return command

    return put


@mcp.command("add")
@_server_options(
    url="The address of a server that is reached over HTTP.",
    host="A host that the program may reach.",
    read="A path that the program may read.",
    write="A path that the program may change in place.",
    env="A variable that the program is given from a secret of yours.",
    header="A header that the address is sent from a secret of yours; `Bearer` may stand before "
    "it.",
    approve="sha256:HEX as printed; adds only that.",
)
def mcp_add(ctx: click.Context, name: str, given: _ServerOptions) -> None:
    """Put a server into the configuration file on your yes; it is not started.

    Write options first, then `--`, the program and its arguments: add NAME --read DIR -- PROGRAM.
    A key is never written here: keep it with `silas secrets add SECRET`, and name it with
    --env TOKEN=secret:SECRET, or for an address with --header "Authorization=Bearer secret:SECRET".
    """

    async def work() -> int:
        from silas.language import tr
        from silas.services.mcp import open_mcp
        from silas.services.mcp_servers.configuration import added_card
        from silas.services.mcp_servers.from_secrets import read_line
        from silas.services.mcp_servers.server_form import WantedServer

        program, args = (given.command[0], given.command[1:]) if given.command else ("", ())
        env = tuple(read_line("--env", line) for line in given.variables)
        sent = tuple(read_line("--header", line) for line in given.headers)
        reach = given.hosts, given.read, given.write
        wanted = WantedServer(name, program, args, given.url, *reach, env, sent)
        async with open_mcp(read_config(ctx)) as service:
            saved = _saved_servers(ctx, service)
            planned = saved.plan(wanted)
            if not await _says_yes(added_card(planned), planned.digest, given.approve):
                click.echo(tr("Nothing was added."))
                return DECLINED
            await saved.add(planned)
        click.echo(
            tr("Added: {name}. Look at its tools with `silas mcp trust {name}`.", name=wanted.name)
        )
        return DONE

    run_to_exit(work)


@mcp.command("change")
@_server_options(
    url="Another address; it takes the place of a program.",
    host="The hosts that the program may reach.",
    read="The paths that the program may read.",
    write="The paths that the program may change in place.",
    env="A variable from a secret of yours, new or another; `NAME=` takes it out.",
    header="A header from a secret of yours, new or another; `NAME=` takes it out.",
    approve="sha256:HEX as printed; changes only that.",
)
def mcp_change(ctx: click.Context, name: str, given: _ServerOptions) -> None:
    """Change a server in the configuration file on your yes; what is not given stays.

    A program takes the place of the former one with its arguments. --host, --read and --write name
    all there are then; given once with "" there are none. --env and --header change one name.
    """

    async def work() -> int:
        from silas.language import tr
        from silas.services.mcp import open_mcp
        from silas.services.mcp_servers.change_plan import changed_card
        from silas.services.mcp_servers.from_secrets import read_change
        from silas.services.mcp_servers.server_form import renew_form

        program, options = given.command, given._asdict()
        told = {
            **({"command": program[0], "args": program[1:]} if program else {}),
            **{one: options[one] for one in ("url", "hosts", "read", "write") if options[one]},
        }
        env = tuple(read_change("--env", line) for line in given.variables)
        sent = tuple(read_change("--header", line) for line in given.headers)
        config = read_config(ctx)
        async with open_mcp(config) as service:
            saved = _saved_servers(ctx, service)
            planned = saved.plan_change(renew_form(saved.form(name), told, env, sent))
            if not await _says_yes(changed_card(planned), planned.digest, given.approve):
                click.echo(tr("Nothing was changed."))
                return DECLINED
            await saved.change(planned, service.distrust)
        click.echo(
            tr("Changed: {name}. Look at its tools with `silas mcp trust {name}`.", name=name)
        )
        return DONE

    run_to_exit(work)


@mcp.command("remove")
@click.argument("name")
@click.pass_context
def mcp_remove(ctx: click.Context, name: str) -> None:
    """Trust a server no more, and take it out of the configuration file."""

    async def work() -> int:
        from silas.language import tr
        from silas.services.mcp import open_mcp

        async with open_mcp(read_config(ctx)) as service:
            saved = _saved_servers(ctx, service)
            edit = saved.plan_removal(name)
            await service.distrust(name)
            await saved.remove(edit)
        click.echo(tr("{name} is removed; the former file is kept beside it.", name=name))
        return DONE

    run_to_exit(work)


def _saved_servers(ctx: click.Context, service: "MCPService") -> "ConfiguredServers":
    from silas.config import config_file
    from silas.config.place import ConfigPlace
    from silas.services.mcp_servers.configuration import ConfiguredServers

    place = ConfigPlace(config_file(config_option(ctx)), os.environ)
    return ConfiguredServers(place, service.audit, service.require_running, service.secrecy.vault)


@mcp.command("distrust")
@click.argument("name")
@click.pass_context
def mcp_distrust(ctx: click.Context, name: str) -> None:
    """Trust nothing of a server any more; an open Silas sends it no call any more."""

    async def work() -> int:
        from silas.language import tr
        from silas.services.mcp import open_mcp

        async with open_mcp(read_config(ctx)) as service:
            found = await service.distrust(name)
        words = (
            tr("No longer trusted: {name}.", name=name)
            if found
            else tr("Nothing was trusted: {name}.", name=name)
        )
        click.echo(words)
        return DONE

    run_to_exit(work)


@mcp.command("serve")
@click.pass_context
def mcp_serve(ctx: click.Context) -> None:
    """Serve one MCP client on standard input and output; plans wait for you elsewhere."""

    async def work() -> int:
        from silas.channels.mcp import OwnerElsewhere, serve
        from silas.services.mcp_server import Services

        async with open_silas(ctx, OwnerElsewhere(sys.stderr)) as silas:
            await serve(Services(silas, silas.ahead).offers())
        return DONE

    run_to_exit(work)
