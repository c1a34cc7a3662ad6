"""`silas remind`: make, list, move and cancel reminders; works beside a running Silas."""

from typing import TYPE_CHECKING, Any

import click

from silas.language import tr
from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    json_option,
    look_config,
    run_to_exit,
    tell_once,
    warn,
)
from silas.main.typed import ShortGroup, confirm

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from silas.cards.models import DecisionCard
    from silas.reminders.models import Reminder
    from silas.services.schedules.reminders import ReminderService

_YES = click.option("--yes", is_flag=True, help="Without asking.")


@click.group(cls=ShortGroup, otherwise="me")
def remind() -> None:
    """Reminders: make one in words, list, move and cancel them.

    `silas remind "tomorrow at nine to call the dentist"` makes one. They are told by a Silas that
    runs: `silas start` or `silas chat`.
    """


@remind.command("me")
@click.argument("text", nargs=-1, required=True)
@_YES
@json_option
@click.pass_context
def remind_me(ctx: click.Context, text: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Make a reminder of TEXT, after showing when it comes."""

    async def work() -> int:
        from silas.reminders.words import reminder_card
        from silas.services.schedules.reminders import SAID_IN_COMMAND

        async with _service(ctx) as service:
            understood = await service.understand(" ".join(text))
            card = reminder_card(understood.text, understood.when)
            if not _confirm_reminder(card, tr("Remind you then?"), yes, as_json):
                return DECLINED
            made = service.make(understood.text, understood.when, SAID_IN_COMMAND)
            _say_untold(service)
        if as_json:
            print_json(_row(made))
        else:
            click.echo(tr("Made {id}.", id=made.id))
        return DONE

    run_to_exit(work)


@remind.command("list")
@json_option
@click.pass_context
def remind_list(ctx: click.Context, as_json: bool) -> None:
    """What is still to come, numbered, the first to come first."""

    async def work() -> int:
        from silas.reminders.words import list_lines

        async with _service(ctx) as service:
            waiting = service.reminders.waiting()
            _say_untold(service)
        if as_json:
            print_json([_row(one) for one in waiting])
            return DONE
        for line in list_lines(waiting):
            _show(line)
        if not waiting:
            example = 'silas remind "tomorrow at nine to call Anna"'
            click.echo(tr("No reminder waits. Try: {command}", command=example))
        return DONE

    run_to_exit(work)


@remind.command("move")
@click.argument("which")
@click.argument("when", nargs=-1, required=True)
@_YES
@click.pass_context
def remind_move(ctx: click.Context, which: str, when: tuple[str, ...], yes: bool) -> None:
    """Give the reminder WHICH (a number, an id or words of it) another time: WHEN in words."""

    async def work() -> int:
        from silas.reminders.words import moving_card, when_line

        async with _service(ctx) as service:
            found = service.reminders.find(which)
            moment = await service.moment(" ".join(when), found)
            if not _confirm_reminder(moving_card(found, moment), tr("Move it there?"), yes, False):
                return DECLINED
            moved = service.move(found, moment)
            _say_untold(service)
        _show(tr("Moved: {text}, {when}.", text=moved.text, when=when_line(moved)))
        return DONE

    run_to_exit(work)


@remind.command("cancel")
@click.argument("which")
@click.pass_context
def remind_cancel(ctx: click.Context, which: str) -> None:
    """Cancel the reminder WHICH: its number in the list, its id, or words of it."""

    async def work() -> int:
        from silas.reminders.words import when_line

        async with _service(ctx) as service:
            found = service.reminders.find(which)
            service.reminders.cancel(found)
        _show(tr("Cancelled: {text}, {when}.", text=found.text, when=when_line(found)))
        return DONE

    run_to_exit(work)


def _service(ctx: click.Context) -> "AbstractAsyncContextManager[ReminderService]":
    from silas.services.schedules.reminders import open_reminders

    return warn(open_reminders(look_config(ctx)))


def _say_untold(service: "ReminderService") -> None:
    """Say that what waits is not told now, once it is known that the command was no wrong use."""
    for words in service.untold:
        tell_once(words)


def _confirm_reminder(card: "DecisionCard", question: str, yes: bool, quiet: bool) -> bool:
    """Show what was understood, to the minute, before it counts; silence is no."""
    lines = [card.intent, f"  {card.rationale}"]
    lines += [f"  {line}" for detail in card.details[1:] for line in detail.lines]
    for line in lines:
        _show(line, err=quiet)
    if yes or confirm(question):
        return True
    words = tr("Nothing was changed. Where nobody can be asked, say it with --yes.")
    click.echo(words, err=True)
    return False


def _show(line: str, *, err: bool = False) -> None:
    from silas.plans.characters import show

    click.echo(show(line), err=err)


def _row(reminder: "Reminder") -> dict[str, Any]:
    return {
        "id": reminder.id,
        "text": reminder.text,
        "due": reminder.due.isoformat(),
        "zone": reminder.zone.key,
        "rule": reminder.rule,
        "state": reminder.state.value,
    }
