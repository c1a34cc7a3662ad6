"""Commands that make Silas do something: init, ask, run, chat, undo."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from silas.language import tr, tr_later
from silas.main.output import STATUS_CODES, print_json, print_result, reply_document
from silas.main.shared import (
    DECLINED,
    DONE,
    FAILED,
    GivenPath,
    hash_option,
    json_option,
    open_silas,
    open_work,
    read_config,
    run_to_exit,
    wrong_use,
)
from silas.main.terminal import run_status_line, show_progress, terminal

if TYPE_CHECKING:
    from silas.config import SilasConfig
    from silas.context.conversation_store import ConversationRow

# What a turn that started no work ends with; anything else failed.
_OUTCOME_CODES = {
    "answered": DONE,
    "declined": DECLINED,
    "waiting": DECLINED,
    "blocked": DECLINED,
}
_SECONDS_TO_SAY = 1800.0  # what should be different in a plan


@click.command()
@click.pass_context
def init(ctx: click.Context) -> None:
    """Make keys, database and directories; safe to repeat."""

    async def work() -> int:
        from silas.services.setup.initialise import initialise

        for line in await initialise(read_config(ctx)):
            click.echo(line)
        return DONE

    run_to_exit(work)


@click.command()
@click.argument("plan", type=GivenPath(path_type=Path))
@click.option(
    "--approve", metavar="HASH", callback=hash_option, help="sha256:HEX; approves only that plan."
)
@click.option(
    "--approve-all", "mode", flag_value="approve_all", help="Yes to what only a toolset asks."
)
@click.option("--reject-all", "mode", flag_value="reject_all", help="No to all but the plan.")
@json_option
@click.pass_context
def run(
    ctx: click.Context, plan: Path, approve: str | None, mode: str | None, as_json: bool
) -> None:
    """Show a plan's card, take the approval, run it sandboxed, verify it.

    --approve-all lifts nothing else: what the autonomy level, a gate, a worker's rules or the plan
    leave to you is still asked. --reject-all asks nobody during the run.
    """

    async def work() -> int:
        from silas.services.plans import digest_of, read_plan
        from silas.tools import RunApprovalMode, RunApprovalPolicy

        policy = RunApprovalPolicy(mode=RunApprovalMode(mode or "prompt"))
        text, item = read_plan(plan)
        channel = terminal(to_stderr=as_json, approve=approve, live=True)
        async with open_silas(ctx, channel.cards) as silas, show_progress(channel):
            result = await silas.run(text, policy=policy)
        if as_json:
            print_json({"plan_hash": digest_of(item), **result.model_dump(mode="json")})
        else:
            print_result(result, channel.screen.told)
        return STATUS_CODES.get(result.status.value, FAILED)

    run_to_exit(work)


@click.command()
@click.argument("work_item_id")
@click.option(
    "--approve", metavar="HASH", callback=hash_option, help="sha256:HEX; approves only that plan."
)
@json_option
@click.pass_context
def approve(ctx: click.Context, work_item_id: str, approve: str | None, as_json: bool) -> None:
    """Show the card of a plan that waits for you; on your yes, run it."""
    approve_one(ctx, work_item_id, approve, as_json=as_json)


def approve_one(
    ctx: click.Context, work_item_id: str, approve: str | None, *, as_json: bool
) -> None:
    """Ask about one plan that waits, and run it on a yes; ends the process with its exit code."""

    async def work() -> int:
        channel = terminal(to_stderr=as_json, approve=approve, live=True)
        async with open_silas(ctx, channel.cards) as silas, show_progress(channel):
            result = await silas.answer(work_item_id)
        if as_json:
            print_json(result.model_dump(mode="json"))
        else:
            print_result(result, channel.screen.told)
        return STATUS_CODES.get(result.status.value, FAILED)

    run_to_exit(work)


_MAIN = "first"  # context.conversation_store.FIRST, repeated so that `--help` loads nothing
_conversation = click.option(
    "--conversation",
    metavar="ID|TITLE",
    default=_MAIN,
    help="Go on with this one; see `silas conversations list`. Else with the main one.",
)


@click.command()
@click.argument("text")
@click.option(
    "--workspace",
    metavar="DIR",
    type=GivenPath(path_type=Path, file_okay=False, exists=True),
    help="The directory this is about; the current one by default.",
)
@_conversation
@json_option
@click.pass_context
def ask(
    ctx: click.Context, text: str, workspace: Path | None, conversation: str, as_json: bool
) -> None:
    """Say something to Silas, once; waits for the work it starts."""

    async def work() -> int:
        channel = terminal(to_stderr=as_json, approve=None, live=True)
        async with open_silas(ctx, channel.cards) as silas, show_progress(channel):
            place = (workspace or Path.cwd()).resolve()
            where = silas.messages.conversations.find(conversation).told_id
            reply = await silas.ask(text, workspace=place, conversation=where)
            # where changes are wanted it can be said at once which
            while reply.outcome == "waiting" and not channel.screen.put_off:
                words = await channel.screen.hear(tr("What should be different?"), _SECONDS_TO_SAY)
                if not words:
                    break
                reply = await silas.ask(words, workspace=place, conversation=where)
            result = None
            if reply.outcome == "dispatched" and reply.plan is not None:
                result = await silas.wait(work := reply.plan.id)
                while work := await silas.wait_for_revision(work):
                    result = await silas.wait(work)
        if as_json:
            print_json(reply_document(reply, result))
        elif result is not None:
            print_result(result, channel.screen.told)
            if not result.diff:
                show = f"silas show {result.work_item_id}"
                click.echo(tr("To see all of it: {command}", command=show))
        if result is not None:
            return STATUS_CODES.get(result.status.value, FAILED)
        return _OUTCOME_CODES.get(reply.outcome, FAILED)

    run_to_exit(work)


@click.command()
@_conversation
@click.option("--new", is_flag=True, help="Begin a new conversation.")
@click.pass_context
def chat(ctx: click.Context, conversation: str, new: bool) -> None:
    """Talk with Silas in the terminal until you end the input."""
    if new and conversation != _MAIN:
        raise wrong_use(
            tr_later("--new begins a conversation and --conversation goes on with one.")
        )

    async def work() -> int:
        channel = terminal(to_stderr=False, approve=None, live=True)
        async with open_silas(ctx, channel.cards, resume=True) as silas, run_status_line(channel):
            kept = silas.messages.conversations
            where = kept.begin() if new else kept.open(kept.find(conversation).told_id)
            if channel.attended:
                _greet(where, read_config(ctx))
            await silas.listen(where.told_id)
            if silas.executor.running():
                channel.screen.say(tr("Waiting for the work under way; Ctrl-C stops it."))
                await silas.wait_for_work()
        return DONE

    run_to_exit(work)


def _greet(where: "ConversationRow", config: "SilasConfig") -> None:
    """How to talk here, in which conversation, and where else its plans can be answered."""
    from silas.home.cockpit_address import running_cockpit
    from silas.plans.characters import show

    click.echo(tr("Say what you want done; leave with /exit, or end with Ctrl-D."))
    if where.id:
        click.echo(tr("This is the conversation {name}.", name=show(where.called)))
    if address := running_cockpit(config):
        click.echo(
            tr(
                "A plan that is asked about here can be answered in the cockpit, too: {address}",
                address=address,
            )
        )


@click.command()
@click.argument("work_item_id")
@click.option(
    "--keep-files",
    is_flag=True,
    help="Keep a workspace that a crash left half-changed as it is now.",
)
@click.pass_context
def undo(ctx: click.Context, work_item_id: str, keep_files: bool) -> None:
    """Restore a workspace to what it was before a work item changed it."""

    async def work() -> int:
        async with open_work(ctx) as service:
            taken = None if keep_files else await service.undo(work_item_id)
            if taken is None:
                await service.leave(work_item_id)
        if taken is None:
            words = tr_later("The workspace stays as it is; {id} changes it no more.")
            click.echo(tr(words, id=work_item_id))
            return DONE
        click.echo(taken.words(work_item_id))
        return DONE

    run_to_exit(work)
