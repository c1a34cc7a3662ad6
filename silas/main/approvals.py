"""The commands about what the owner approved. They work beside a running Silas."""

from datetime import UTC
from typing import TYPE_CHECKING

import click

from silas.language import tr, tr_later
from silas.main.approval_lines import (
    approval_document,
    approval_lines,
    held_document,
    is_worth_listing,
    term_words,
    uses_words,
    waiting_document,
)
from silas.main.output import (
    ASKED,
    HELD,
    going_on,
    print_json,
    shown_title,
    state_column,
    state_word,
    work_line,
)
from silas.main.shared import (
    DONE,
    hash_option,
    json_option,
    look_config,
    open_silas,
    read_config,
    run_to_exit,
    warn,
    wrong_use,
)
from silas.main.terminal import terminal
from silas.main.typed import ShortGroup
from silas.main.work import approve_one

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from silas.services.approvals import ApprovalService
    from silas.work.changes.held_store import HeldChanges

_TO_CHANGE = tr_later("you wanted it changed; a later one may stand in its place")


def _open(ctx: click.Context) -> "AbstractAsyncContextManager[ApprovalService]":
    from silas.services.approvals import open_approvals

    return warn(open_approvals(look_config(ctx)))


@click.group(cls=ShortGroup)
def approvals() -> None:
    """What waits for your yes, and what your yes still allows."""


@approvals.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what allows nothing any more.")
@json_option
@click.pass_context
def approvals_list(ctx: click.Context, everything: bool, as_json: bool) -> None:
    """Plans that wait for you, and approvals in force."""

    async def work() -> int:
        async with _open(ctx) as service:
            waiting, changes = await service.waiting(), service.changes()
            given = [g for g in await service.list_given() if everything or is_worth_listing(g)]
            zone = look_config(ctx).scheduler.zone
            clock = service.clock().words(zone)
        if as_json:
            rows = [waiting_document(one) for one in waiting] + [
                held_document(one) for one in changes
            ]
            print_json(rows + [approval_document(one) for one in given])
            return DONE
        if not waiting and not given and not changes:
            click.echo(tr("Nothing waits for you, and no approval is in force."))
        for one in waiting:
            mark = f"  ({tr(_TO_CHANGE)})" if one.changes_wanted else ""
            click.echo(f"{work_line(ASKED, one.item.id, one.item.title)}{mark}")
        for one in changes:
            many = len(one.kept.changes)
            done = tr("{count} changed, none applied", count=many)
            click.echo(f"{work_line(HELD, one.work_item_id, one.title)}  {done}")
        for one in given:
            line = work_line(one.state, one.item.id, one.item.title)
            click.echo(f"{line}  {uses_words(one, zone)}")
            if one.why:
                click.echo(f"{state_column('')} {one.why}")
        if clock:
            click.echo(f"\n{clock}")
        if waiting:
            how = tr("`silas approvals show ID` shows the plan; `approve ID`, `deny ID`.")
            click.echo(f"\n{state_word(ASKED)}: {how}")
        if changes:
            click.echo(f"\n{state_word(HELD)}: {going_on()[HELD]}")
        return DONE

    run_to_exit(work)


@approvals.command("show")
@click.argument("approval")
@json_option
@click.pass_context
def approvals_show(ctx: click.Context, approval: str, as_json: bool) -> None:
    """The card of a plan, and how its approval stands, by the id of either; or waiting changes."""

    async def work() -> int:
        from silas.channels.text import card_lines
        from silas.services.approvals import SignedApproval
        from silas.services.plans import plan_card, plan_look
        from silas.work.changes.held_store import HeldChanges

        async with _open(ctx) as service:
            found = await service.find(approval)
            if isinstance(found, HeldChanges):
                return _show_held(await service.as_shown(found), as_json)
        if as_json:
            print_json(
                approval_document(found)
                if isinstance(found, SignedApproval)
                else waiting_document(found)
            )
            return DONE
        why = tr("approved before") if isinstance(found, SignedApproval) else found.rationale
        card = plan_card(found.item, why, plan_look(read_config(ctx)))
        click.echo("\n".join(card_lines(card)))
        digest = "sha256:" + card.plan_hash
        click.echo("\n" + tr("Hash: {digest}", digest=digest))
        if card.files_hash:
            digest = card.files_hash
            words = (
                tr(
                    "With its tasks and the files that it runs, for --approve: sha256:{digest}",
                    digest=digest,
                )
                if card.task_hashes
                else tr(
                    "With the files that it runs, for --approve: sha256:{digest}", digest=digest
                )
            )
            click.echo(words)
        waits = tr("It waits for your answer")
        if not isinstance(found, SignedApproval) and found.changes_wanted:
            waits = f"{waits}: {tr(_TO_CHANGE)}"
        zone = look_config(ctx).scheduler.zone
        for line in (
            approval_lines(found, zone) if isinstance(found, SignedApproval) else [f"{waits}."]
        ):
            click.echo(line)
        return DONE

    run_to_exit(work)


@approvals.command("approve")
@click.argument("work_item_id")
@click.option(
    "--approve", metavar="HASH", callback=hash_option, help="sha256:HEX; approves only that plan."
)
@json_option
@click.pass_context
def approvals_approve(
    ctx: click.Context, work_item_id: str, approve: str | None, as_json: bool
) -> None:
    """Show the card of what waits; on your yes, run the plan or apply the changes. As `silas
    approve`.
    """
    approve_one(ctx, work_item_id, approve, as_json=as_json)


