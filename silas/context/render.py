"""An item as the block that a model is shown: its provenance, then its text (spec 3.5)."""

from datetime import datetime, tzinfo
from typing import NamedTuple

from silas.context.conversation import is_answer
from silas.context.framing import Fence, escape, fence, flatten_line
from silas.context.invisible import visible_text
from silas.context.models import ContextItem
from silas.context.scrub import scrub, scrub_output
from silas.types import TaintLevel

_LONGEST_NAME = 200  # characters of a source in a header; it may be anybody's words
_WORKED_ON = frozenset({"tool_result", "execution_result", "subscription", "plan"})
"""Kinds whose markup is what a model works on; what else a tool says is cleaned at its door."""


class RenderedItem(NamedTuple):
    """The lines around an item's text, and the text between them."""

    fence: Fence
    body: str


def render_entering(item: ContextItem) -> str:
    """The text of an item as it may stand in a context: made harmless where it is external."""
    if item.taint is not TaintLevel.external:
        return visible_text(item.content)
    return scrub_output(item.content) if item.kind in _WORKED_ON else scrub(item.content)


def render_block(item: ContextItem, notes: tuple[str, ...], zone: tzinfo) -> RenderedItem:
    """The block of an item whose text has entered before.

    Args:
        item: What is shown.
        notes: How it stands: `live`, `active`, `over`, or since when a file has changed.
        zone: The owner's, in which a message of others says when it came.
    """
    if item.kind == "message" and not is_answer(item):
        notes = (day_and_time(item.created_at, zone), *notes)
    outside = item.taint is TaintLevel.external and not item.masked
    around = fence(_heading(item, notes), item.content, marked=outside)
    body = item.content if outside else escape(item.content)
    # nearly every text is its own escaped form: the same string is kept once
    return RenderedItem(around, item.content if body == item.content else body)


def day_and_time(moment: datetime, zone: tzinfo) -> str:
    """When something was, as short as a model understands it without a question."""
    return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def answer_moment(item: ContextItem, before: ContextItem | None, zone: tzinfo) -> str:
    """Day and time of an answer; empty where the dated message before it is what it answers.

    A reminder, the end of work and a goal's report come hours after what was said last.

    Args:
        item: What is shown.
        before: The message that stands before it.
        zone: The owner's.
    """
    if item.kind != "message" or not is_answer(item):
        return ""
    when = day_and_time(item.created_at, zone)
    if before is None or is_answer(before) or before.turn_number != item.turn_number:
        return when
    asked = day_and_time(before.created_at, zone)
    return "" if asked.split()[0] == when.split()[0] else when


def _kind(item: ContextItem) -> str:
    if item.kind == "message":
        return f"turn {item.turn_number}"
    if item.kind == "subscription":
        return f"subscription:{'file' if item.source.startswith('file:') else 'memory_query'}"
    return item.kind


def same_block(former: ContextItem, item: ContextItem) -> bool:
    """Whether an item that takes the place of another would be shown as that one is."""
    if former.masked or former.content != item.content:
        return False
    return _heading(former, ()) == _heading(item, ())


def _heading(item: ContextItem, notes: tuple[str, ...]) -> tuple[str, ...]:
    return (_kind(item), *_parts(item, notes), *_trust(item))


def _parts(item: ContextItem, notes: tuple[str, ...]) -> tuple[str, ...]:
    turn = f"turn {item.turn_number}"
    name = _name(item.source)
    match item.kind:
        case "message":
            return ("silas" if is_answer(item) else "user", *notes)
        case "memory":
            return (item.created_at.date().isoformat(), _quote_name(name))
        case "tool_result":
            return (turn, "masked") if item.masked else (turn, *notes, name)
        case "plan" | "execution_result":
            return (turn, *notes)
        case "subscription":
            return (name, *notes)
        case "goals":
            return notes
        case "system":
            return (name,)


def _name(source: str) -> str:
    for origin in ("memory:", "tool:", "file:", "memory_query:"):
        source = source.removeprefix(origin)
    name = " ".join(flatten_line(source[:_LONGEST_NAME]).split())
    # a file of the name `mark: 1` must not pass for the block's own labels
    return _quote_name(name) if ": " in f"{name} " else name


def _quote_name(name: str) -> str:
    return '"' + name.strip('"') + '"'


def _trust(item: ContextItem) -> tuple[str, ...]:
    # what Silas itself or its owner says needs no label; all the rest has one
    return () if item.taint is TaintLevel.owner else (f"taint: {item.taint.value}",)
