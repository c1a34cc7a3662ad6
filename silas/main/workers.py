"""`silas workers`: the owner's workers, and what is wrong with the files of others."""

import click

from silas.language import tr, tr_later
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, run_to_exit
from silas.main.typed import ShortGroup

_HEADINGS = {
    "model": tr_later("model"),
    "tools": tr_later("tools"),
    "delegates": tr_later("delegates"),
    "skills": tr_later("skills"),
}


@click.group(cls=ShortGroup)
def workers() -> None:
    """Workers that plans may name, each from a file of its own."""


@workers.command("list")
@json_option
@click.pass_context
def workers_list(ctx: click.Context, as_json: bool) -> None:
    """Every worker with its model, tools and delegates; for a file that cannot be used, why."""

    async def work() -> int:
        from silas.language import refusal_words
        from silas.services.workers import worker_rows

        config = look_config(ctx)
        rows = worker_rows(config)
        if as_json:
            print_json(rows)
        elif not rows:
            places = str(config.worker_files)
            click.echo(
                tr("There are no workers; put NAME.worker files into {folders}.", folders=places)
            )
        for row in [] if as_json else rows:
            click.echo(_line(row["name"], refusal_words(row["fault"]) or row["description"]))
            for heading in () if row["fault"] else _HEADINGS:
                words = row[heading] if heading == "model" else ", ".join(row[heading])
                click.echo(f"{'':16}  {tr(_HEADINGS[heading])}: {words or '-'}")
        return DONE

    run_to_exit(work)


def _line(name: str, words: str) -> str:
    return f"{name:16}  {words}"
