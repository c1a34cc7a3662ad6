"""The values of an entry as words for people."""

import unicodedata
from collections.abc import Mapping
from typing import Any, cast

from silas.language import tr

_LONGEST = 200  # characters of one value; the entry itself has all of it

_UNKNOWN = "?"
"""Stands for a value that an entry does not have."""


class PlainValues(dict[str, str]):
    """The facts of an entry; what it does not have is a question mark."""

    def __missing__(self, key: str) -> str:
        return _UNKNOWN


def plain(value: Any) -> str:
    """One value on one line: nothing in it moves a cursor or hides text."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, Mapping):
        pairs = cast(Mapping[str, Any], value).items()
        return ", ".join(f"{name}: {plain(of)}" for name, of in [*pairs][:10]) or tr("none")
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value[:10])) or tr("none")  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any JSON
    text = " ".join(str(value).split())
    # Control, format and surrogate characters: they move a cursor or hide text in a terminal.
    visible = "".join(c for c in text if unicodedata.category(c)[0] != "C")
    return visible if len(visible) <= _LONGEST else f"{visible[:_LONGEST]}…"
