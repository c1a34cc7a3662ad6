"""Where the end of a text that goes on cannot be read yet: it may be a form of a secret."""

import re
import string
from typing import Final

LONGEST_ESCAPE: Final = 12
"""Characters of one escape."""

_BASE64: Final = string.ascii_letters + string.digits + "+/_-" + string.whitespace
_PACKED: Final = ("h4si", "1f8b08")  # how compressed text begins, as letters and as digits
_LINE = re.compile(r"[0-9a-f]{1,16}:?(?:[ ].*)?\Z", re.IGNORECASE)
_ESCAPE = re.compile(
    r"(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?|[0-7]{0,2})|&(?:#[0-9a-fx]{0,7}|[a-z]{0,8}))\Z",
    re.IGNORECASE,
)


def unread_from(text: str) -> int:
    """Where something begins that is read when it is whole: an escape, a dumped line, a package.

    Its end where nothing does. Linear in the text.
    """
    run = len(text.rstrip(_BASE64))
    small = text[run:].lower()
    packed = [run + at for mark in _PACKED if (at := small.find(mark)) >= 0]
    line = text.rfind("\n") + 1
    dumped = [line] if line < len(text) and _LINE.match(text, line) else []
    near = max(0, len(text) - LONGEST_ESCAPE)
    escape = _ESCAPE.search(text, near)
    return min([*packed, *dumped, len(text) if escape is None else escape.start()])


def half_escapes(text: str, end: int) -> list[int]:
    """Where before the end an escape may have begun, which hides what stands before it."""
    return [at for at in range(max(0, end - LONGEST_ESCAPE), end) if text[at] in "%\\&'\x1b"]
