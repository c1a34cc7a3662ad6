"""Finds the words that say when, in what somebody said, and what is left without them."""

import re
from typing import Final, NamedTuple

from silas.reminders.patterns import ABOUT, PATTERNS


class Part(NamedTuple):
    """One part of a phrase: what it is, and the groups of its pattern that matched."""

    kind: str
    words: str
    groups: dict[str, str]


class Phrase(NamedTuple):
    """Neighbouring parts, and where they stand.

    Attributes:
        parts: In the order in which they were said.
        start, end: Characters of the sentence.
        narrowed: The words with those behind them that take something away again, such as “every
            day except Sundays”; empty where none do.
    """

    parts: tuple[Part, ...]
    start: int
    end: int
    narrowed: str = ""

    def of(self, kind: str) -> Part | None:
        """The first part of a kind."""
        return next((part for part in self.parts if part.kind == kind), None)


_BETWEEN: Final = re.compile(
    rf"[\s,;]*(?:(?:and|und|then|dann)\s+)?(?:{ABOUT}\s+|~\s*)?", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W_]+|@", re.UNICODE)
_CLOSING: Final = re.compile(r"[\s.!?,;]*(?:(?:please|bitte|thanks|danke)[\s.!?]*)?", re.IGNORECASE)
_NARROWS: Final = re.compile(
    r"[\s,(]*(?:except|excluding|apart\s+from|other\s+than|but\s+not|unless|außer|ausser|bis\s+auf|"
    r"aber\s+nicht|(?:between|zwischen)(?=\s+\d)|or\s+so\b|oder\s+so\b)(?:\s+[\w:.]+){0,3}",
    re.IGNORECASE,
)
_ONCE: Final = frozenset({"in", "every", "day", "clock", "until"})
_MOST_PARTS: Final = 5


def phrase_at(text: str, start: int) -> Phrase | None:
    """The longest phrase that begins at a character; None where none does."""
    parts: list[Part] = []
    at, end = start, start
    while len(parts) < _MOST_PARTS:
        found = _part_at(text, at, {part.kind for part in parts})
        if found is None:
            break
        part, end = found
        parts.append(part)
        between = _BETWEEN.match(text, end)
        at = end if between is None else between.end()
    return Phrase(tuple(parts), start, end) if parts else None


def _part_at(text: str, at: int, known: set[str]) -> tuple[Part, int] | None:
    for kind, expression in PATTERNS:
        if kind in known and kind in _ONCE:
            continue
        found = expression.match(text, at)
        if found is not None and _whole(text, found.end()):
            groups = {name: value for name, value in found.groupdict().items() if value}
            return Part(kind, found.group(), groups), found.end()
    return None


def _whole(text: str, end: int) -> bool:
    """Whether no word is cut in two there."""
    return end >= len(text) or not (text[end - 1].isalnum() and text[end].isalnum())


def phrases_in(text: str) -> list[Phrase]:
    """Every phrase of a sentence; none overlaps another."""
    found: list[Phrase] = []
    end = 0
    for word in _WORD.finditer(text):
        if word.start() >= end and (phrase := phrase_at(text, word.start())) is not None:
            found.append(phrase)
            end = phrase.end
    return found


def is_at_end(text: str, phrase: Phrase) -> bool:
    """Whether nothing but a full stop or a please follows it."""
    return _CLOSING.fullmatch(text, phrase.end) is not None


def chosen_phrase(text: str) -> Phrase | None:
    """The phrase that says when: the one that begins the text, or ends it, or its only one.

    A time in the middle belongs to what is to be said, where there is another.
    """
    phrase = _choose_phrase(text, phrases_in(text))
    narrows = _NARROWS.match(text, phrase.end) if phrase else None
    if phrase is None or narrows is None:
        return phrase
    return phrase._replace(narrowed=text[phrase.start : narrows.end()].rstrip(" .,"))


def _choose_phrase(text: str, found: list[Phrase]) -> Phrase | None:
    if not found:
        return None
    lead = len(text) - len(text.lstrip(" ,:"))
    if found[0].start <= lead:
        return found[0]
    if is_at_end(text, found[-1]):
        return found[-1]
    return found[0] if len(found) == 1 else None
