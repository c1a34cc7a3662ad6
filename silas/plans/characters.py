"""Characters that a person cannot see or that drive a terminal, and what becomes of them."""

import re
import unicodedata
from collections.abc import Callable

from silas.plans.lookalikes import alike, unmistakable

# Default_Ignorable_Code_Point of Unicode 15 outside the category Cf, and two blanks that look empty
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_PRINTABLE_ASCII = re.compile(r"[\x20-\x7e]*")


def is_hidden(character: str) -> bool:
    """Whether a character is a control, is invisible, reorders text or is no character at all.

    Line feed and tab count as hidden; whoever allows them says so. Look-alikes are visible and
    count as no hidden ones: `alike` finds them.
    """
    code = ord(character)
    return (
        unicodedata.category(character) in _HIDDEN_CATEGORIES
        or character in _INVISIBLE
        or 0xFE00 <= code <= 0xFE0F
        or code & 0xFFFE == 0xFFFE
        or 0xFDD0 <= code <= 0xFDEF
        or 0xE0000 <= code <= 0xE0FFF
    )


def first_hidden(text: str, allowed: str = "") -> int:
    """The index of the first hidden character that is not allowed, or -1."""
    if _PRINTABLE_ASCII.fullmatch(text):
        return -1
    for index, character in enumerate(text):
        if character not in allowed and is_hidden(character):
            return index
    return -1


def name_of(character: str) -> str:
    """`U+202E`."""
    return f"U+{ord(character):04X}"


def show(text: str) -> str:
    """One line of text that is safe on a terminal and hides nothing.

    Hidden characters, spaces other than the ordinary one and letters that look like others become
    visible, as `<U+202E>`. Two different texts never look alike: a `<U+` that was typed is marked,
    too.
    """
    marked = text.replace("<U+", "<U+003C>U+")
    if _PRINTABLE_ASCII.fullmatch(marked):
        return marked
    others = alike(marked)
    return "".join(
        f"<{name_of(c)}>" if at in others or is_hidden(c) or _odd(c) else c
        for at, c in enumerate(marked)
    )


def show_exactly(text: str) -> str:
    """As `show`, for paths, hosts, commands and names, of which every character counts.

    Whatever is not ASCII is marked, but for letters that can be taken for nothing else: `Übersicht`
    stays as it is.
    """
    marked = text.replace("<U+", "<U+003C>U+")
    if _PRINTABLE_ASCII.fullmatch(marked):
        return marked
    letters = unmistakable(marked)
    return "".join(
        c if " " <= c <= "~" or at in letters else f"<{name_of(c)}>" for at, c in enumerate(marked)
    )


def show_lines(text: str, one: Callable[[str], str] = show) -> tuple[str, ...]:
    """`show`, or another way, for each line of a longer text; a blank at an end is marked."""
    return tuple(_escape_last_blank(one(line)) for line in text.split("\n"))


def as_shown(text: str) -> str:
    """The text as it is where it hides nothing, else as `show` has it.

    For what may have been shown already: a second time changes nothing. Look-alikes are for
    whoever writes the text; next to a mark they could not be told from ordinary words.
    """
    return text if first_hidden(text) == -1 else show(text)


def strip_hidden(text: str) -> str:
    """The text without terminal sequences and hidden characters; line feeds stay, tabs are blanks.

    For what programs print: nothing in it is meant, so nothing is lost by dropping it.
    """
    plain = _ANSI.sub("", text.replace("\r\n", "\n")).replace("\t", "    ")
    return "".join(c for c in plain if c == "\n" or not is_hidden(c))


def as_code(text: str) -> str:
    """A path, host or name of which every character counts."""
    return f"`{_escape_backticks(show_exactly(text))}`"


def name_as_code(text: str) -> str:
    """A name that a person gave, in his own language."""
    return f"`{_escape_backticks(show(text))}`"


def _escape_backticks(shown: str) -> str:
    return shown.replace("`", "<U+0060>")  # it would seem to end there


def _escape_last_blank(shown: str) -> str:
    return f"{shown[:-1]}<U+0020>" if shown.endswith(" ") else shown


def _odd(character: str) -> bool:
    """Whether it is another blank, or what no font agrees on: private and unassigned characters."""
    return character != " " and unicodedata.category(character) in ("Zs", "Co", "Cn")
