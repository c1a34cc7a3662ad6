"""Colour for a person's terminal, laid over finished text; meaning never depends on it."""

import os
from collections.abc import Mapping
from typing import Final, TextIO

_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "1", "2", "31", "32", "33", "36"

_LINES: Final = (
    ("========", _DIM),
    ("Risk: irreversible", f"{_BOLD};{_RED}"),
    ("Risk: high", f"{_BOLD};{_YELLOW}"),
    ("Your choice", _BOLD),
    ("working: ", _CYAN),
    ("done: ", _GREEN),
    ("not yet right: ", _YELLOW),
    ("stuck: ", _RED),
    ("blocked: ", _RED),
    ("failed: ", _RED),
)
"""How a line begins, and its colour. Text from outside is indented on cards, so it matches none."""

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
    return _painted(text, _LINES)


def paint_diff(text: str) -> str:
    """A unified diff."""
    return _painted(text, _DIFF)


def dim(text: str) -> str:
    """Said in passing."""
    return f"\x1b[{_DIM}m{text}\x1b[0m"


def _painted(text: str, rules: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(_line(line, rules) for line in text.split("\n"))


def _line(line: str, rules: tuple[tuple[str, str], ...]) -> str:
    for start, style in rules:
        if line.startswith(start):
            return f"\x1b[{style}m{line}\x1b[0m"
    return line
