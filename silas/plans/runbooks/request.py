"""What a request asks for, by its words: no model, the same answer every time."""

import re
from collections.abc import Sequence

from silas.patterns import PatternRefused, search

_WORD = re.compile(r"[a-z0-9]+")
_PART = re.compile(
    r"""(?<![^\s(])(?:'([^'\n]+)'|"([^"\n]+)"|`([^`\n]+)`)(?=[\s.,;:!?)]|\Z)|(\S+)"""
)
_FILLER = frozenset(
    _WORD.findall(
        "a an and at by can could do for from i in into is it its me my of on our please so that "
        "the them then this to us we with would you your"
    )
)
_REFUSED = re.compile(
    r"\b(?:do not|don['’]t|dont|never|no need to|without|instead of|rather than|stop)\b"
    r"[^.,;:!?\n]*",
    re.IGNORECASE,
)
"""What somebody says is not to be done, as far as the next pause."""

_BEYOND = re.compile(
    r"\A\W*(?:(?:please|pls|silas|can you|could you)\W+)*(?:save|store|export)\b"
    r"|\A\W*(?:(?:please|pls|silas|can you|could you|bitte)\W+)*"
    r"(?:add|append|write|put|create|make(?!\s+the\s+tests)|füge|schreibe?)\b.*\s(?:to|into|in|as|zu)\s+\S*\w\.\w{1,8}\b"
    r"|\b(?:weeks?|months?|yesterday|ago)\b"
    r"|\b(?:older|newer|bigger|larger|smaller)\s+than\b|\blist\s+only\b"
    r"|\bby\s+(?:size|date|time|name|age|type|kind|ending)\b"
    r"|\bfiles?\s+(?:with|without|except|whose|named|called|containing|that|which|by|changed|modified"
    r"|created|sent|of\s+whoever)\b"
    r"|\bfiles?\s+(?:in|on|from|inside)\s+(?:the\s+|my\s+|our\s+)?"
    r"(?!this\b|that\b|the\b|my\b|our\b|it\b|here\b|folder|director|project|work|repo|current)[a-z]",
    re.IGNORECASE,
)
"""What no runbook does that is found by single words: keep what it shows, write into a file that is
named, choose by the time, by a size, a kind or a name, or look into another folder."""

_SHARED = 0.6  # of a phrase's words, how many the request must have


def words_of(text: str) -> frozenset[str]:
    """The words that say something, without paths, in one form for one and many."""
    said = " ".join(part for part in parts_of(text) if "/" not in part)
    words = _WORD.findall(said.lower())
    return frozenset(_singular(word) for word in words if word not in _FILLER and len(word) > 1)


def wanted_of(text: str) -> str:
    """A request without what it says is not to be done: `run the tests, don't fix the bug`."""
    return _REFUSED.sub(" ", text)


def beyond_words(text: str) -> bool:
    """Whether a request wants more than a runbook that is found by single words can do."""
    return _BEYOND.search(text) is not None


def score(phrases: Sequence[str], words: frozenset[str]) -> float:
    """How well the best phrase fits: words shared times their share of it; 0 where none does."""
    best = 0.0
    for phrase in phrases:
        wanted = words_of(phrase)
        shared = len(wanted & words)
        if wanted and shared / len(wanted) >= _SHARED:
            best = max(best, shared * shared / len(wanted))
    return best


def fits(pattern: str, value: str) -> bool:
    """Whether the whole value matches; an empty pattern fits all."""
    try:
        return not pattern or search(rf"\A(?:{pattern})\Z", value) is not None
    except PatternRefused:
        return False


def parts_of(text: str) -> list[str]:
    """What stands in quotes, whole, and otherwise words, without the punctuation around them."""
    parts = [a or b or c or d.lstrip("(").rstrip(".,;:!?)") for a, b, c, d in _PART.findall(text)]
    return [part for part in parts if part]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith(("xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word
