"""What commands print: results for people, documents for programs."""

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from silas.channels.terminal_colour import paint_diff, wants_colour
from silas.language import tr, tr_later
from silas.main.shared import DECLINED, DONE, PRINTED, STOPPED

if TYPE_CHECKING:
    from silas.plans import WorkItem, WorkItemResult
    from silas.stream.models import Reply

STATUS_CODES = {
    **{"done": DONE, "healthy": DONE, "blocked": DECLINED, "paused": STOPPED},
    "running": DECLINED,  # another process asked about it and has the yes
}
"""The exit code of work that ended so; anything else failed."""


ASKED = "asked"
"""How `silas status` calls a plan whose question is open: it is no work item yet."""

HELD = "held"
"""How `silas approvals` calls verified changes that wait for a yes."""

_STATES = (
    *(tr_later("pending"), tr_later("running"), tr_later("healthy"), tr_later("done")),
    *(tr_later("failed"), tr_later("stuck"), tr_later("blocked"), tr_later("paused")),
    *(tr_later("asked"), tr_later("held"), tr_later("ended"), tr_later("in force")),
    *(tr_later("at work"), tr_later("lapsed"), tr_later("used"), tr_later("expired")),
    *(tr_later("revoked"), tr_later("void"), tr_later("declined"), tr_later("active")),
    tr_later("taken back"),
)
"""How work, goals and approvals stand; a document for programs has these words as they are."""


def state_word(state: str) -> str:
    """How something stands, in the owner's language."""
    state = "taken back" if state == "undone" else state
    return tr(state) if state in _STATES else state


def state_column(state: str) -> str:
    """The same as the first column of a list."""
    return state_word(state).ljust(max(8, *(len(tr(one)) for one in _STATES)))


def shown_title(title: str) -> str:
    """A title that hides nothing and drives no terminal."""
    from silas.plans.characters import show

    return show(title)


def work_line(state: str, work_item_id: str, title: str) -> str:
    """A row of a list: the state, which work it is, and its title."""
    return f"{state_column(state)} {work_item_id}  {shown_title(title)}"


def going_on() -> dict[str, str]:
    """How each unfinished state goes on, as `silas status` says it."""
    return {
        "pending": tr("approved and not begun; where Silas was killed, `silas chat` begins it."),
        "running": tr("at work; where Silas was killed, `silas chat` goes on with it."),
        "paused": tr(
            "stopped before it was done, nothing of it was applied, and it does not go on by "
            "itself; ask again, or `silas run` its plan, that of the whole where it is part of a "
            "project, and approve it anew."
        ),
        "blocked": tr(
            "`silas run` its plan again when what blocked it is out of the way; that of the "
            "whole where it is part of a project."
        ),
        HELD: tr(
            "done and not applied, because its changes need your word; `silas approvals approve "
            "ID` shows them and asks you, `silas approvals deny ID` drops them."
        ),
        ASKED: tr(
            "a plan that waits for your answer; `silas approve ID` asks you, and so does "
            "`silas chat` if Silas was killed."
        ),
    }


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    click.get_current_context().meta[PRINTED] = True
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def item_line(item: "WorkItem") -> dict[str, Any]:
    """A work item in four fields."""
    return {
        "id": item.id,
        "title": item.title,
        "status": item.status.value,
        "type": item.type.value,
    }


def asked_line(item: "WorkItem") -> dict[str, Any]:
    """A plan whose question is open, in the same fields."""
    return {**item_line(item), "status": ASKED}


def reply_document(reply: "Reply", result: "WorkItemResult | None") -> dict[str, Any]:
    """What `ask --json` prints."""
    from silas.services.plans import digest_of

    return {
        "text": reply.text,
        "outcome": reply.outcome,
        "turn_id": reply.turn_id,
        "plan": None
        if reply.plan is None
        else {**item_line(reply.plan), "plan_hash": digest_of(reply.plan)},
        "result": None if result is None else result.model_dump(mode="json"),
    }


def print_patch(patch: str) -> None:
    """To the byte for a program; on a terminal without what could steer it."""
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(patch.encode())
        return
    from silas.workspace.diff import escape_hidden

    shown = "\n".join(escape_hidden(line) for line in patch.split("\n"))
    coloured = wants_colour(sys.stdout, os.environ)
    click.echo(paint_diff(shown) if coloured else shown, color=coloured, nl=False)


def print_result(result: "WorkItemResult", told: str) -> None:
    """What changed and what could come next; work that did not succeed ends with why, on stderr.

    `told` is the last progress that was printed: on a terminal nobody wants to read it twice.
    """
    if result.diff:
        coloured, name = wants_colour(sys.stdout, os.environ), result.work_item_id
        undo, whole = f"silas undo {name}", f"silas diff {name}"
        click.echo("\n" + tr("What changed:"))
        click.echo(paint_diff(result.diff) if coloured else result.diff, color=coloured)
        click.echo(tr("To take it back: {command}", command=undo))
        click.echo(tr("To see all of it: {command}", command=whole))
    for step in result.next_steps:
        click.echo(tr("Next: {step}", step=step))
    if STATUS_CODES.get(result.status.value) == DONE:
        return
    from silas.work.end_words import tell_end

    summary = tell_end(result.summary)
    if not (summary in told and sys.stdout.isatty()):
        click.echo(f"{state_word(result.status.value)}: {summary}", err=True)
