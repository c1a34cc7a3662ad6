"""The commands about what the owner approved. They work beside a running Silas."""

from datetime import UTC
from typing import TYPE_CHECKING, Any

import click

from silas.main.output import ASKED, GOING_ON, HELD, print_json
from silas.main.shared import (
    DONE,
    hash_option,
    json_option,
    look_config,
    open_silas,
    read_config,
    run_to_exit,
    warn,
)
from silas.main.terminal import terminal
from silas.main.work import approve_one

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from silas.plans import WaitingPlan
    from silas.services.approvals import ApprovalDesk, SignedApproval
    from silas.work.changes.held_store import HeldChanges

_TO_CHANGE = "you wanted it changed; a later one may stand in its place"
_OVER = ("used", "expired", "revoked", "void", "declined")


def _open(ctx: click.Context) -> "AbstractAsyncContextManager[ApprovalDesk]":
    from silas.services.approvals import open_approvals

    return warn(open_approvals(look_config(ctx)))


@click.group()
def approvals() -> None:
    """What waits for your yes, and what your yes still allows."""


@approvals.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what allows nothing any more.")
@json_option
@click.pass_context
def approvals_list(ctx: click.Context, everything: bool, as_json: bool) -> None:
    """Plans that wait for you, and approvals in force."""

    async def work() -> int:
        async with _open(ctx) as desk:
            waiting, changes = await desk.waiting(), desk.changes()
            given = [g for g in await desk.given() if everything or _worth_listing(g)]
            zone = look_config(ctx).scheduler.zone
            clock = desk.clock().words(zone)
        if as_json:
            rows = [_asked(one) for one in waiting] + [_held(one) for one in changes]
            print_json(rows + [_given(one) for one in given])
            return DONE
        if not waiting and not given and not changes:
            click.echo("Nothing waits for you, and no approval is in force.")
        for one in waiting:
            mark = f"  ({_TO_CHANGE})" if one.changes_wanted else ""
            click.echo(f"{ASKED:8} {one.item.id}  {one.item.title}{mark}")
        for one in changes:
            many = len(one.kept.changes)
            click.echo(f"{HELD:8} {one.work_item_id}  {one.title}  {many} changed, none applied")
        for one in given:
            click.echo(f"{one.state:8} {one.item.id}  {one.item.title}  {_uses(one, zone)}")
            if one.why:
                click.echo(f"{'':8} {one.why}")
        if clock:
            click.echo(f"\n{clock}")
        if waiting:
            click.echo(
                "\nasked: `silas approvals show ID` shows the plan; `approve ID`, `deny ID`."
            )
        if changes:
            click.echo(f"\n{HELD}: {GOING_ON[HELD]}")
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

        async with _open(ctx) as desk:
            found = await desk.find(approval)
            if isinstance(found, HeldChanges):
                return _show_held(await desk.as_shown(found), as_json)
        if as_json:
            print_json(_given(found) if isinstance(found, SignedApproval) else _asked(found))
            return DONE
        why = "approved before" if isinstance(found, SignedApproval) else found.rationale
        card = plan_card(found.item, why, plan_look(read_config(ctx)))
        click.echo("\n".join(card_lines(card)))
        click.echo(f"\nHash: sha256:{card.plan_hash}")
        if card.files_hash:
            what = "its tasks and the files" if card.task_hashes else "the files"
            click.echo(f"With {what} that it runs, for --approve: sha256:{card.files_hash}")
        waits = "It waits for your answer"
        if not isinstance(found, SignedApproval) and found.changes_wanted:
            waits = f"{waits}: {_TO_CHANGE}"
        zone = look_config(ctx).scheduler.zone
        for line in _facts(found, zone) if isinstance(found, SignedApproval) else [f"{waits}."]:
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
        async with _open(ctx) as desk:
            item = await desk.deny(work_item_id)
        done = "run" if item.approval_token is None else "applied"
        click.echo(f"Declined: {item.id}  {item.title}. Nothing was {done}.")
        return DONE

    run_to_exit(work)


