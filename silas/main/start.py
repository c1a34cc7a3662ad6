"""`silas start`: the cockpit in the browser, until it is ended."""

import asyncio
import signal
from functools import partial
from pathlib import Path

import click

from silas.main.reclaim import reclaiming
from silas.main.shared import DONE, end_process, read_config, run_to_exit


@click.command()
@click.option("--host", metavar="ADDRESS", help="Where to listen; this machine alone by default.")
@click.option("--port", type=click.IntRange(0, 65535), help="Which port; 8420 by default.")
@click.option(
    "--workspace",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The directory that requests are about; the current one by default.",
)
@click.pass_context
def start(ctx: click.Context, host: str | None, port: int | None, workspace: Path | None) -> None:
    """Start the cockpit and print the link that pairs a browser with it.

    Anything but this machine's own loopback needs `channels.web.auth_token` in the configuration.
    """
    named = workspace and workspace.resolve()

    async def work() -> int:
        from silas.home.cockpit_address import listening_at
        from silas.services.setup.initialise import initialise
        from silas.stop import Sentinel
        from silas.stream.session import standing_in
        from silas.wiring.web import open_cockpit

        config = listening_at(read_config(ctx), host, port)
        await initialise(config)
        place = standing_in() if named is None else str(named)
        overdue = partial(end_process, Sentinel(config.data_dir))
        async with (
            open_cockpit(config, place, overdue) as cockpit,
            reclaiming(cockpit.silas.messages.clock),
        ):
            click.echo("Silas is ready. Open this link once, within ten minutes, in your browser:")
            click.echo(f"\n  {cockpit.link}\n")
            click.echo(f"Afterwards it is at {cockpit.address}. Ctrl-C ends it.")
            if place is not None:
                click.echo(f"Requests are about {place} unless they say otherwise.")
            await _told_to_end()
            click.echo("Ending: questions are answered safely, unfinished work is not applied.")
        return DONE

    run_to_exit(work)


async def _told_to_end() -> None:
    """Wait for the terminal or the system to say so."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    try:
        await ended.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
