"""The commands about MCP: who is there, what of it is trusted, and Silas as a server itself."""

import sys

import click

from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    hash_option,
    json_option,
    look_config,
    open_silas,
    read_config,
    run_to_exit,
)
from silas.main.terminal import terminal


@click.group()
def mcp() -> None:
    """Servers of tools: who is there, and what of it you trust."""


@mcp.command("list")
@json_option
@click.pass_context
def mcp_list(ctx: click.Context, as_json: bool) -> None:
    """Every configured server, its health, its last error and its tools."""

    async def work() -> int:
        from silas.services.mcp import open_mcp

        async with open_mcp(look_config(ctx)) as desk:
            states = await desk.states()
        if as_json:
            print_json([{**state._asdict(), "standing": state.standing.value} for state in states])
            return DONE
        for state in states:
            error = f"  last error: {state.last_error}" if state.last_error else ""
            click.echo(f"{state.name:16} {state.standing.value:10}{error}")
            for tool, usable in state.tools.items():
                click.echo(f"  {'ok' if usable else 'NO'}  {tool}")
        if not states:
            click.echo("No MCP server is configured; see mcpServers in the configuration.")
        return DONE

    run_to_exit(work)


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
        from silas.services.mcp import open_mcp, trust_card

        screen = terminal(to_stderr=False, approve=None).screen
        async with open_mcp(read_config(ctx)) as desk:
            look = await desk.look(name)
            card = trust_card(look)
            if approve is None:
                click.echo(f"sha256:{look.digest}")
                yes = (await screen.ask("owner", card)).approved
            else:
                yes = approve == look.digest
                stands = "approved beforehand" if yes else f"not what was approved: {approve}"
                click.echo(f"sha256:{look.digest} is {stands}")
            if not yes:
                await desk.refuse(look)
                click.echo("Nothing new is trusted.")
                return DECLINED
            await desk.trust(look)
        click.echo(f"Trusted: {len(look.listing.definitions)} tools of {name}.")
        return DONE

    run_to_exit(work)


@mcp.command("distrust")
@click.argument("name")
@click.pass_context
def mcp_distrust(ctx: click.Context, name: str) -> None:
    """Trust nothing of a server any more; an open Silas sends it no call any more."""

    async def work() -> int:
        from silas.services.mcp import open_mcp

        async with open_mcp(read_config(ctx)) as desk:
            found = await desk.distrust(name)
        words = "No longer trusted" if found else "Nothing was trusted"
        click.echo(f"{words}: {name}.")
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
