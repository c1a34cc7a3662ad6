"""`silas skills`: what plans may name, what only lies about, bringing one in and taking it away."""

from pathlib import Path
from typing import Any

import click

from silas.language import refusal_words, tr, tr_later, tr_many
from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    FAILED,
    GivenPath,
    hash_option,
    json_option,
    look_config,
    read_config,
    run_to_exit,
)
from silas.main.terminal import terminal
from silas.main.typed import ShortGroup, confirm

_TRUST = {
    "bundled": tr_later("bundled"),
    "installed": tr_later("installed"),
    "waiting": tr_later("waiting"),
    "untrusted": tr_later("untrusted"),
}


def _files(count: int) -> str:
    return tr_many(count, "{count} file", "{count} files")


@click.group(cls=ShortGroup)
def skills() -> None:
    """What plans may name to be told how work is done well."""


@skills.command("list")
@json_option
@click.pass_context
def skills_list(ctx: click.Context, as_json: bool) -> None:
    """Every skill, whether plans may name it, and why one cannot be used. Nothing of it is run."""

    async def work() -> int:
        from silas.services.skills.catalogue import skill_rows

        config = look_config(ctx)
        rows = skill_rows(config, Path.cwd())
        if as_json:
            print_json(rows)
            return DONE
        from silas.plans.characters import show_exactly

        for row in rows:
            words = refusal_words(row["fault"]) or row["description"]
            trust = tr(_TRUST[row["trust"]])
            click.echo(f"{show_exactly(row['name'])[:40]:16}  {trust:9}  {words}")
        if any(row["trust"] == "untrusted" for row in rows):
            later = tr_later(
                "Untrusted skills are not used; silas skills install FOLDER brings one in."
            )
            click.echo(tr(later))
        return DONE

    run_to_exit(work)


@skills.command("validate")
@click.argument("path", type=GivenPath(path_type=Path))
@json_option
@click.pass_context
def skills_validate(ctx: click.Context, path: Path, as_json: bool) -> None:
    """Read the skill in the folder PATH and say which of the fixed rules it breaks."""

    async def work() -> int:
        from silas.services.skills.catalogue import skill_report

        report = skill_report(look_config(ctx), path)
        if as_json:
            print_json(report)
        else:
            for one in report["findings"]:
                click.echo(f"{one['path']}: {refusal_words(one['words'])}")
            if report["valid"]:
                files = _files(len(report["files"]))
                click.echo(tr("{name} is valid: {files}.", name=report["name"], files=files))
        return DONE if report["valid"] else FAILED

    run_to_exit(work)


@skills.command("import")
@click.argument("source")
@click.option(
    "--format",
    "hint",
    type=click.Choice(["silas", "openai", "claude"]),
    help="For whom it was written; found out by itself where it is not given.",
)
@json_option
@click.pass_context
def skills_import(ctx: click.Context, source: str, hint: Any, as_json: bool) -> None:
    """Adapt the skill in the folder SOURCE and set it aside, where nothing can use it.

    Says every change. Nothing of it is run; it waits for `silas skills install NAME`.
    """

    async def work() -> int:
        from silas.services.skills.service import open_skills

        async with open_skills(read_config(ctx)) as service:
            name, report = await service.bring(source, hint)
        if as_json:
            print_json({"name": name, **report.model_dump(mode="json")})
            return DONE
        from silas.plans import show_lines

        for line in (tr("from {source}", source=report.source), *report.lines()):
            for part in show_lines(line):
                click.echo(f"  {part}")
        words = tr_later("{name} is imported and waits for your yes: silas skills install {name}")
        click.echo(tr(words, name=name))
        return DONE

    run_to_exit(work)


@skills.command("install")
@click.argument("skill")
@click.option(
    "--approve",
    metavar="HASH",
    callback=hash_option,
    help="sha256:HEX as printed; installs only that.",
)
@click.pass_context
def skills_install(ctx: click.Context, skill: str, approve: str | None) -> None:
    """Show every file of a skill, and install exactly that on your yes.

    SKILL is the name of one that was imported or lies in skills_dir, or a folder.
    """

    async def work() -> int:
        from silas.services.skills.service import open_skills
        from silas.stop import Sentinel

        config, screen = read_config(ctx), terminal(to_stderr=False, approve=None).screen
        sentinel = Sentinel(config.data_dir, config.scheduler.zone)
        sentinel.require_running()  # nobody is asked for what cannot be done
        async with open_skills(config) as service:
            look = service.look(skill)
            digest = look.shown.digest
            if approve is None:
                click.echo(f"sha256:{digest}")
                yes = (await screen.ask("owner", look.card())).approved
            else:
                yes = approve == digest
                words = tr_later("sha256:{digest} is not what was approved: {other}")
                if yes:
                    words = tr_later("sha256:{digest} is approved beforehand")
                click.echo(tr(words, digest=digest, other=approve))
            if not yes:
                await service.refuse(look)
                click.echo(tr("Nothing was installed."))
                return DECLINED
            await service.install(look)
        files = _files(len(look.files))
        words = tr_later("Installed: {name}, {files}; plans may name it.")
        click.echo(tr(words, name=look.shown.name, files=files))
        return DONE

    run_to_exit(work)


@skills.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def skills_remove(ctx: click.Context, name: str, yes: bool) -> None:
    """Delete a skill's files and your approval of them; plans that name it are refused."""

    async def work() -> int:
        from silas.services.skills.service import open_skills

        async with open_skills(read_config(ctx)) as service:
            service.require(name)
            question = tr("Delete the skill {name} and its files?", name=name)
            if not (yes or confirm(question)):
                click.echo(tr("Nothing was removed."), err=True)
                return DECLINED
            await service.remove(name)
        click.echo(tr("Removed: {name}.", name=name))
        return DONE

    run_to_exit(work)
