"""An English sentence that is kept, and read by models, told in the owner's language (0.5, 8.2)."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from silas.language.catalogue import ENGLISH, spoken_language, tr, ways_of_saying

_AS_SAID: Mapping[str, Callable[[str], str]] = {}
_QUOTED = re.compile(r"(?P<mark>['\"])(?P<words>(?:(?!(?P=mark)).)+)(?P=mark)")
_VALUE = re.compile(r"\\\{(\w+)\\\}")  # `{name}` of a sentence, as `re.escape` leaves it


def retranslate(
    english: str, sentences: Sequence[str], values: Mapping[str, Callable[[str], str]] = _AS_SAID
) -> str:
    """What was said in English, in the owner's language; as it is where no sentence fits.

    Args:
        english: The text as it is kept.
        sentences: What it may be, as `tr_later` has them, with `{name}` where a value stands.
        values: What tells a value of this name in the owner's language; others are as they are.
    """
    for sentence in sentences:
        found = _form(sentence).fullmatch(english)
        if found is not None:
            parts = {name: _with_own_quotes(value) for name, value in found.groupdict().items()}
            told = {name: values[name](found[name]) for name in parts.keys() & values.keys()}
            return tr(sentence, **{**parts, **told})
    return english


def retell(said: str, sentences: Sequence[str]) -> str:
    """What was said in whichever language Silas spoke then, in the one of now; as it is where no
    sentence fits. Values stay as they are.
    """
    for sentence in sentences:
        for way in ways_of_saying(sentence):
            if found := _form(way).fullmatch(said):
                return tr(sentence, **found.groupdict())
    return said


def _with_own_quotes(value: str) -> str:
    """A value that stands in quotes, as a name in an error does, in those of the language."""
    found = None if spoken_language() == ENGLISH else _QUOTED.fullmatch(value)
    return value if found is None else tr("“{words}”", words=found["words"])


@cache
def _form(sentence: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>.+?)", re.escape(sentence)), re.DOTALL)
