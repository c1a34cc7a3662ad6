"""Characters of external text that nobody sees or that drive a terminal, taken out.

Which may stay is a table: a joiner, a selector or a tag stays exactly where it shapes a character
that is seen, as in an emoji, in Persian or in a flag. One rule looks at the neighbours alone, so
that it costs no more than a search.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_JOINING = (
    "\u0600-\u061b\u061d-\u08ff"  # Arabic, Syriac, Thaana, N'Ko, Mandaic
    "\u0900-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18aa"  # India to Khmer, Mongolian
    "\u1a20-\u1aaf\u1b00-\u1bff\ua840-\ua8ff\ua980-\ua9ff\uaa60-\uaa7f\uaae0-\uaaff"
    "\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"  # Arabic forms
    "\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
"""Scripts in which joining changes the shape of a letter."""

_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
"""Emoji, their skin tones and the signs that can be shown as emoji."""

_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_VARIED = (
    "\u1000-\u109f\u2018-\u201d\u2200-\u22ff\u2a00-\u2aff\u3001\u3002\ua840-\ua87f\uaa60-\uaa7f"
    "\uff01-\uff1f\U00013000-\U0001345f"
)
"""Signs beside Han that Unicode gives variations: quotes, mathematics, Myanmar, Phags-pa."""

_MONGOLIAN = "\u1820-\u18aa"

_SHAPING = "\u200c\u200d\ufe00-\ufe0f\u180b-\u180f\u2800\U000e0020-\U000e007f\U000e0100-\U000e011f"
"""What may stay where a rule says so: joiners, selectors, blank Braille, tags.

