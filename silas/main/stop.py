"""The emergency stop from any terminal: stop, resume."""

from pathlib import Path

import click

from silas.errors import SilasError, reason
from silas.main.shared import (
    DECLINED,
    DONE,
    FAILED,
    USAGE,
    config_option,
    read_config,
    run_to_exit,
)
from silas.services.stop_now import StopNow
from silas.stop import Sentinel

_NOT_ASKED = "Silas stays stopped. Without a terminal to ask on, say: silas resume --yes"
_QUESTION = "Let Silas work again? Everything approved before the stop needs a new approval"


@click.command()
@click.option("--now", is_flag=True, help="Kill what runs, void every approval, stay stopped.")
@click.pass_context
def stop(ctx: click.Context, now: bool) -> None:
    """Emergency stop: kill what runs, void every approval, stay stopped until `silas resume`."""
    if not now:
        raise click.UsageError("The only way to stop is the emergency stop: silas stop --now.")
    from silas.config.place import data_dir

    folder = data_dir(config_option(ctx))
    if not folder.is_dir():
        click.echo(f"There is no Silas in {folder}, so there is nothing to stop.", err=True)
        ctx.exit(USAGE)
    ctx.exit(_stop_now(ctx, folder))


def _stop_now(ctx: click.Context, folder: Path) -> int:
    """See `StopNow`; what may take its time comes after the words."""
    stopping = StopNow(folder)
    first = stopping.place()
    killed, left = stopping.kill()
    if stopping.failure is not None:
        click.echo(
            f"Silas is not stopped: {stopping.sentinel.path} cannot be made "
            f"({stopping.failure.strerror}); end its processes yourself. Running tools killed: "
            f"{killed}.",
            err=True,
        )
        return FAILED
    words = "is stopped" if first else "was stopped already"
    click.echo(f"Silas in {folder} {words}; every approval is void; tools killed: {killed}.")
    click.echo("`silas resume` starts it again.")
    if left:
        click.echo(f"The kernel still holds {left} of them; look again in a moment.", err=True)
    stopping.keep()
    _record_stop(ctx)
    return FAILED if left else DONE


def _record_stop(ctx: click.Context) -> None:
    """The stop in the record; it holds whether or not this succeeds."""
    import asyncio

    from silas.services.emergency_stop import SETTLE_SECONDS, open_stop

    try:
        with open_stop(read_config(ctx)) as desk:
            desk.record()
            for item in asyncio.run(desk.settle(SETTLE_SECONDS)):
                click.echo(f"paused: {item}")
    except (SilasError, OSError) as error:
        click.echo(f"The stop holds, but could not be recorded yet: {reason(error)}.", err=True)


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask; for a machine without a terminal.")
@click.pass_context
def resume(ctx: click.Context, yes: bool) -> None:
    """End the emergency stop; what was interrupted needs a new approval."""

    async def work() -> int:
        from silas.services.emergency_stop import open_stop

        config = read_config(ctx)
        words = Sentinel(config.data_dir, config.scheduler.zone).words()
        if not words:
            click.echo("Silas is not stopped.")
            return DONE
        if not (yes or _confirm_words(words)):
            click.echo(_NOT_ASKED, err=True)
            return DECLINED
        with open_stop(config) as desk:
            for item in await desk.resume():
                click.echo(f"paused: {item}")
        click.echo("Silas works again. What was interrupted needs a new approval.")
        return DONE

    run_to_exit(work)


def _confirm_words(words: str) -> bool:
    import sys

    if sys.stdin is None or not sys.stdin.isatty():
        return False
    click.echo(words)
    from silas.home.passphrases import allow_interrupt

    with allow_interrupt():
        return click.confirm(_QUESTION, default=False)
