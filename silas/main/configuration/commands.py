"""The commands about the configuration: look at it, check it, change one setting of it."""

import os
from typing import TYPE_CHECKING, Any

import click

from silas.main.inspect import print_findings
from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    USAGE,
    config_option,
    json_option,
    look_config,
    print_error,
    read_config,
    run_to_exit,
)
from silas.main.terminal import terminal
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from pathlib import Path

    from silas.config.edit_values import Scalar
    from silas.services.setup.saved_settings import PlannedSettings


@click.group(cls=ShortGroup, alone="show")
def config() -> None:
    """The configuration: look at it, check it, change it."""


@config.command("path")
@json_option
@click.pass_context
def config_path_command(ctx: click.Context, as_json: bool) -> None:
    """Where the configuration is read from."""
    from silas.config import config_file

    file = config_file(config_option(ctx))
    if as_json:
        print_json({"path": str(file), "exists": file.exists()})
        return
    click.echo(str(file))


@config.command("show")
@json_option
@click.pass_context
def config_show(ctx: click.Context, as_json: bool) -> None:
    """The configuration in force, secrets masked."""

    async def work() -> int:
        from silas.config import dump_config, shown_config

        if as_json:
            print_json(shown_config(look_config(ctx)))
            return DONE
        click.echo(dump_config(look_config(ctx)), nl=False)
        return DONE

    run_to_exit(work)


@config.command("validate")
@json_option
@click.pass_context
def config_validate(ctx: click.Context, as_json: bool) -> None:
    """Check the configuration: every rule, every model's name and key, every gate."""

    async def work() -> int:
        from silas.home.findings import is_ready
        from silas.language import tr
        from silas.services.doctor.reachability import unasked_servers
        from silas.services.doctor.readiness import validate

        settings = look_config(ctx)
        findings = await validate(settings)
        if as_json:
            print_json([finding.document() for finding in findings])
        else:
            told = [one for one in findings if one.state != "ok"]
            if told:
                print_findings(told)
            else:
                click.echo(tr("The configuration is valid."))
            if is_ready(findings) and (unasked := unasked_servers(settings)):
                click.echo(tr("Not looked at: {unasked}.", unasked=unasked))
        return DONE if is_ready(findings) else USAGE

    run_to_exit(work)


@config.command("set")
@click.argument("name")
@click.argument("value")
@json_option
@click.pass_context
def config_set(ctx: click.Context, name: str, value: str, as_json: bool) -> None:
    """Change one setting in the configuration file; it counts from the next start on.

    NAME is one of those that the cockpit changes, too. What lets Silas do more is shown on a card
    and needs your yes here.
    """

    async def work() -> int:
        from silas.config import config_file
        from silas.config.place import ConfigPlace
        from silas.errors import ApprovalError
        from silas.language import tr
        from silas.services.setup.saved_settings import (
            change_words,
            open_settings,
            settings_card,
            unchanged_words,
            value_from,
        )
        from silas.stop import Sentinel
        from silas.stream.owner import Owner

        settings = read_config(ctx)
        place = ConfigPlace(config_file(config_option(ctx)), os.environ)
        async with open_settings(settings, place) as service:
            wanted = value_from(name, value, place.file)
            if service.has_value(name, wanted):
                if as_json:
                    print_json(_same(name, wanted, place.file))
                else:
                    click.echo(unchanged_words(name, wanted, place.file))
                return DONE
            planned = service.plan({name: wanted})
            if planned.widens:
                Sentinel(settings.data_dir, settings.scheduler.zone).require_running()
                owner = terminal(to_stderr=as_json, approve=None)
                if not owner.attended:
                    raise ApprovalError(
                        tr(
                            "Setting {name} to {value} lets Silas do more, so it needs your yes: "
                            "run this in a terminal, or change it in the cockpit.",
                            name=name,
                            value=value,
                        ),
                        code="E_APPROVAL_UNATTENDED",
                    )
                asked = Owner(owner.cards, service.audit, owner.clock)
                if not (await asked.ask(settings_card(planned))).approved:
                    await service.record_no(planned)
                    print_error(tr("Nothing was saved."), "E_APPROVAL_DECLINED")
                    return DECLINED
            backup = await service.write(planned)
        if as_json:
            print_json(_document(planned) | {"backup": str(backup) if backup else None})
            return DONE
        click.echo(change_words(planned.changes[0]))
        click.echo(tr("The settings are saved; they count from the next start on."))
        return DONE

    run_to_exit(work)


def _document(planned: "PlannedSettings") -> dict[str, Any]:
    from silas.services.setup.saved_settings import change_words

    (one,) = planned.changes
    return {
        "file": str(planned.edit.file),
        "name": one.setting.name,
        "before": one.before,
        "after": one.after,
        "widens": one.widens,
        "words": change_words(one),
    }


def _same(name: str, value: "Scalar", file: "Path") -> dict[str, Any]:
    from silas.services.setup.saved_settings import unchanged_words

    words = unchanged_words(name, value, file)
    told = {"file": str(file), "name": name, "before": value, "after": value}
    return told | {"widens": False, "words": words, "backup": None}
