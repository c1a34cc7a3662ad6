"""How many tokens a text is, without asking anybody (spec 5.13, decision A22).

The estimate goes by classes of bytes, because characters alone count JSON, logs, code and most
scripts of the world at half of what they are.
"""

import string
from typing import Protocol

_PER_TOKEN = 3.5  # characters, for prose in English (spec 5.13)

_LETTERS = string.ascii_letters.encode()
_DIGITS = string.digits.encode()
_SPACE = b" \t\r\n\x0b\x0c"
_PLAIN = bytes(range(128))


class Counter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str) -> int:
        """How many tokens the text is, at least about; never negative."""
        ...


class TokenCounter:
    """Estimates tokens: the larger of characters / 3.5 and a sum over classes of bytes."""

    def count(self, text: str) -> int:
        """At least 0.86 of the true count, on every kind of text it was calibrated with."""
        raw = text.encode("utf-8", "surrogatepass")
        size = len(raw)
        letters = size - len(raw.translate(None, _LETTERS))
        digits = size - len(raw.translate(None, _DIGITS))
        space = size - len(raw.translate(None, _SPACE))
        beyond = len(raw.translate(None, _PLAIN))
        signs = size - letters - digits - space - beyond
        estimate = letters * 0.25 + digits * 0.6 + signs * 0.75 + space * 0.1 + beyond * 0.45
        return int(max(len(text) / _PER_TOKEN, estimate))
