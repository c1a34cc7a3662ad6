"""`silas signer`: the owner's key in a process and a terminal of its own."""

import asyncio
import contextlib

import click

from silas.language import tr
from silas.main.shared import DONE, read_config, run_to_exit


@click.command()
@click.option("--for", "agent", metavar="USER", default="", help="Who may ask; you by default.")
@click.pass_context
def signer(ctx: click.Context, agent: str) -> None:
    """Keep the key apart: show what is to be signed, sign on your yes."""

    async def work() -> int:
        from silas.services.signer.process import serve_signer

        with contextlib.suppress(asyncio.CancelledError):  # Ctrl-C is a proper end here
            await serve_signer(read_config(ctx), agent)
        click.echo(tr("The signer has ended; nothing is signed any more."))
        return DONE

    run_to_exit(work)
