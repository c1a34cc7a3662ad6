"""Letters and signs that normalisation makes ASCII, such as wide, mathematical and circled ones.

Some models read a text normalised (NFKC): what poses as a voice only then must not pass either.
Everywhere else such letters stay as they are.
"""

import re
import unicodedata
from functools import cache
from itertools import islice

from silas.context.roles import find_markers

_RANGES = (
    (0xAA, 0xBA), (0x17F, 0x17F), (0x2B0, 0x2E3), (0x1D2C, 0x1D6A), (0x2070, 0x209C),
    (0x2100, 0x217F), (0x24B6, 0x24E9), (0x2C7C, 0x2C7D), (0xFE50, 0xFE6B), (0xFF01, 0xFF5E),
    (0x1D400, 0x1D7FF), (0x1F130, 0x1F149),
)  # fmt: skip
"""Where they are; what else is in these ranges is left out one by one."""

_MASKS = re.compile(
    "[\u017f\u24b6-\u24e9\uff21-\uff3a\uff41-\uff5a"
    "\u00aa\u00ba\u02b0-\u02e3\u1d2c-\u1d6a\u2071-\u209c\u2100-\u217f\u2c7c\u2c7d"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f149]"
)
"""A letter: of signs alone, such as a wide comma, the rules themselves know what poses."""


_MANY = 1_000
"""So many are no accident, and the whole text is taken plain."""


@cache
def _table() -> dict[int, str]:
    """Each of them and what it becomes; one sign for one, so that nothing moves."""
    codes = (code for first, last in _RANGES for code in range(first, last + 1))
    found = {code: unicodedata.normalize("NFKC", chr(code)) for code in codes}
    return {code: sign for code, sign in found.items() if len(sign) == 1 and "!" <= sign <= "~"}


def to_ascii(text: str) -> str:
    """The text with each of them as the ASCII sign that it becomes."""
    return text if text.isascii() else text.translate(_table())


def unmask(text: str) -> str:
    """The text with what poses as a voice in its plain form; all else stays as it is.

    Args:
        text: Cleaned text: what poses in ASCII has been rewritten.
    """
    if text.isascii() or not _MASKS.search(text):
        return text
    read = to_ascii(text)
    found = sorted(islice(find_markers(read, besides=text), _MANY))
    if len(found) == _MANY:
        return read
    pieces, at = list[str](), 0
    for start, end in found:
        pieces += text[at:start], read[max(at, start) : end]
        at = max(at, end)
    return "".join((*pieces, text[at:]))
