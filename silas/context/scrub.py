"""External text made harmless before a model or a person reads it (spec 5.12, decision B9).

What it does not do: recognise instructions. Text that asks for something is data and stays; it
cannot hide, and it cannot look like Silas's own framing, a role marker or markup that loads.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, cast

from silas.context.invisible import settle_text, visible_text
from silas.context.markup import NEUTRAL, without_markup
from silas.context.plain import to_ascii, unmask
from silas.context.roles import unframe, without_speakers, without_tokens

_PASSES = 4
"""Removing one construct can uncover another; what still changes then is made inert whole."""


class ContentKind(StrEnum):
    """How much of a text may be changed to make it harmless."""

    prose = "prose"
    """Fetched, received or unknown: whatever hides, loads or poses as a voice is taken out."""
    source = "source"
    """Files and output of programs that a model works on: markup stays as it is."""


def scrub(text: str) -> str:
    """Neutralise external text: total, idempotent, linear in its length.

    Removed: terminal sequences, control and invisible characters, direction marks, lone
    surrogates, private-use characters, hidden elements and comments of HTML, attributes, images and
    script links of Markdown. Rewritten so that it reads the same but works no more: role markers of
    chat formats, Silas's own `--- ... ---` lines, reference links. Kept: every script of the world
    with the joiners it needs, emoji, tabs and line ends, code with `<` and `>`.
    """
    text = _strip_marks(visible_text(text))
    for _ in range(_PASSES):
        cleaned = without_markup(text)
        if cleaned == text:
            cleaned = unmask(text)
        if cleaned == text:
            return text
        text = _strip_marks(settle_text(cleaned))
    return _strip_marks(without_markup(visible_text(to_ascii(text).translate(NEUTRAL))))


def scrub_output(text: str) -> str:
    """Text in which markup is what a model works on, made harmless without changing its source.

    As `scrub`, but markup and role elements stay: a model that edits a page or a template must see
    what it says.
    """
    return unframe(without_tokens(visible_text(text)))


def _strip_marks(text: str) -> str:
    return unframe(without_speakers(without_tokens(text)))


_CLEAN: Final = {ContentKind.prose: scrub, ContentKind.source: scrub_output}


def clean_text(text: str, kind: ContentKind) -> str:
    """The text made harmless as its kind allows."""
    return _CLEAN[kind](text)


def cleaned_json(value: Any, clean: Callable[[str], str]) -> Any:
    """A JSON value with every text and every name in it made harmless by `clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        members = cast(dict[str, Any], value).items()
        return {clean(name): cleaned_json(member, clean) for name, member in members}
    if isinstance(value, list | tuple):
        return [cleaned_json(item, clean) for item in cast(list[Any], value)]
    return value
