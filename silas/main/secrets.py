"""The commands about secrets: add, list, remove. A value is typed unseen or piped, never named."""

import sys

import click

from silas.language import tr
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, run_to_exit
from silas.main.typed import ShortGroup

_MOST = 1 << 20  # characters of standard input; more is a mistake, and refused with it


@click.group(cls=ShortGroup)
def secrets() -> None:
    """What your plans may use and nobody may see."""


@secrets.command("add")
@click.argument("name")
@click.pass_context
def secrets_add(ctx: click.Context, name: str) -> None:
    """Keep a secret: its value is asked for unseen, or read from standard input."""

    async def work() -> int:
        from silas.services.secrets import open_secrets_service

        async with open_secrets_service(look_config(ctx)) as service:
            added = await service.add(name, _value(name))
        click.echo(tr("Kept {name}. Plans name it so:", name=name))
        click.echo("credential_refs:")
        click.echo(f"  {name}: {added.ref_id}")
        click.echo(
            tr(
                "A server of tools is given it as `silas mcp add ... --env NAME=secret:{name}`, an "
                "address with --header.",
                name=name,
            )
        )
        return DONE

    run_to_exit(work)


def _value(name: str) -> str:
    """From a terminal without echo; else the whole of standard input but its last line break."""
    if sys.stdin is not None and sys.stdin.isatty():
        import getpass

        from silas.home.passphrases import allow_interrupt

        try:
            with allow_interrupt():
                return getpass.getpass(tr("Value of {name}: ", name=name))
        except (KeyboardInterrupt, EOFError) as error:
            raise click.Abort from error
    given = sys.stdin.read(_MOST) if sys.stdin is not None else ""
    return given.removesuffix("\n").removesuffix("\r")


@secrets.command("list")
@json_option
@click.pass_context
def secrets_list(ctx: click.Context, as_json: bool) -> None:
    """Every secret's name, reference and last use; never a value."""

    async def work() -> int:
        from silas.services.secrets import secret_facts, servers_given

        config = look_config(ctx)
        found = secret_facts(config)
        if as_json:
            rows = [
                {**each._asdict(), "servers": servers_given(config, each.name)} for each in found
            ]
            print_json(rows)
            return DONE
        for each in found:
            used = tr("never used")
            if each.used_at:
                used = tr("used {moment}", moment=each.used_at[:19])
            added = tr("added {moment}", moment=each.added_at[:19])
            click.echo(f"{each.name:24} {each.ref_id}  {added}, {used}")
            for server in servers_given(config, each.name):
                click.echo("  " + tr("the server of tools {server} is given it", server=server))
        if not found:
            click.echo(
                tr("There are no secrets. Add one: {command}", command="silas secrets add NAME")
            )
        return DONE

    run_to_exit(work)


@secrets.command("remove")
@click.argument("name", metavar="NAME_OR_REF")
@click.pass_context
def secrets_remove(ctx: click.Context, name: str) -> None:
    """Forget a secret; plans that name it do not run any more."""

    async def work() -> int:
        from silas.services.secrets import needed_words, open_secrets_service, servers_given

        config = look_config(ctx)
        async with open_secrets_service(config) as service:
            removed = await service.remove(name)
        click.echo(tr("Forgot {name} ({ref_id}).", name=removed.name, ref_id=removed.ref_id))
        for words in needed_words(servers_given(config, removed.name)):
            click.echo(words)
        return DONE

    run_to_exit(work)
