"""The emergency stop from any terminal: stop, resume."""

from pathlib import Path

import click

from silas.errors import SilasError, reason
from silas.language import refusal_words, tr, tr_later
from silas.main.shared import (
    DECLINED,
    DONE,
    FAILED,
    USAGE,
    config_option,
    read_config,
    run_to_exit,
    speak_if_possible,
    wrong_use,
)
from silas.main.typed import confirm
from silas.services.stop_now import StopNow
from silas.stop import Sentinel

_NOT_ASKED = tr_later("Silas stays stopped. Without a terminal to ask on, say: silas resume --yes")
_QUESTION = tr_later(
    "Let Silas work again? Everything approved before the stop needs a new approval"
)


@click.command()
@click.option("--now", is_flag=True, help="Kill what runs, void every approval, stay stopped.")
@click.pass_context
def stop(ctx: click.Context, now: bool) -> None:
    """Emergency stop: kill what runs, void every approval, stay stopped until `silas resume`."""
    if not now:
        raise wrong_use(tr_later("The only way to stop is the emergency stop: silas stop --now."))
    from silas.config.place import data_dir

    folder = data_dir(config_option(ctx))
    if not folder.is_dir():
        speak_if_possible(ctx)
        words = tr_later("There is no Silas in {folder}, so there is nothing to stop.")
        click.echo(tr(words, folder=folder), err=True)
        ctx.exit(USAGE)
    ctx.exit(_stop_now(ctx, folder))


def _stop_now(ctx: click.Context, folder: Path) -> int:
    """See `StopNow`; what may take its time comes after the words."""
    stopping = StopNow(folder)
    first = stopping.place()
    killed, left = stopping.kill()
    speak_if_possible(ctx)
    if stopping.failure is not None:
        words = tr_later(
            "Silas is not stopped: {file} cannot be made ({why}); end its processes yourself. "
            "Running tools killed: {killed}."
        )
        why = refusal_words(stopping.failure.strerror or "")
        click.echo(tr(words, file=stopping.sentinel.path, why=why, killed=killed), err=True)
        return FAILED
    words = tr_later(
        "Silas in {folder} was stopped already; every approval is void; tools killed: {killed}."
    )
    if first:
        words = tr_later(
            "Silas in {folder} is stopped; every approval is void; tools killed: {killed}."
        )
    click.echo(tr(words, folder=folder, killed=killed))
    click.echo(tr("`silas resume` starts it again."))
    if left:
        words = tr("The kernel still holds {count} of them; look again in a moment.", count=left)
        click.echo(words, err=True)
    stopping.keep()
    _record_stop(ctx)
    return FAILED if left else DONE


def _record_stop(ctx: click.Context) -> None:
    """The stop in the record; it holds whether or not this succeeds."""
    import asyncio

    from silas.services.emergency_stop import SETTLE_SECONDS, open_stop

    try:
        with open_stop(read_config(ctx)) as service:
            service.record()
            for item in asyncio.run(service.settle(SETTLE_SECONDS)):
                click.echo(f"{tr('paused')}: {item}")
    except (SilasError, OSError) as error:
        why = refusal_words(reason(error))
        words = tr("The stop holds, but could not be recorded yet: {why}.", why=why)
        click.echo(words, err=True)


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
            click.echo(tr("Silas is not stopped."))
            return DONE
        if not (yes or _confirm_words(words)):
            click.echo(tr(_NOT_ASKED), err=True)
            return DECLINED
        with open_stop(config) as service:
            for item in await service.resume():
                click.echo(f"{tr('paused')}: {item}")
        click.echo(tr("Silas works again. What was interrupted needs a new approval."))
        return DONE

    run_to_exit(work)


def _confirm_words(words: str) -> bool:
    return confirm(tr(_QUESTION), before=refusal_words(words))
