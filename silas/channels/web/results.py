"""How work ended, as an event for the pages: the result card (spec 0.5.5)."""

from typing import Literal

from pydantic import AwareDatetime

from silas.types import FrozenModel


class CheckResult(FrozenModel):
    """One check outside the agent's reach, and what it found."""

    name: str
    passed: bool
    words: str = ""


class MessageAsked(FrozenModel):
    """The message that asked for work, for a page that has not loaded it.

    Attributes:
        seq: Its place; `withheld` names it where its words are shown no more.
        words: How it begins.
    """

    seq: int
    words: str


class PostExecution(FrozenModel):
    """Work that has ended: the card with the result, what changed, and the way back (0.5.5).

    Attributes:
        diff: What changed, as a patch; empty where nothing did.
        output: What it printed: external text, each call in plain words and its lines indented.
        checks_changed: The files of its own checks that it changed, hidden characters made visible.
        report: What its executor says: a model's own words, external text.
        grounds: What the record holds of that attempt.
        undo_until: Until when one tap takes it back; null where there is nothing to take back.
        undone: Whether that has happened.
        again: Whether `POST /work/{id}/ask` asks about its plan anew.
        conversation: Which conversation it stands in.
        reply_to: The `id` of the message that asked for it, under which it stands; empty for none.
        asked: That message, where it is there; not kept with this.
    """

    type: Literal["post_execution"] = "post_execution"
    seq: int
    work_item_id: str
    title: str
    status: str
    summary: str
    checks: tuple[CheckResult, ...] = ()
    checks_changed: tuple[str, ...] = ()
    diff: str = ""
    output: str = ""
    report: str = ""
    grounds: str = ""
    undo_until: AwareDatetime | None = None
    undone: bool = False
    again: bool = False
    timestamp: AwareDatetime
    conversation: str = ""
    reply_to: str = ""
    asked: MessageAsked | None = None
