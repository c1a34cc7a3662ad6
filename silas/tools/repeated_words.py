"""Which words of a text repeat what was read elsewhere, whatever stands between and around them.

Words are compared without case and without the punctuation at their edges, so that quotes, line
breaks and list marks hide nothing. What counts: three words in a row; one word that is more than a
word, such as a path or an address; and a short value, a command between backticks or a line of a
fenced block as a whole. What the owner himself said is not told as read elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from silas.tools.phrases import is_structured

_EDGES: Final = "\"'`.,;:!?()[]{}<>*_#|$=\u201c\u201d\u2018\u2019"
_RUN: Final = 3  # words in a row that are told
_CODE: Final = re.compile(r"`([^`\n]+)`")
_FENCES: Final = ("```", "~~~")

MarkT = TypeVar("MarkT")
_Gram = tuple[str, ...]


class Value(NamedTuple):
    """A text to look at.

    Attributes:
        text: The text.
        prose: Whether one or two plain words of it mean nothing; false for a command or a path.
    """

    text: str
    prose: bool


class Repeats(Generic[MarkT]):
    """What of some texts was read elsewhere.

    Args:
        values: All texts that will be asked about.
        read: What was read, each with a mark; of two that hold the same words the later counts.
        own: What the owner said himself.
        again: What the one who wrote them said before, each with a mark; what was read counts
            before it.
        seen: Texts that the owner answered: what of `again` stands in them too is not told.
    """

    def __init__(
        self,
        values: Sequence[Value],
        read: Iterable[tuple[str, MarkT]],
        own: Iterable[str],
        again: Iterable[tuple[str, MarkT]] = (),
        seen: Iterable[str] = (),
    ) -> None:
        asked = {gram for value in values for gram in _grams(_words(value.text))}
        said = _all_grams(own)
        self._found = _marked_grams(again, asked - said - _all_grams(seen))
        self._found |= _marked_grams(read, asked - said)

    def of(self, value: Value) -> Iterator[tuple[str, MarkT]]:
        """Each stretch that was read elsewhere, with its mark, in the order of the text."""
        raw = value.text.split()
        placed = [at for at, token in enumerate(raw) if _bare(token)]
        words = [_bare(raw[at]) for at in placed]
        marks: list[MarkT | None] = [None] * len(words)
        for at in range(len(words)):
            self._run(words, at, marks)
        if not value.prose and 0 < len(words) < _RUN and (found := self._whole(words)) is not None:
            marks = [found] * len(words)
        yield from _stretches(raw, placed, marks)
        for short in _short(value.text) if value.prose else ():
            tokens = _words(short)
            if 0 < len(tokens) < _RUN and (found := self._whole(tokens)) is not None:
                yield short, found

    def _run(self, words: Sequence[str], at: int, marks: list[MarkT | None]) -> None:
        gram = tuple(words[at : at + _RUN])
        if len(gram) == _RUN and (found := self._found.get(gram)) is not None:
            marks[at : at + _RUN] = [found] * _RUN
        elif marks[at] is None and is_structured(words[at]):
            marks[at] = self._found.get((words[at],))

    def _whole(self, words: Sequence[str]) -> MarkT | None:
        return self._found.get(tuple(words))


def _stretches(
    raw: Sequence[str], placed: Sequence[int], marks: Sequence[MarkT | None]
) -> Iterator[tuple[str, MarkT]]:
    """Neighbours of one mark, with the punctuation that stands between them."""
    at = 0
    while at < len(placed):
        mark, begin = marks[at], at
        while at < len(placed) and marks[at] == mark:
            at += 1
        if mark is not None:
            yield " ".join(raw[placed[begin] : placed[at - 1] + 1]), mark


def _short(text: str) -> Iterator[str]:
    """What of a briefing is followed to the letter, or stands alone: code, lines of two words."""
    yield from (found[1] for found in _CODE.finditer(text))
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
        elif fenced or len(_words(line)) > 1:
            yield line.strip()


def _bare(token: str) -> str:
    return token.strip(_EDGES).casefold()


def _words(text: str) -> list[str]:
    return [word for word in map(_bare, text.split()) if word]


def _all_grams(texts: Iterable[str]) -> set[_Gram]:
    return {gram for text in texts for gram in _grams(_words(text))}


def _marked_grams(texts: Iterable[tuple[str, MarkT]], told: set[_Gram]) -> dict[_Gram, MarkT]:
    return {gram: mark for text, mark in texts for gram in _grams(_words(text)) if gram in told}


def _grams(words: Sequence[str]) -> Iterator[_Gram]:
    for at in range(len(words)):
        for length in range(1, _RUN + 1):
            if at + length <= len(words):
                yield tuple(words[at : at + length])
