"""Commands about conversations that wait for a person."""

import click

from silas.main.output import print_json
from silas.main.shared import DONE, open_work, run_to_exit


@click.group()
def queue() -> None:
    """Conversations that a rule stopped, and that wait for a person."""


@queue.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def queue_list(ctx: click.Context, as_json: bool) -> None:
    """Everybody who waits for a person, the longest first."""

    async def work() -> int:
        async with open_work(ctx) as desk:
            found = desk.people.waiting()
        if as_json:
            print_json([{**one._asdict(), "since": one.since.isoformat()} for one in found])
            return DONE
        if not found:
            click.echo("Nobody waits for a person.")
        for one in found:
            since = f"{one.since:%Y-%m-%d %H:%M} UTC"
            click.echo(f"{one.queue}  {one.connection_id}  since {since}, by the rule {one.gate}")
        return DONE

    run_to_exit(work)


@queue.command("done")
@click.argument("connection_id")
@click.pass_context
def queue_done(ctx: click.Context, connection_id: str) -> None:
    """Say that somebody saw to a conversation; it waits no more."""

    async def work() -> int:
        async with open_work(ctx) as desk:
            await desk.people.seen_to(connection_id)
        click.echo(f"Noted: {connection_id} waits no more.")
        return DONE

    run_to_exit(work)