Selectors after U+E011F are registered for no character: they carry bytes."""

_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
"""England, Scotland, Wales: the only tag sequences that Unicode recommends (RGI)."""


class _Stay(NamedTuple):
    """A shaping character stays between these; each is a pattern of fixed width, or empty."""

    before: str
    character: str
    after: str = ""


def _pattern_of_rules(rules: Iterable[_Stay]) -> str:
    """Matches a character that may stay, alone. It is looked at first, since it is nearly never
    this one; rules that begin alike are one.
    """
    places: dict[str, dict[str, list[str]]] = {}
    for rule in rules:
        places.setdefault(rule.character, {}).setdefault(rule.before, []).append(rule.after)
    return "|".join(
        f"{character}(?:{'|'.join(_place(character, *place) for place in befores.items())})"
        for character, befores in places.items()
    )


def _place(character: str, before: str, afters: list[str]) -> str:
    behind = f"(?<={before}{character})" if before else ""
    return behind + (f"(?={'|'.join(afters)})" if all(afters) else "")


_RULES = (
    _Stay(f"[{_JOINING}]", "[\u200c\u200d]"),
    _Stay(f"[^{_SHAPING}]", "[\u200c\u200d]", f"[{_JOINING}]"),
    _Stay(f"[{_PICTURES}]", "\u200d", f"[{_PICTURES}]"),
    _Stay(f"[{_PICTURES}]\ufe0f", "\u200d", f"[{_PICTURES}]"),
    _Stay(f"[{_PICTURES}]", "[\ufe0e\ufe0f]"),
    _Stay("[#*0-9]", "\ufe0f", "\u20e3"),  # keycaps
    _Stay(f"[{_HAN}]", "[\ufe00-\ufe02\U000e0100-\U000e011f]"),
    _Stay(f"[{_VARIED}]", "[\ufe00-\ufe02]"),
    _Stay(f"[{_MONGOLIAN}]", "[\u180b-\u180d\u180f]"),
    _Stay(f"[{_MONGOLIAN}]", "\u180e", f"[{_MONGOLIAN}]"),
    _Stay("[\u2801-\u28ff]", "\u2800"),
    _Stay("", "\u2800", "[\u2801-\u28ff]"),
    *(_Stay(flag[:at], flag[at], flag[at + 1 :]) for flag in _FLAGS for at in range(1, len(flag))),
)

_CONTROL = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f"  # terminals
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # blank letters
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, direction
    "\ud800-\udfff"  # halves of characters
    "\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\ufffc\ufffe\uffff"  # private, never characters
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # invisible format characters
    "\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe-\U000e001f"  # planes of nothing
    "\U000e0080-\U000e00ff\U000e0120-\U0010ffff"
)
"""What never stays. U+FFFD does: programs print it for bytes that are no text."""

_BREAKING = "\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"

_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor
    r"|[\]PX^_][^\x07\x1b\x90\x98\x9c-\x9f\n]*+(?:\x07|\x1b\\|\x9c)"  # OSC and other strings
    r"|[ -/]*+[0-~])"  # any other
)
_EIGHT_BIT = re.compile(
    r"[\x90\x98\x9b\x9d-\x9f](?:(?<=\x9b)[0-?]*+[ -/]*+[@-~]"
    r"|(?<!\x9b)[^\x07\x1b\x90\x98\x9c-\x9f\n]*+(?:\x07|\x1b\\|\x9c))"
)
_EIGHT_BIT_STARTS = ("\x90", "\x98", "\x9b", "\x9d", "\x9e", "\x9f")
_BREAK = re.compile(f"[{_BREAKING}](?!\n(?<=\r\n))")
_NEVER = re.compile(f"[{_CONTROL}]+")
_NEVER_AS_IT_IS = re.compile(f"[{_CONTROL}{_BREAKING}]")
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_COMBINING = f"[{_SHAPING}{_MARKS}]"
_COMBINES = re.compile(_COMBINING)
_STANDS_ALONE = re.compile(f"[^{_SHAPING}{_MARKS}]")
_PILE = re.compile(f"{_COMBINING}(?<={_COMBINING}{{9}}){_COMBINING}*+")
"""What is over eight: the longest pile that means something is a flag's six tags."""
_FOLLOWING = _SHAPING.replace("\u2800", "")
_LOOSE = re.compile(
    f"[{_SHAPING}](?<!{_pattern_of_rules(_RULES)})"
    f"[{_FOLLOWING}]*+(?>(?:\u2800(?![\u2801-\u28ff])[{_FOLLOWING}]*+)*)"
)
"""What shapes nothing, and what follows it: to shape, a sign must come after one that is seen, or
after an emoji's selector or a flag's tag that shapes. Blank Braille may also come before one."""
_PIECE = 100_000
"""Characters looked at together: what is put together of a text of ten millions would not fit into
any cache. A piece begins with what stands alone and sees what the next begins with, so each rule
sees all that it asks for."""
_ODD = re.compile(f"[{_CONTROL}{_BREAKING}{_SHAPING}{_MARKS}]")
_ODD_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def visible_text(text: str) -> str:
    """The text without terminal sequences, controls and what nobody sees; total and idempotent.

    Line ends stay, other characters that break a line become a newline. A pile of more than
    eight marks on one letter is cut: no language writes one, and it covers other lines.
    """
    if not (_ODD_ASCII if text.isascii() else _ODD).search(text):
        return text
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if any(start in text for start in _EIGHT_BIT_STARTS):
        text = _EIGHT_BIT.sub("", text)
    if _NEVER_AS_IT_IS.search(text):
        text = _NEVER.sub("", _BREAK.sub("\n", text))
    return settle_text(text)


def settle_text(text: str) -> str:
    """Visible text after something was taken out of it: what shaped that shapes nothing now."""
    if text.isascii() or not _COMBINES.search(text):
        return text
    pieces: list[str] = []
    at = 0
    while found := _STANDS_ALONE.search(text, at + _PIECE):
        pieces.append(_strip_loose(text[at : found.end()])[:-1])
        at = found.start()
    return "".join((*pieces, _strip_loose(text[at:])))


def _strip_loose(text: str) -> str:
    return _LOOSE.sub("", _PILE.sub("", text))
