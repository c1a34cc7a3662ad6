"""Colour for a person's terminal, laid over finished text; meaning never depends on it."""

import os
from collections.abc import Mapping
from typing import Final, TextIO

from silas.language import tr

_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "1", "2", "31", "32", "33", "36"

_DIFF: Final = (("@@", _CYAN), ("---", _BOLD), ("+++", _BOLD), ("+", _GREEN), ("-", _RED))


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a stream is a terminal that shows colour; `NO_COLOR` (no-color.org) says no."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def columns_of(stream: TextIO, most: int) -> int:
    """How many columns a line may have: the terminal's where there are fewer than `most`."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (AttributeError, OSError, ValueError):  # no terminal wraps what is printed
        return most
    return min(columns or most, most)  # a terminal that does not know says 0


def paint(text: str) -> str:
    """Cards and progress lines, line by line."""
    return _paint_lines(text, _lines())


def _lines() -> tuple[tuple[str, str], ...]:
    """How a line begins in the owner's language, and its colour.

    Text from outside is indented on cards, so it matches none.
    """
    choice = tr("Your choice, 1 to {card}{words}:{waits}", card="\0", words="", waits="")
    return (
        ("========", _DIM),
        (tr("Risk: {value}", value=tr("irreversible")), f"{_BOLD};{_RED}"),
        (tr("Risk: {value}", value=tr("high")), f"{_BOLD};{_YELLOW}"),
        (choice.partition("\0")[0], _BOLD),
        (f"{tr('working')}: ", _CYAN),
        (f"{tr('done')}: ", _GREEN),
        (f"{tr('not yet right')}: ", _YELLOW),
        (f"{tr('stuck')}: ", _RED),
        (f"{tr('blocked')}: ", _RED),
        (f"{tr('failed')}: ", _RED),
    )


def paint_diff(text: str) -> str:
    """A unified diff."""
    return _paint_lines(text, _DIFF)


def dim(text: str) -> str:
    """Said in passing."""
    return f"\x1b[{_DIM}m{text}\x1b[0m"


def _paint_lines(text: str, rules: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(_line(line, rules) for line in text.split("\n"))


def _line(line: str, rules: tuple[tuple[str, str], ...]) -> str:
    for start, style in rules:
        if line.startswith(start):
            return f"\x1b[{style}m{line}\x1b[0m"
    return line
