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
_ALWAYS_KNOWN = frozenset(
    _WORD.findall(
        "again ahead all bitte danke go hallo hello here hey hi jetzt just let mal me mir need now "
        "ok okay or quickly silas thank thanks want"
    )
)
"""Words that ask for nothing more, whatever is asked for."""

_REFUSED = re.compile(
    r"\b(?:do not|don['’]t|dont|never|no need to|without|instead of|rather than|stop)\b"
    r"[^.,;:!?\n]*",
    re.IGNORECASE,
)
"""What somebody says is not to be done, as far as the next pause."""

_NARROWS = (
    r"(?!(?:(?:but|and|aber|und)\s+)?(?:only|just|except|not|nur|außer|nicht|"
    r"which|that|who|whose|whom|die|der|das|den|deren|welche\w*)\b)"
)
"""What narrows the part before it is none of its own: `list the files, only the large ones`."""

_PART_ENDS = re.compile(
    rf"[.,;:!?]\s+{_NARROWS}|\n+|[()]|\s[-+/&|\u2013]+\s|\s*(?:&&|\|\||\u2014)\s*|"
    rf"\s{_NARROWS}(?:and|then|but|plus|as\s+well\s+as|followed\s+by|before|while|afterwards|"
    r"instead|und|dann|danach|aber|sowie|bevor|während)\s",
    re.IGNORECASE,
)
"""Where another part of a request begins."""

_SHARED = 0.6  # of a phrase's words, how many the request must have


def words_of(text: str) -> frozenset[str]:
    """The words that say something, without paths, in one form for one and many."""
    said = " ".join(part for part in parts_of(text) if "/" not in part)
    words = _WORD.findall(said.lower())
    return frozenset(_singular(word) for word in words if word not in _FILLER and len(word) > 1)


def wanted_of(text: str) -> str:
    """A request without what it says is not to be done: `run the tests, don't fix the bug`."""
    return _REFUSED.sub(" ", text)


def words_wanted(text: str) -> list[frozenset[str]]:
    """The words of a request and of each of its parts, without those of what is not to be done."""
    wanted = wanted_of(text)
    return [words_of(part) for part in (wanted, *_PART_ENDS.split(wanted))]


def best_score(
    phrases: Sequence[str], more: Sequence[str], wanted: Sequence[frozenset[str]]
) -> float:
    """The best score of what is wanted whole and in parts; one with any other word has none.

    Args:
        phrases: Requests that a runbook is for.
        more: Words that a request may say besides.
        wanted: The words of a request and of its parts.
    """
    known = _ALWAYS_KNOWN | words_of(" ".join((*phrases, *more)))
    return max((_score(phrases, words) for words in wanted if words <= known), default=0.0)


def _score(phrases: Sequence[str], words: frozenset[str]) -> float:
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
