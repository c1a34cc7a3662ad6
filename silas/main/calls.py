"""Commands about calls whose outcome nobody knows."""

import click

from silas.language import tr
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, open_work, run_to_exit
from silas.main.typed import ShortGroup


@click.group(cls=ShortGroup)
def calls() -> None:
    """Calls that broke off, and what became of them."""


@calls.command("list")
@json_option
@click.pass_context
def calls_list(ctx: click.Context, as_json: bool) -> None:
    """Calls that wait for your word, because nobody else can know whether they took effect."""

    async def work() -> int:
        from silas.language.calendar import moment_words

        zone = look_config(ctx).scheduler.zone
        async with open_work(ctx) as service:
            found = await service.settling.open()
        if as_json:
            print_json(
                [
                    {
                        "key": call.key,
                        "tool": call.tool_name,
                        "work_item": call.task_id,
                        "title": title,
                        "attempted_at": call.attempted_at.isoformat(),
                    }
                    for call, title in found
                ]
            )
        elif not found:
            click.echo(tr("No call waits for your word."))
        for call, title in [] if as_json else found:
            moment = moment_words(call.attempted_at, zone)
            click.echo(f"{call.key[:12]}  {call.tool_name}  {moment}  {call.task_id}  {title}")
        return DONE

    run_to_exit(work)


@calls.command("settle")
@click.argument("key")
@click.argument("answer", type=click.Choice(["happened", "not"]))
@click.pass_context
def calls_settle(ctx: click.Context, key: str, answer: str) -> None:
    """Say whether a call took effect; its work item may then be run again."""

    async def work() -> int:
        async with open_work(ctx) as service:
            call = await service.settling.settle(key, happened=answer == "happened")
        click.echo(tr("Noted. {id} can be run again, which needs a new approval.", id=call.task_id))
        if answer == "happened":
            click.echo(tr("If that call must not happen again, change the plan before."))
        return DONE

    run_to_exit(work)
