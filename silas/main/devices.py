"""Commands about paired browsers: list, name, revoke, link. They work beside a running Silas."""

import sys

import click

from silas.language import tr
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, run_to_exit
from silas.main.typed import ShortGroup


@click.group(cls=ShortGroup)
def devices() -> None:
    """Browsers and phones that are paired with Silas."""


@devices.command("list")
@json_option
@click.pass_context
def devices_list(ctx: click.Context, as_json: bool) -> None:
    """Every device: whether it can sign for you, since when, and when it was last here."""

    async def work() -> int:
        from silas.language.calendar import day_words, moment_words
        from silas.services.devices import open_door

        zone = look_config(ctx).scheduler.zone
        async with open_door(look_config(ctx)) as door:
            found = door.devices()
        if as_json:
            print_json([each.model_dump(mode="json") for each in found])
            return DONE
        for each in found:
            signs = tr("signs for you") if each.level == "owner" else tr("cannot sign")
            state = tr("revoked") if each.revoked else signs
            seen = moment_words(each.seen_at, zone) if each.seen_at else tr("never")
            paired = day_words(each.paired_at.astimezone(zone))
            since = tr("paired {day}, seen {moment}", day=paired, moment=seen)
            click.echo(f"{each.id}  {each.name}: {state}, {since}")
        if not found:
            click.echo(
                tr(
                    "No device is paired. Make a link for one: {command}",
                    command="silas devices link",
                )
            )
        return DONE

    run_to_exit(work)


@devices.command("revoke")
@click.argument("device_id", metavar="ID")
@click.pass_context
def devices_revoke(ctx: click.Context, device_id: str) -> None:
    """End a device's sessions at once; nothing that it signs counts any more."""

    async def work() -> int:
        from silas.services.devices import open_door

        async with open_door(look_config(ctx)) as door:
            await door.revoke(device_id)
        click.echo(tr("Revoked {device}.", device=device_id))
        return DONE

    run_to_exit(work)


@devices.command("name")
@click.argument("device_id", metavar="ID")
@click.argument("name")
@click.pass_context
def devices_name(ctx: click.Context, device_id: str, name: str) -> None:
    """Call a device otherwise."""

    async def work() -> int:
        from silas.services.devices import open_door

        async with open_door(look_config(ctx)) as door:
            kept = await door.rename(device_id, name)
        click.echo(tr("{device} is called {name}.", device=device_id, name=kept))
        return DONE

    run_to_exit(work)


@devices.command("link")
@click.option("--phone", is_flag=True, help="For a phone, where `silas start --phone` runs.")
@click.pass_context
def devices_link(ctx: click.Context, phone: bool) -> None:
    """Print a fresh pairing link: it works once, within ten minutes, while `silas start` runs."""

    async def work() -> int:
        from silas.main.phone import draw_code
        from silas.services.devices import pairing_link
        from silas.services.phone.qr import qr_rows

        link = await pairing_link(look_config(ctx), phone=phone)
        if phone and sys.stdout.isatty():
            click.echo("\n".join(draw_code(qr_rows(link))))
        click.echo(link)
        return DONE

    run_to_exit(work)
