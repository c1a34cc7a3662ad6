"""Cards as plain text with numbered options, and what a typed reply means (spec 4.1.1)."""

import textwrap
from collections.abc import Iterator
from typing import TypeVar

from silas.cards import Card, PlanCard, ToolCallCard
from silas.plans.characters import first_hidden, show
from silas.types import Risk

Answer = TypeVar("Answer")

WIDTH = 88
"""Columns of a card, where the terminal has as many."""

_ALWAYS_OPEN = frozenset({Risk.high, Risk.irreversible})
TRIES = 3
"""An unclear reply is asked again twice; then the safe answer stands."""

_WIDE_FROM = "\u1100"
"""The first character that a terminal may draw two columns wide."""

_YES, _NO = frozenset({"y", "yes"}), frozenset({"n", "no"})


def render_card(card: Card[Answer], width: int = WIDTH) -> str:
    """A card for a terminal: intent, risk, why, what is affected, details, numbered options.

    Details are open for high and irreversible risk, and always for plans and tool calls: what is
    signed must have been shown. Hidden characters become visible, and only options stand at their
    indent, so no text can imitate another card or another choice. No line is wider than `width`
    columns: what a terminal wraps by itself goes on at the margin, where Silas's own words stand.
    """
    options = [f"  {n}  {_safe(action.label)}" for n, action in enumerate(card.actions, 1)]
    return "\n".join([*card_lines(card, width), "", *options, "=" * width])


def card_lines(card: Card[Answer], width: int = WIDTH) -> list[str]:
    """A card without its options: everything that is decided about."""
    lines = [
        "=" * width,
        *_wrapped(card.intent, width),
        f"Risk: {card.risk.value}",
        *_wrapped(f"Why: {card.rationale}", width),
    ]
    if card.affected:
        lines += _wrapped(f"Affects: {card.affected}", width)
    if card.risk in _ALWAYS_OPEN or isinstance(card, PlanCard | ToolCallCard):
        for detail in card.details:
            lines += ["", f"{_safe(detail.heading)}:"]
            lines += [piece for text in detail.lines for piece in _detail(_safe(text), width)]
    elif card.details:
        lines += _wrapped("Details: " + ", ".join(d.heading for d in card.details), width)
    return lines


def parse_reply(card: Card[Answer], text: str) -> Answer | None:
    """The answer a reply names, or None where it is unclear and must be asked again.

    A number names an option. `yes` and `no` name the recommended and the declining option, where
    there is exactly one of each. Anything else means nothing: a guess could be a yes.
    """
    word = text.strip().rstrip(".!").casefold()
    if word.isascii() and word.isdecimal():
        number = int(word) if len(word) < 4 else 0  # more options than that fit on no card
        return card.actions[number - 1].value if 1 <= number <= len(card.actions) else None
    role = "recommended" if word in _YES else "decline" if word in _NO else ""
    named = [action.value for action in card.actions if action.role == role]
    return named[0] if len(named) == 1 else None


def _safe(text: str) -> str:
    return text if first_hidden(text) == -1 else show(text)


def fitted(text: str, width: int) -> str:
    """Finished text whose lines are no wider than a terminal, as cards have them."""
    lines = (_cut(line, width, max(width - 5, 8)) for line in text.split("\n"))
    return "\n".join(f"   \\ {piece}" if n else piece for line in lines for n, piece in line)


def _wrapped(text: str, width: int) -> list[str]:
    lines = textwrap.wrap(_safe(text), width, subsequent_indent="     ") or [""]
    room = max(width - 5, 8)
    return [
        f"     {piece}" if n else piece for line in lines for n, piece in _cut(line, width, room)
    ]


def _detail(text: str, width: int) -> list[str]:
    """A line of details, indented and cut here, so that a terminal has nothing to wrap."""
    room = max(width - 6, 8)
    return [f"   \\ {piece}" if n else f"    {piece}" for n, piece in _cut(text, room, room)]


def _cut(text: str, first: int, room: int) -> Iterator[tuple[int, str]]:
    """Numbered pieces: the first of at most so many columns, the others of at most `room`."""
    if text.isascii() and len(text) <= first:
        yield 0, text
        return
    number, start, used = 0, 0, 0
    for at, character in enumerate(text):
        columns = 2 if character >= _WIDE_FROM else 1
        if used + columns > (room if number else first):
            yield number, text[start:at]
            number, start, used = number + 1, at, 0
        used += columns
    yield number, text[start:]
