"""`silas skills`: what plans may name, what only lies about, what is wrong with a folder."""

from pathlib import Path

import click

from silas.main.output import print_json
from silas.main.shared import DONE, FAILED, look_config, run_to_exit


@click.group()
def skills() -> None:
    """What plans may name to be told how work is done well."""


@skills.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def skills_list(ctx: click.Context, as_json: bool) -> None:
    """Every skill, whether plans may name it, and why one cannot be used. Nothing of it is run."""

    async def work() -> int:
        from silas.wiring import skill_rows

        config = look_config(ctx)
        rows = skill_rows(config, Path.cwd())
        if as_json:
            print_json(rows)
            return DONE
        from silas.plans.characters import show_exactly

        for row in rows:
            words = row["fault"] or row["description"]
            click.echo(f"{show_exactly(row['name'])[:40]:16}  {row['trust']:9}  {words}")
        if any(row["trust"] == "untrusted" for row in rows):
            click.echo(
                f"Untrusted skills are not used; move one into {config.skills_dir} to install."
            )
        return DONE

    run_to_exit(work)


@skills.command("validate")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def skills_validate(ctx: click.Context, path: Path, as_json: bool) -> None:
    """Read the skill in the folder PATH and say which of the fixed rules it breaks."""

    async def work() -> int:
        from silas.wiring import skill_report

        report = skill_report(look_config(ctx), path)
        if as_json:
            print_json(report)
        else:
            for one in report["findings"]:
                click.echo(f"{one['path']}: {one['words']}")
            if report["valid"]:
                click.echo(f"{report['name']} is valid: {len(report['files'])} file(s).")
        return DONE if report["valid"] else FAILED

    run_to_exit(work)