@approvals.command("deny")
@click.argument("work_item_id")
@click.pass_context
def approvals_deny(ctx: click.Context, work_item_id: str) -> None:
    """Answer a plan that waits with no, or drop changes that wait."""

    async def work() -> int:
        async with _open(ctx) as service:
            item = await service.deny(work_item_id)
        title = shown_title(item.title)
        words = (
            tr("Declined: {name}  {title}. Nothing was run.", name=item.id, title=title)
            if item.approval_token is None
            else tr("Declined: {name}  {title}. Nothing was applied.", name=item.id, title=title)
        )
        click.echo(words)
        return DONE

    run_to_exit(work)


@approvals.command("revoke")
@click.argument("approval")
@click.pass_context
def approvals_revoke(ctx: click.Context, approval: str) -> None:
    """Take an approval back; work under way ends at its next effect.

    APPROVAL is an id, or words of the title of a goal.
    """

    async def work() -> int:
        async with _open(ctx) as service:
            taken = await service.revoke(approval)
        item = taken.item
        click.echo(
            tr(
                "Taken back: {name}  {title}. Nothing more of it begins.",
                name=item.id,
                title=shown_title(item.title),
            )
        )
        if taken.state == "at work":
            click.echo(
                tr("Its run ends before its next effect; `silas stop --now` kills it at once.")
            )
        return DONE

    run_to_exit(work)


@approvals.command("narrow")
@click.argument("goal")
@click.option("--uses", type=click.IntRange(min=1), help="How often more it may start work.")
@click.option(
    "--until",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"]),
    help="When it ends, in your time zone: 2027-01-31 or 2027-01-31T18:00.",
)
@click.pass_context
def approvals_narrow(
    ctx: click.Context, goal: str, uses: int | None, until: "datetime | None"
) -> None:
    """Leave the approval of a goal fewer uses, an earlier end, or both; never more of either.

    GOAL is its id, or words of its title.
    """
    if uses is None and until is None:
        raise wrong_use(tr_later("Say --uses, --until, or both."))

    async def work() -> int:
        zone = look_config(ctx).scheduler.zone
        async with open_silas(ctx, terminal(to_stderr=False, approve=None).cards) as silas:
            end = None if until is None else until.replace(tzinfo=zone).astimezone(UTC)
            narrowed = await silas.narrow(await silas.find_goal(goal), uses=uses, until=end)
            click.echo(narrowed.words)
        return DONE

    run_to_exit(work)


@approvals.command("tighten")
@click.pass_context
def approvals_tighten(ctx: click.Context) -> None:
    """Ask as often as configured again: takes back every setting that was widened by a card."""

    async def work() -> int:
        async with open_silas(ctx, terminal(to_stderr=False, approve=None).cards) as silas:
            click.echo(silas.tighten().words)
        return DONE

    run_to_exit(work)


@approvals.command("showing")
@json_option
@click.pass_context
def approvals_showing(ctx: click.Context, as_json: bool) -> None:
    """Which directories models elsewhere may be shown, or never, as you answered."""

    async def work() -> int:
        async with _open(ctx) as service:
            found = service.showing()
        if as_json:
            print_json([{**one._asdict(), "answer": one.word} for one in found])
            return DONE
        if not found:
            click.echo(
                tr("You were not asked yet whether models elsewhere may be shown a directory.")
            )
            return DONE
        for one in found:
            place = tr("{folder}  to {whom}", folder=one.workspace, whom=one.shown_to)
            click.echo(f"{term_words(one.word):10} {place}")
        command = "silas approvals ask-again DIRECTORY"
        click.echo(
            "\n" + tr("To take an answer back, and be asked again: {command}", command=command)
        )
        return DONE

    run_to_exit(work)


@approvals.command("ask-again")
@click.argument("directory")
@click.pass_context
def approvals_ask_again(ctx: click.Context, directory: str) -> None:
    """Take back what you answered about showing a directory to models: you are asked again."""

    async def work() -> int:
        async with _open(ctx) as service:
            taken = service.ask_again(directory)
        folder = taken[0].workspace
        click.echo(
            tr("Taken back: {folder}. You are asked before a model is shown it.", folder=folder)
        )
        return DONE

    run_to_exit(work)


@approvals.command("clock")
@click.option(
    "--confirm", is_flag=True, help="Say that the machine's clock is right, and go by it."
)
@json_option
@click.pass_context
def approvals_clock(ctx: click.Context, confirm: bool, as_json: bool) -> None:
    """What time approvals go by, and whether the machine's clock agrees."""

    async def work() -> int:
        from silas.language.calendar import moment_words

        async with _open(ctx) as service:
            state = service.confirm_clock() if confirm else service.clock()
        zone = look_config(ctx).scheduler.zone
        words = state.words(zone)
        if as_json:
            print_json(
                {
                    "machine": state.machine.isoformat(),
                    "approvals": state.at.isoformat(),
                    "unconfirmed": state.unconfirmed,
                    "words": words,
                }
            )
            return DONE
        machine, at = (moment_words(one, zone) for one in (state.machine, state.at))
        click.echo(tr("The clock of this machine says {moment}.", moment=machine))
        click.echo(words or tr("Approvals go by the same: {moment}.", moment=at))
        return DONE

    run_to_exit(work)


def _show_held(held: "HeldChanges", as_json: bool) -> int:
    from silas.channels.text import card_lines
    from silas.services.held_changes import card_of_held

    if as_json:
        print_json(held_document(held))
        return DONE
    click.echo("\n".join(card_lines(card_of_held(held))))
    click.echo(tr("They wait for your answer."))
    return DONE
