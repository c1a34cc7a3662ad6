"""A context as a conversation of two sides, with what seldom changes before it (D427)."""

from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from silas.context.framing import escape, fence
from silas.context.models import ContextItem, ContextZone
from silas.types import TaintLevel

Side = Literal["user", "assistant"]
"""Whose message it is: Silas's own answer, or everything else that a model is shown."""

BETWEEN = "\n\n"
"""What stands between two blocks."""

_OWN = "Silas: "  # what an answer begins with in the chronicle
_ABOVE = "(the assistant's message above)"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ConversationSide:
    """What one side says until the other does: blocks of the user's side, or Silas's words.

    The same object as long as nothing of it changes, so that what is made of it can be kept.
    """

    side: Side
    text: str


class ConversationPiece(NamedTuple):
    """What one item adds to the conversation on one side."""

    side: Side
    text: str


class RenderedContext(NamedTuple):
    """A context as a model is shown it.

    Attributes:
        lasting: Blocks of the system zone, but for the manner of speaking.
        said: The conversation; each one's side is another than the one's before.
        present: Blocks of memory and work, and the manner of speaking last.
    """

    lasting: str = ""
    said: tuple[ConversationSide, ...] = ()
    present: str = ""


NOTHING = RenderedContext()
"""A context without anything in it."""


def is_answer(item: ContextItem) -> bool:
    """Whether an item is what Silas said."""
    own = item.source == "silas" or item.source.startswith("agent:")
    return own and item.kind == "message"


def pieces(item: ContextItem, block: str, when: str = "") -> tuple[ConversationPiece, ...]:
    """An item as it stands in the conversation: its block, or Silas's words as they were shown.

    When an answer was given and how far it is trusted stand behind it, on the user's side: a model
    takes up the form of its own messages, and a label in them would come back in the next one.

    Args:
        item: What is shown.
        block: It as a block.
        when: Day and time of an answer; empty where the message before it tells them.
    """
    spoken = item.zone is ContextZone.chronicle and is_answer(item)
    words = item.content.removeprefix(_OWN) if spoken else ""
    if not words.strip():
        return (ConversationPiece("user", block),)
    shown = ConversationPiece("assistant", escape(words))
    taint = "" if item.taint is TaintLevel.owner else f"taint: {item.taint.value}"
    if not taint and not when:
        return (shown,)
    label = fence((f"turn {item.turn_number}", "silas", when, taint), _ABOVE, marked=False)
    return shown, ConversationPiece("user", label.around(_ABOVE))


def merge_sides(
    said: list[ConversationSide], more: list[ConversationPiece]
) -> list[ConversationSide]:
    """A conversation that goes on; who speaks last and goes on says it in the same message."""
    out = list(said)
    for side, group in groupby(more, key=_side):
        texts = [piece.text for piece in group]
        before = [out.pop().text] if out and out[-1].side == side else []
        out.append(ConversationSide(side, BETWEEN.join(before + texts)))
    return out


def _side(piece: ConversationPiece) -> Side:
    return piece.side
