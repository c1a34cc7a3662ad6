"""Whether words stand in a text, and whether they are peculiar enough to prove anything.

Everything is exact: another case, another letter that looks alike, one character more on either
side is another value. Only runs of white space count as one space.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

MIN_LETTERS: Final = 8
"""Letters in the peculiar words of a phrase, below which it could stand anywhere."""

_JOINING: Final = "@.-/+:%=?&#~\\"
"""Characters that tie words into one value: an address, a path, a host."""

_APOSTROPHES: Final = "'’"
"""They tie as well, between two letters; elsewhere they are quotes."""

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+")


def _runs(text: str) -> list[str]:
    """Its runs of letters; a sign for a number is none, though it counts as a part of a word."""
    return [run for run in _WORD.findall(text) if run.isalpha()]


def _word_set(words: str) -> frozenset[str]:
    return frozenset(_WORD.findall(words))


_CALENDAR: Final = _word_set(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday "
    "saturday sunday mon tue wed thu fri sat sun today tomorrow yesterday tonight noon midnight "
    "morning afternoon evening night week month year day hour minute am pm utc gmt"
)
_COMMON: Final = _word_set(
    "a about after again all also am an and any are as at back be because been before being "
    "between both but by can could did do does done down each every few file files first for "
    "from get give go good had has have he her here him his how i if in into is it its just know "
    "last let like list made make many may me message more most much must my name need new next "
    "no not now of off on once one only or other our out over own page part people please put "
    "read same say see send set she should show so some such take tell than that the their them "
    "then there these they thing this those through time title to too true try two under up us "
    "use user using very want was way we well went were what when where which while who why will "
    "with work would write yes yet you your false none null delete remove create update add open "
    "close email mail subject body note text date number amount"
)

MarkT = TypeVar("MarkT")


def collapse_spaces(text: str) -> str:
    """A text with every run of white space as one space, and none at its ends."""
    return _SPACE.sub(" ", text).strip()


def stands_in(said: str, text: str) -> bool:
    """Whether `said` stands in `text` as a whole: not as a part of a longer word or value.

    Both as `collapse_spaces` gives them.
    """
    if not said:
        return False
    at = text.find(said)
    while at >= 0:
        if _ends(text, at - 1, -1, said[0]) and _ends(text, at + len(said), 1, said[-1]):
            return True
        at = text.find(said, at + 1)
    return False


def _ends(text: str, at: int, step: int, edge: str) -> bool:
    """Whether a value ends here: white space, or punctuation that nothing more hangs on."""
    if not 0 <= at < len(text) or text[at] == " ":
        return True
    if _in_word(text[at]):
        return not _in_word(edge) and edge not in _JOINING
    beyond = at + step
    if text[at] in _APOSTROPHES:
        return not (0 <= beyond < len(text) and _in_word(text[beyond]) and _in_word(edge))
    if text[at] not in _JOINING:
        return True
    if step < 0:
        return False
    return not (0 <= beyond < len(text)) or not (_in_word(text[beyond]) or text[beyond] in _JOINING)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def is_distinctive(said: str) -> bool:
    """Whether finding these words in a text proves that they come from there.

    A value with inner structure does, such as an address, a path or an identifier: letters tied to
    something else. Of plain words at least two are needed that are neither common nor part of a
    date. A number, a date, a single plain word never does.
    """
    words = said.split(" ")
    if len(words) == 1:
        return is_structured(said)
    peculiar = {
        word.lower()
        for word in _runs(said)
        if len(word) > 1 and word.lower() not in _CALENDAR and word.lower() not in _COMMON
    }
    return len(peculiar) >= 2 and sum(map(len, peculiar)) >= MIN_LETTERS


def is_structured(token: str) -> bool:
    """One word that is more than a word: `alice@example.com`, `notes/plan.md`, `DE89370400440`."""
    bare = token.strip(".,;:!?\"'()[]{}<>")
    letters = sum(len(run) for run in _runs(bare))
    if len(bare) < MIN_LETTERS or letters < 2:
        return False
    tied = any(not character.isalpha() for character in bare)
    dated = all(word.lower() in _CALENDAR or len(word) < 2 for word in _runs(bare))
    return tied and not dated


def passages(
    text: str, read: Sequence[tuple[str, MarkT]], at_least: int = 3, most: int = 8
) -> Iterator[tuple[str, MarkT]]:
    """Stretches of a text that were read elsewhere, the longest first taken; at most `most`.

    The whole, if it stands somewhere; else runs of at least `at_least` words.

    Args:
        text: What a model wrote.
        read: What it was shown, as `collapse_spaces` gives it, with a mark for each.
        at_least: Words of a run that is worth telling.
        most: How many runs are told.
    """
    whole = collapse_spaces(text)
    for shown, mark in reversed(read):
        if stands_in(whole, shown):
            yield whole, mark
            return
    words, at, told = whole.split(" ")[:_COMPARED], 0, 0
    while at < len(words) and told < most:
        length, mark = _longest(words, at, at_least, read)
        if mark is None:
            at += 1
            continue
        yield " ".join(words[at : at + length]), mark
        at, told = at + length, told + 1


_COMPARED: Final = 400  # words of one argument that are compared


def _longest(
    words: Sequence[str], at: int, at_least: int, read: Sequence[tuple[str, MarkT]]
) -> tuple[int, MarkT | None]:
    """How many words from here on were read in one place, and where."""
    best, found = 0, None
    for shown, mark in reversed(read):
        length = max(at_least, best + 1)
        while at + length <= len(words) and " ".join(words[at : at + length]) in shown:
            best, found = length, mark
            length += 1
    return (best, found) if best >= at_least else (_single(words[at], read))


def _single(word: str, read: Sequence[tuple[str, MarkT]]) -> tuple[int, MarkT | None]:
    """One word with a structure of its own is worth telling, too."""
    if is_structured(word):
        for shown, mark in reversed(read):
            if stands_in(word, shown):
                return 1, mark
    return 0, None
