"""A request as these modules match it: without courtesies, blanks counted as one."""

import re
from typing import Final

LONGEST: Final = 300
"""Characters of a request that is looked at; a longer one is no question of this kind."""

_POLITE: Final = re.compile(
    r"\A(?:(?:please|pls|plz|silas|hey|hi|hello|ok|okay|and|so|quick\s+question|"
    r"(?:can|could|would|will)\s+(?:you|u)(?:\s+(?:please\s+)?tell\s+me)?|tell\s+me|"
    r"bitte|hallo|sag\s+mir(?:\s+bitte)?|weißt\s+du|kannst\s+du\s+mir\s+sagen|"
    r"do\s+you\s+know|i(?:\s+want|['’]d\s+like|\s+would\s+like)\s+to\s+know)[,!:]?\s+)+",
    re.IGNORECASE,
)
_THANKS: Final = re.compile(
    r"(?:,?\s+(?:please|pls|plz|thx|bitte|danke|for\s+me|thanks|thank\s+you|now|right\s+now))*[\s.?=]*\Z",
    re.IGNORECASE,
)


def request_text(text: str) -> str:
    """The question itself; empty where the text is too long or has several lines.

    An exclamation mark stays where it is: after a number it could mean a factorial.
    """
    if len(text) > LONGEST or "\n" in text.strip():
        return ""
    said = _THANKS.sub("", _POLITE.sub("", text.strip().replace("’", "'")))
    return " ".join(said.split())
