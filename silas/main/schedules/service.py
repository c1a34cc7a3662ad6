"""`silas service`: Silas as a service of the owner's login, so that what is due is done."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from silas.language import tr_later
from silas.main.output import print_json
from silas.main.shared import (
    DONE,
    FAILED,
    GivenPath,
    json_option,
    look_config,
    read_config,
    run_to_exit,
    speak_as_written,
)
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from silas.config import SilasConfig
    from silas.services.schedules.background_service import BackgroundService


@click.group(cls=ShortGroup, alone="status")
def service() -> None:
    """Silas in the background: start it at each login, so that what is due is done."""


@service.command("install")
@click.option(
    "--workspace",
    metavar="DIR",
    type=GivenPath(path_type=Path, file_okay=False, exists=True),
    help="The directory that requests are about; your home directory by default.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be written and run; do nothing.")
@click.pass_context
def service_install(ctx: click.Context, workspace: Path | None, dry_run: bool) -> None:
    """Start Silas now and whenever you log in, by systemd or launchd."""

    async def work() -> int:
        from silas.services.schedules.background_service import runs_what_is_due
        from silas.services.setup.initialise import initialise

        here = _service(ctx, workspace)
        if dry_run:
            click.echo(f"{here.unit.path}:\n\n{here.unit.text}")
            before = here.unit.unload if here.is_installed() else ()
            for command in (*before, *here.unit.start):
                click.echo(" ".join(command))
            return DONE
        config = read_config(ctx)
        _require_no_prompt(config)
        await initialise(config)
        beside = runs_what_is_due(config.data_dir) and not await here.running()
        await here.install()
        started = not beside and await here.comes_up(partial(runs_what_is_due, config.data_dir))
        _say_whether_it_runs(here, beside=beside, started=started)
        _say_what_it_does_not_see()
        return DONE if beside or started else FAILED

    run_to_exit(work)


@service.command("status")
@json_option
@click.pass_context
def service_status(ctx: click.Context, as_json: bool) -> None:
    """Whether the service is installed and runs, and whether any Silas runs what is due."""

    async def work() -> int:
        from silas.home.lease import runs_jobs
        from silas.language import tr

        here, folder = _service(ctx, None), look_config(ctx).data_dir
        found = {
            "service": here.unit.name,
            "file": str(here.unit.path),
            "installed": here.is_installed(),
            "running": here.is_installed() and await here.running(),
            "due_is_done": folder.is_dir() and runs_jobs(folder),
        }
        if as_json:
            print_json(found)
            return DONE
        state = tr("running") if found["running"] else tr("installed, but not running")
        if not found["installed"]:
            state = tr("not installed")
        click.echo(f"{here.unit.name}: {state}")
        if found["due_is_done"]:
            click.echo(tr("A Silas runs what is due."))
        else:
            click.echo(tr("No Silas runs what is due: `silas service install`, or `silas start`."))
        return DONE

    run_to_exit(work)


@service.command("remove")
@click.pass_context
def service_remove(ctx: click.Context) -> None:
    """End the service and remove it; nothing else is deleted."""

    async def work() -> int:
        from silas.language import tr

        speak_as_written(ctx)
        here = _service(ctx, None)
        name = here.unit.name
        if not await here.remove():
            click.echo(tr("{name} is not installed; nothing was changed.", name=name), err=True)
            return FAILED
        click.echo(tr("Ended and removed: {name}.", name=name))
        return DONE

    run_to_exit(work)


def _service(ctx: click.Context, workspace: Path | None) -> "BackgroundService":
    from silas.services.schedules.background_service import (
        BackgroundService,
        ask_service_manager,
        pause_a_moment,
        service_unit,
    )

    config = () if ctx.obj is None else ("--config", str(Path(ctx.obj).expanduser().absolute()))
    argv = (sys.executable, "-I", "-m", "silas", *config, "start", "--no-link")
    place = Path.home() if workspace is None else workspace.resolve()
    return BackgroundService(
        service_unit(sys.platform, os.getuid(), os.environ, argv, place),
        ask_service_manager,
        pause_a_moment,
    )


def _require_no_prompt(config: "SilasConfig") -> None:
    """A passphrase cannot be typed to a service."""
    from silas.errors import ConfigError
    from silas.home.key_vault import open_vault
    from silas.home.signer_client import is_apart

    if not is_apart(config) and open_vault(config).asks_for_passphrase:
        raise ConfigError(
            "Your key is behind a passphrase, which nobody can type to a service; set "
            "`keys.key_file`, or keep the key in this system's key store. Nothing was installed.",
            code="E_CFG_SERVICE_PASSPHRASE",
        )


def _say_whether_it_runs(here: "BackgroundService", *, beside: bool, started: bool) -> None:
    """What came of it; a service that ended at once was started, too."""
    from silas.language import tr

    installed = {"name": here.unit.name, "path": here.unit.path}
    if beside:
        words = tr_later(
            "Installed: {name} ({path}). Another Silas runs what is due; the service does it once "
            "you have ended that one."
        )
    elif started:
        words = tr_later("Installed and started: {name} ({path}).")
    else:
        words = tr_later(
            "Installed, but it does not run: {name} ({path}). `silas start` in this terminal says "
            "why; `silas service status` tells when it runs."
        )
    click.echo(tr(words, **installed), err=not (beside or started))
    click.echo(tr("`silas devices link` lets a browser in; `silas service status`, `remove`."))


def _say_what_it_does_not_see() -> None:
    """A service has none of the variables of this shell."""
    from silas.language import tr
    from silas.services.schedules.background_service import unseen_keys

    if seen := unseen_keys(os.environ):
        click.echo(
            tr(
                "It does not see {names} of this shell; give it a key in the cockpit under More, "
                "Set up.",
                names=", ".join(seen),
            )
        )