@approvals.command("revoke")
@click.argument("approval")
@click.pass_context
def approvals_revoke(ctx: click.Context, approval: str) -> None:
    """Take an approval back; work under way ends at its next effect."""

    async def work() -> int:
        async with _open(ctx) as desk:
            taken = await desk.revoke(approval)
        click.echo(f"Taken back: {taken.item.id}  {taken.item.title}. Nothing more of it begins.")
        if taken.state == "at work":
            click.echo("Its run ends before its next effect; `silas stop --now` kills it at once.")
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
    """Leave the approval of a goal fewer uses, an earlier end, or both; never more of either."""
    if uses is None and until is None:
        raise click.UsageError("Say --uses, --until, or both.")

    async def work() -> int:
        zone = look_config(ctx).scheduler.zone
        async with open_silas(ctx, terminal(to_stderr=False, approve=None).cards) as silas:
            end = None if until is None else until.replace(tzinfo=zone).astimezone(UTC)
            click.echo((await silas.narrow(goal, uses=uses, until=end)).words)
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
        async with _open(ctx) as desk:
            found = desk.showing()
        if as_json:
            print_json([{**one._asdict(), "answer": one.word} for one in found])
            return DONE
        if not found:
            click.echo("You were not asked yet whether models elsewhere may be shown a directory.")
            return DONE
        for one in found:
            click.echo(f"{one.word:10} {one.workspace}  to {one.shown_to}")
        click.echo(
            "\nTo take an answer back, and be asked again: silas approvals ask-again DIRECTORY"
        )
        return DONE

    run_to_exit(work)


@approvals.command("ask-again")
@click.argument("directory")
@click.pass_context
def approvals_ask_again(ctx: click.Context, directory: str) -> None:
    """Take back what you answered about showing a directory to models: you are asked again."""

    async def work() -> int:
        async with _open(ctx) as desk:
            taken = desk.ask_again(directory)
        click.echo(f"Taken back: {taken[0].workspace}. You are asked before a model is shown it.")
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

        async with _open(ctx) as desk:
            state = desk.confirm_clock() if confirm else desk.clock()
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
        click.echo(f"The clock of this machine says {moment_words(state.machine, zone)}.")
        click.echo(words or f"Approvals go by the same: {moment_words(state.at, zone)}.")
        return DONE

    run_to_exit(work)


def _show_held(held: "HeldChanges", as_json: bool) -> int:
    from silas.channels.text import card_lines
    from silas.services.held_changes import card_of_held

    if as_json:
        print_json(_held(held))
        return DONE
    click.echo("\n".join(card_lines(card_of_held(held))))
    click.echo("They wait for your answer.")
    return DONE


def _held(one: "HeldChanges") -> dict[str, Any]:
    return {
        "work_item": one.work_item_id,
        "title": one.title,
        "changes_hash": one.kept.digest,
        "approve": f"sha256:{one.kept.digest}",
        "state": HELD,
        "paths": [{"path": held.path, "why": held.why} for held in one.paths],
        "sources": list(one.sources),
    }


def _worth_listing(one: "SignedApproval") -> bool:
    """Whether it still allows something; a goal's approval stands in the row of the goal alone."""
    return one.state not in _OVER and not (one.of_a_goal and one.state != "at work")


def _uses(one: "SignedApproval", zone: "ZoneInfo") -> str:
    from silas.language import tr
    from silas.language.calendar import moment_words

    until, uses = moment_words(one.token.expires_at, zone), one.token.max_executions
    return tr("used {used} of {uses}, until {until}", used=one.uses, uses=uses, until=until)


def _facts(one: "SignedApproval", zone: "ZoneInfo") -> list[str]:
    from silas.language.calendar import moment_words

    token = one.token
    return [
        f"Approval: {token.token_id}",
        f"State: {one.state}; {_uses(one, zone)}",
        *([f"Lapsed: {one.why}"] if one.why else []),
        f"Answer: {token.verdict.value}, scope {token.scope.value}",
        f"Signed: {moment_words(token.issued_at, zone)}",
    ]


def _asked(one: "WaitingPlan") -> dict[str, Any]:
    from silas.services.plans import approve_hash, digest_of

    return {
        "work_item": one.item.id,
        "title": one.item.title,
        "plan_hash": digest_of(one.item),
        "approve": approve_hash(one.item),
        "state": ASKED,
        "changes_wanted": one.changes_wanted,
    }


def _given(one: "SignedApproval") -> dict[str, Any]:
    from silas.services.plans import approve_hash

    token = one.token
    return {
        "work_item": one.item.id,
        "title": one.item.title,
        "plan_hash": token.plan_hash,
        "approve": approve_hash(one.item),
        "state": one.state,
        "why": one.why,
        "token": token.token_id,
        "scope": token.scope.value,
        "verdict": token.verdict.value,
        "issued_at": token.issued_at.isoformat(),
        "expires_at": token.expires_at.isoformat(),
        "uses": one.uses,
        "max_executions": token.max_executions,
    }
