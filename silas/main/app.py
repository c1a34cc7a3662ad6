"""The command line: parses, calls wiring, prints. Nothing heavy is imported before it is needed."""

from pathlib import Path

import click

from silas import __version__
from silas.main.inspect import audit, config, doctor, plan, status, tools
from silas.main.shared import (
    DONE,
    FAILED,
    OUTCOME_CODES,
    STATUS_CODES,
    hash_option,
    open_silas,
    print_json,
    print_result,
    read_config,
    read_plan,
    reply_document,
    run_to_exit,
    terminal,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="silas")
@click.option(
    "--config", "config_path", type=click.Path(path_type=Path), help="Configuration file."
)
@click.pass_context
def cli(ctx: click.Context, config_path: Path | None) -> None:
    """Silas does things for you, securely: it asks, runs sandboxed, verifies, and proves it."""
    ctx.obj = config_path


for _command in (status, doctor, audit, plan, tools, config):
    cli.add_command(_command)


@cli.command()
@click.pass_context
def init(ctx: click.Context) -> None:
    """Make keys, database and directories; safe to repeat."""
    from silas.wiring import initialise

    async def work() -> int:
        for line in await initialise(read_config(ctx)):
            click.echo(line)
        return DONE

    run_to_exit(work)


@cli.command()
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--approve", callback=hash_option, help="sha256:HEX; approves exactly that plan.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def run(ctx: click.Context, plan: Path, approve: str | None, as_json: bool) -> None:
    """Show a plan's card, take the approval, run it sandboxed, verify it."""
    from silas.plans import plan_hash

    async def work() -> int:
        text = read_plan(plan)
        channel = terminal(as_json=as_json, approve=approve)
        async with open_silas(ctx, channel) as silas:
            item = silas.parse(text)
            result = await silas.run(text)
        if as_json:
            print_json({"plan_hash": plan_hash(item), **result.model_dump(mode="json")})
        else:
            print_result(result)
        return STATUS_CODES.get(result.status.value, FAILED)

    run_to_exit(work)


@cli.command()
@click.argument("text")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The directory this is about; the current one by default.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def ask(ctx: click.Context, text: str, workspace: Path | None, as_json: bool) -> None:
    """Say something to Silas, once; waits for the work it starts."""

    async def work() -> int:
        channel = terminal(as_json=as_json, approve=None)
        async with open_silas(ctx, channel) as silas:
            reply = await silas.ask(text, workspace=(workspace or Path.cwd()).resolve())
            result = None
            if reply.outcome == "dispatched" and reply.plan is not None:
                result = await silas.wait(reply.plan.id)
        if as_json:
            print_json(reply_document(reply, result))
        elif result is not None:
            print_result(result)
        if result is not None:
            return STATUS_CODES.get(result.status.value, FAILED)
        return OUTCOME_CODES.get(reply.outcome, FAILED)

    run_to_exit(work)


@cli.command()
@click.pass_context
def chat(ctx: click.Context) -> None:
    """Talk with Silas in the terminal until you end the input."""

    async def work() -> int:
        async with open_silas(ctx, terminal(as_json=False, approve=None), resume=True) as silas:
            await silas.listen()
        return DONE

    run_to_exit(work)


@cli.command()
@click.argument("work_item_id")
@click.pass_context
def undo(ctx: click.Context, work_item_id: str) -> None:
    """Restore a workspace to what it was before a work item changed it."""

    async def work() -> int:
        async with open_silas(ctx, terminal(as_json=False, approve=None)) as silas:
            await silas.undo(work_item_id)
        click.echo(f"The workspace is as it was before {work_item_id}.")
        return DONE

    run_to_exit(work)
