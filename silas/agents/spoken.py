"""The text for the user, read out of a structured answer that is still coming."""

import re
from typing import Final, NamedTuple

_DEEPEST: Final = 32
"""Objects and lists within each other; no answer of ours is deeper than five."""

_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_ESCAPE = re.compile(r'\\(?:(?P<one>["\\/bfnrt])|u(?P<hex>[0-9A-Fa-f]{4}))')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z")
_BETWEEN = re.compile(r'[^{}\[\],:"]+')
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LOST: Final = "\ufffd"  # what half of a character becomes


class Spoken(NamedTuple):
    """Where in an answer the text for the user stands.

    Attributes:
        path: Its key, with those of the objects around it.
        given: A path and the value that must have been read there before, or nothing is read.
    """

    path: tuple[str, ...]
    given: tuple[tuple[str, ...], str] | None = None


class SpokenText:
    """Reads one string of a JSON object as it arrives. Total: what is no JSON has no text.

    It is no parser: whether an answer is valid is found out when it is whole. What it gives is, for
    valid JSON, exactly the string's value, in pieces, never half a character.
    """

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._given = spoken.given is None
        self._rest = ""
        self._keys: list[str | None] = []  # the key we are at in each open object; None in a list
        self._naming = False  # the next string is a key
        self._string: list[str] | None = None  # the string we are in, as far as it was read
        self._half = ""  # the first half of a character that takes two escapes
        self.over = False

    def feed(self, piece: str) -> str:
        """What of the text came with this piece."""
        if self.over:
            return ""
        rest, at, out = self._rest + piece, 0, list[str]()
        while not self.over and at < len(rest):
            step = self._between(rest, at) if self._string is None else self._within(rest, at, out)
            if step == at:
                break
            at = step
        self._rest = rest[at:]
        return "".join(out)

    def _between(self, rest: str, at: int) -> int:
        mark = rest[at]
        match mark:
            case '"' if self._keys:
                self._string = []
            case "{" | "[" if len(self._keys) < _DEEPEST:
                if self._keys or mark == "{":
                    self._keys.append("" if mark == "{" else None)
                    self._naming = mark == "{"
            case "{" | "[":
                self.over = True
            case "}" | "]" if self._keys:
                self._keys.pop()
                self.over = not self._keys
            case "," if self._keys:
                self._naming = self._keys[-1] is not None
            case ":":
                self._naming = False
            case _:
                plain = _BETWEEN.match(rest, at)
                return at + 1 if plain is None else plain.end()
        return at + 1

    def _within(self, rest: str, at: int, out: list[str]) -> int:
        """One step within a string; the same place where more must come first."""
        if rest[at] == '"':
            self._tell("", out, ends=True)
            self._ended()
            return at + 1
        if plain := _PLAIN.match(rest, at):
            self._tell(plain[0], out)
            return plain.end()
        if escape := _ESCAPE.match(rest, at):
            self._escaped(escape, out)
            return escape.end()
        self.over = _CUT_ESCAPE.match(rest, at) is None
        return at

    def _escaped(self, escape: re.Match[str], out: list[str]) -> None:
        if one := escape["one"]:
            self._tell(_LETTERS.get(one, one), out)
            return
        unit = int(escape["hex"], 16)
        if 0xDC00 <= unit < 0xE000 and self._half:
            pair = self._half + escape["hex"]
            self._half = ""
            self._tell(bytes.fromhex(pair).decode("utf-16-be"), out)
        elif 0xD800 <= unit < 0xE000:
            self._tell(_LOST if unit >= 0xDC00 else "", out, ends=True)
            self._half = escape["hex"] if unit < 0xDC00 else ""
        else:
            self._tell(chr(unit), out)

    def _tell(self, text: str, out: list[str], *, ends: bool = False) -> None:
        if self._half and (text or ends):
            text, self._half = _LOST + text, ""
        if self._string is not None and (self._naming or not self._here(self._spoken.path)):
            self._string.append(text)
        elif self._given:
            out.append(text)

    def _ended(self) -> None:
        value = "".join(self._string or ())
        self._string = None
        if self._naming:
            self._keys[-1] = value
        elif self._here(self._spoken.path):
            self.over = True
        elif self._spoken.given is not None and self._here(self._spoken.given[0]):
            self._given = value == self._spoken.given[1]

    def _here(self, path: tuple[str, ...]) -> bool:
        return tuple(self._keys) == path
