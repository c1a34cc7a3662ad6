"""`silas start`: the cockpit in the browser, until it is ended."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from silas.home.garbage_collection import collect_by_clock
from silas.language import refusal_words, tr, tr_later
from silas.main.shared import (
    DONE,
    GivenPath,
    config_option,
    end_process,
    read_config,
    run_to_exit,
    wrong_use,
)

if TYPE_CHECKING:
    from silas.channels.models import PhoneWay
    from silas.wiring.web import RunningCockpit


@click.command()
@click.option("--host", metavar="ADDRESS", help="Where to listen; this machine alone by default.")
@click.option("--port", type=click.IntRange(0, 65535), help="Which port; 8420 by default.")
@click.option(
    "--workspace",
    metavar="DIR",
    type=GivenPath(path_type=Path, file_okay=False, exists=True),
    help="The directory that requests are about; the current one by default.",
)
@click.option(
    "--phone",
    is_flag=False,
    flag_value="usual",
    type=click.Choice(["usual", "authority", "certificate", "tailscale"]),
    help="Open it for a phone over HTTPS, too; `usual` is what the configuration says.",
)
@click.option(
    "--phone-address",
    metavar="ADDRESS|INTERFACE",
    default="",
    help="Where the phone reaches this machine; with --phone.",
)
@click.option("--no-link", is_flag=True, help="Print no link; `silas devices link` makes one.")
@click.pass_context
def start(
    ctx: click.Context,
    host: str | None,
    port: int | None,
    workspace: Path | None,
    phone: str | None,
    phone_address: str,
    no_link: bool,
) -> None:
    """Start the cockpit and print the link that pairs a browser with it.

    Anything but this machine's own loopback needs `channels.web.auth_token` in the configuration.
    """
    if phone_address and not phone:
        raise wrong_use(tr_later("--phone-address goes with --phone."))
    named = workspace and workspace.resolve()

    async def work() -> int:
        from silas.config.place import ConfigPlace, config_file
        from silas.home.cockpit_address import listening_at
        from silas.services.setup.initialise import initialise
        from silas.stop import Sentinel
        from silas.stream.session import current_workspace
        from silas.wiring.web import open_cockpit

        config = listening_at(read_config(ctx), host, port)
        await initialise(config)
        written = ConfigPlace(config_file(config_option(ctx)), os.environ)
        place = current_workspace() if named is None else str(named)
        overdue = partial(end_process, Sentinel(config.data_dir, config.scheduler.zone))
        async with (
            open_cockpit(config, written, place, overdue) as cockpit,
            collect_by_clock(cockpit.silas.messages.clock),
            _told_to_end() as ended,
        ):
            _say_where(cockpit, link=not no_link)
            if place is not None:
                words = tr("Requests are about {place} unless they say otherwise.", place=place)
                click.echo(words)
            if phone or config.channels.web.phone.enabled:
                await _open_phone(cockpit, phone, phone_address, link=not no_link)
            await ended.wait()
            click.echo(_ending_words(cockpit.silas.executor.asked_later()))
        return DONE

    run_to_exit(work)


def _ending_words(waiting: tuple[str, ...]) -> str:
    """What becomes of what is open.

    Args:
        waiting: The ids of work that only waits for an answer, and is left for the next start.
    """
    if waiting:
        return tr(
            "Ending: what {work} asks you is asked again by the next `silas start` or `silas "
            "chat`, and plans go on waiting. Every other question is answered safely, other "
            "unfinished work is not applied.",
            work=", ".join(waiting),
        )
    return tr(
        "Ending: plans go on waiting for your yes. Every other question is answered safely, "
        "unfinished work is not applied."
    )


def _say_where(cockpit: "RunningCockpit", *, link: bool) -> None:
    """How a browser gets in; while the record is found changed, none but those that are paired."""
    if cockpit.refused:
        words = tr_later("Silas is at {address}, for browsers that are paired. Ctrl-C ends it.")
        click.echo(tr(words, address=cockpit.address))
        click.echo(tr("No other is let in before you have looked; then: silas devices link"))
        return
    if not link:
        words = tr_later("Silas is at {address}. For another browser: silas devices link")
        click.echo(tr(words, address=cockpit.address))
        return
    click.echo(tr("Silas is ready. Open this link once, within ten minutes, in your browser:"))
    click.echo(f"\n  {cockpit.link}\n")
    click.echo(tr("Afterwards it is at {address}. Ctrl-C ends it.", address=cockpit.address))


async def _open_phone(
    cockpit: "RunningCockpit", way: str | None, address: str, *, link: bool
) -> None:
    """Open the cockpit for a phone and say how it gets in.

    What the configuration asks for may fail, as away from home; then Silas goes on without it. So
    it does while the record is found changed.
    """
    if cockpit.refused:
        click.echo(tr("Silas is not open for your phone before you have looked at the record."))
        return
    service = cockpit.phone
    from silas.errors import SilasError
    from silas.main.phone import show_phone

    chosen = None if way in (None, "usual") else cast("PhoneWay", way)
    try:
        view = await service.open(chosen, address)
    except SilasError as error:
        if way:
            raise
        why = refusal_words(error.message)
        click.echo(tr("Silas is not open for your phone: {why}", why=why))
        return
    if not link:
        words = tr_later("For your phone: {address}. Under Devices the cockpit has the way in.")
        click.echo(tr(words, address=view.origin))
        return
    show_phone(view, await service.link(), codes=sys.stdout.isatty())


@asynccontextmanager
async def _told_to_end() -> AsyncGenerator[asyncio.Event]:
    """Set once the terminal or the system says so, also while something is still printed."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    try:
        yield ended
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
