"""`silas projects`: which there are, and how their tasks stand; works beside a running Silas."""

from typing import TYPE_CHECKING, Any

import click

from silas.language import tr
from silas.main.output import print_json, state_column, state_word
from silas.main.shared import DONE, json_option, look_config, run_to_exit

if TYPE_CHECKING:
    from silas.plans import WorkItem


@click.group()
def projects() -> None:
    """Projects: list them, and show how their tasks stand.

    `silas run PLAN` asks about one; `silas undo PROJECT` takes all of it back.
    """


@projects.command("list")
@json_option
@click.pass_context
def projects_list(ctx: click.Context, as_json: bool) -> None:
    """Every approved project, and how many of its tasks are done."""

    async def work() -> int:
        from silas.services.projects import asks_words, open_projects

        async with open_projects(look_config(ctx)) as desk:
            rows = [
                _row(project, desk.taken_back(project), desk.asks(project))
                for project in await desk.all()
            ]
        if as_json:
            print_json(rows)
            return DONE
        for row in rows:
            done = tr("{done} of {all} done", done=row["done"], all=len(row["tasks"]))
            _show(f"{row['id']:32} {state_column(row['status'])} {done}  {row['title']}")
            if row["taken_back"]:
                _show(f"  {row['taken_back']}")
            for words in asks_words(row["asks"]):
                _show(f"  {words}")
        if not rows:
            click.echo(tr("No project was approved. `silas run PLAN` with `type: project` asks."))
        return DONE

    run_to_exit(work)


@projects.command("show")
@click.argument("project")
@json_option
@click.pass_context
def projects_show(ctx: click.Context, project: str, as_json: bool) -> None:
    """The project PROJECT: each task, what it waits for, and how it ended."""

    async def work() -> int:
        from silas.services.projects import open_projects, state_words

        async with open_projects(look_config(ctx)) as desk:
            found = await desk.get(project)
            tasks = await desk.tasks(found)
            words, back = await desk.words(found), desk.taken_back(found)
            asks = desk.asks(found)
        if as_json:
            told = {"summary": words, "tasks": [task._asdict() for task in tasks]}
            print_json({**_row(found, back, asks), **told})
            return DONE
        _show(
            tr(
                "{name} is {state}: {title}",
                name=found.id,
                state=state_word(found.status.value),
                title=found.title,
            )
        )
        for line in (*(words.split("\n") if words else ()), *([back] if back else ())):
            _show(line)
        for task in tasks:
            _show(f"  {task.id:32} {state_column(task.status)} {task.title}")
            if task.depends_on:
                _show("    " + tr("after {tasks}", tasks=", ".join(task.depends_on)))
            if task.words:
                _show(f"    {task.words}")
            if task.asks:
                _show(f"    {state_words(task, ())}")
            if task.undone:
                _show("    " + tr("taken back"))
        return DONE

    run_to_exit(work)


def _row(project: "WorkItem", taken_back: str, asks: list[str]) -> dict[str, Any]:
    return {
        "id": project.id,
        "title": project.title,
        "status": project.status.value,
        "done": sum(child.status.value == "done" for child in project.children),
        "tasks": project.tasks,
        "taken_back": taken_back,
        "asks": asks,
    }


def _show(line: str) -> None:
    from silas.plans.characters import show

    click.echo(show(line))
