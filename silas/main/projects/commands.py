"""`silas projects`: which there are, how their tasks stand, and the rest of one that has ended."""

from typing import TYPE_CHECKING, Any

import click

from silas.language import tr
from silas.main.output import STATUS_CODES, print_json, print_result, state_column, state_word
from silas.main.shared import (
    DONE,
    FAILED,
    hash_option,
    json_option,
    look_config,
    open_silas,
    run_to_exit,
)
from silas.main.terminal import show_progress, terminal
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from silas.plans import WorkItem


@click.group(cls=ShortGroup)
def projects() -> None:
    """Projects: list them, and show how their tasks stand.

    `silas run PLAN` asks about one; `silas undo PROJECT` takes all of it back; `silas projects rest
    PROJECT` asks about what one that has ended did not come to.
    """


@projects.command("list")
@json_option
@click.pass_context
def projects_list(ctx: click.Context, as_json: bool) -> None:
    """Every approved project, and how many of its tasks are done."""

    async def work() -> int:
        from silas.services.projects import asks_words, open_projects

        async with open_projects(look_config(ctx)) as service:
            rows = [
                _row(
                    project,
                    service.state(project),
                    service.taken_back(project),
                    service.asks(project),
                )
                for project in await service.all()
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

        async with open_projects(look_config(ctx)) as service:
            found = await service.get(project)
            tasks = await service.tasks(found)
            words, back = await service.words(found), service.taken_back(found)
            state = service.state(found)
            asks = service.asks(found)
        if as_json:
            told = {"summary": words, "tasks": [task._asdict() for task in tasks]}
            print_json({**_row(found, state, back, asks), **told})
            return DONE
        _show(
            tr(
                "{name} is {state}: {title}",
                name=found.id,
                state=state_word(state),
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


@projects.command("rest")
@click.argument("project")
@click.option("--plan", "as_plan", is_flag=True, help="Print the plan; ask nothing.")
@click.option(
    "--approve", metavar="HASH", callback=hash_option, help="sha256:HEX; approves only that plan."
)
@json_option
@click.pass_context
def projects_rest(
    ctx: click.Context, project: str, approve: str | None, *, as_plan: bool, as_json: bool
) -> None:
    """Ask about what PROJECT did not come to, as a new project; on your yes, run it.

    It has a budget and an approval of its own. What is done is not done again. `--plan` prints the
    plan, which you can change and give to `silas run`.
    """

    async def show() -> int:
        from silas.services.projects import open_projects

        async with open_projects(look_config(ctx)) as service:
            rest = await service.rest(project)
        if as_json:
            from silas.services.plans import approve_hash, plan_document

            document = {**plan_document(rest.item), "approve": approve_hash(rest.item)}
            print_json({"markdown": rest.text, **document})
        else:
            click.echo(rest.text, nl=False)
        return DONE

    async def work() -> int:
        channel = terminal(to_stderr=as_json, approve=approve, live=True)
        async with open_silas(ctx, channel.cards) as silas, show_progress(channel):
            result = await silas.run(await silas.rest_of(project))
        if as_json:
            print_json(result.model_dump(mode="json"))
        else:
            print_result(result, channel.screen.told)
        return STATUS_CODES.get(result.status.value, FAILED)

    run_to_exit(show if as_plan else work)


def _row(project: "WorkItem", state: str, taken_back: str, asks: list[str]) -> dict[str, Any]:
    return {
        "id": project.id,
        "title": project.title,
        "status": state,
        "done": sum(child.status.value == "done" for child in project.children),
        "tasks": project.tasks,
        "taken_back": taken_back,
        "asks": asks,
    }


def _show(line: str) -> None:
    from silas.plans.characters import show

    click.echo(show(line))
