"""External text made harmless before a model or a person reads it (spec 5.12, decision B9).

What it does not do: recognise instructions. Text that asks for something is data and stays; it
cannot hide, and it cannot look like Silas's own framing, a role marker or markup that loads.
"""

import re
import unicodedata

from silas.context.markup import NEUTRAL, neutralise_markup

_PASSES = 4
"""Removing one construct can uncover another; what still changes then is made inert whole."""

_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"  # any other escape
)
_BREAKS = re.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x9f"  # control
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0"  # blank letters
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, direction
    "\ud800-\udfff"  # halves of characters
    "\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff"  # private, never characters, annotations
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # invisible format characters
    "\U000e0200-\U0010ffff"
    "]"
)
_CAREFUL = re.compile("[\u200c\u200d\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0000-\U000e01ef]")
_FLAGS = re.compile(
    "\U0001f3f4\U000e0067\U000e0062"
    "(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)"
    "\U000e007f"
)
"""England, Scotland, Wales: the only tag sequences that are emoji."""

_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2500\u2501"
_LEAD = " \t>"


def scrub(text: str) -> str:
    """Neutralise external text: total, idempotent, linear in its length.

    Removed: terminal sequences, control and invisible characters, direction marks, lone
    surrogates, private-use characters, hidden elements and comments of HTML, attributes, images and
    script links of Markdown. Rewritten so that it reads the same but works no more: role markers of
    chat formats, Silas's own `--- ... ---` lines, reference links. Kept: every script of the world
    with the joiners it needs, emoji, tabs, line breaks (as a newline), code with `<` and `>`.
    """
    for _ in range(_PASSES):
        cleaned = _pass(text)
        if cleaned == text:
            return cleaned
        text = cleaned
    return _pass(text.translate(NEUTRAL))


def scrub_output(text: str) -> str:
    """What a program in the sandbox printed, made harmless without changing source text in it.

    As `scrub`, but markup stays: a model that edits a page or a template must see what it says.
    """
    return "\n".join(map(_unframe, _visible(text).split("\n")))


def _pass(text: str) -> str:
    return "\n".join(map(_unframe, neutralise_markup(_visible(text)).split("\n")))


def _visible(text: str) -> str:
    text = _ANSI.sub("", text)
    text = _BREAKS.sub("\n", text)
    text = _INVISIBLE.sub("", text)
    return _joiners(text) if _CAREFUL.search(text) else text


def _unframe(line: str) -> str:
    """A line that could open or close a block of Silas's own, with other signs."""
    core = line.lstrip(_LEAD)
    lead = line[: len(line) - len(core)]
    core = core.rstrip(" \t")
    trail = line[len(lead) + len(core) :]
    middle = core.strip(_DASHES)
    opening = len(core) - len(core.lstrip(_DASHES))
    closing = len(core) - len(core.rstrip(_DASHES))
    if min(opening, closing) < 2 or not any(char.isalnum() for char in middle):
        return line
    return f"{lead}{'~' * opening}{middle}{'~' * closing}{trail}"


def _joiners(text: str) -> str:
    """Keep joiners, variation selectors and tags exactly where they shape a visible character."""
    kept: list[str] = []
    at = 0
    while at < len(text):
        flag = _FLAGS.match(text, at) if text[at] == "\U0001f3f4" else None
        if flag:
            kept.append(flag.group())
            at = flag.end()
            continue
        following = text[at + 1] if at + 1 < len(text) else ""
        before = kept[-1][-1] if kept else ""
        if not _CAREFUL.match(text[at]) or _shapes(before, text[at], following):
            kept.append(text[at])
        at += 1
    return "".join(kept)


def _shapes(before: str, char: str, following: str) -> bool:
    if not before or (_CAREFUL.match(before) and before != "\ufe0f"):
        return False
    if char == "\u200d":
        # after a virama it chooses the letter's form, at the end of a word, too
        return unicodedata.combining(before) == 9 or (_joins(before) and _joins(following))
    if char == "\u200c":
        return _needs_break(before) and _needs_break(following)
    if char in "\ufe0e\ufe0f":
        return before in "#*0123456789" or unicodedata.category(before) in {"So", "Sm", "Po", "Sk"}
    if "\U000e0100" <= char <= "\U000e01ef" or "\ufe00" <= char <= "\ufe02":
        return "CJK" in unicodedata.name(before, "")
    return "\u180b" <= char <= "\u180f" and "MONGOLIAN" in unicodedata.name(before, "")


def _joins(char: str) -> bool:
    """Emoji, their modifiers, and letters and marks of scripts that join."""
    if not char:
        return False
    return char == "\ufe0f" or unicodedata.category(char) in {"So", "Sk"} or _needs_break(char)


def _needs_break(char: str) -> bool:
    """A letter or mark of a script in which joining changes the shape: from Arabic to Khmer."""
    return bool(char) and (
        "\u0600" <= char <= "\u08ff" or "\u0900" <= char <= "\u18aa" or "\ufb50" <= char <= "\ufdcf"
    )
