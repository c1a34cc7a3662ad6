"""An English sentence that is kept, and read by models, told in the owner's language (0.5, 8.2)."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from silas.language.catalogue import tr

_AS_SAID: Mapping[str, Callable[[str], str]] = {}
_VALUE = re.compile(r"\\\{(\w+)\\\}")  # `{name}` of a sentence, as `re.escape` leaves it


def retold(
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
            parts = found.groupdict()
            told = {name: values[name](parts[name]) for name in parts.keys() & values.keys()}
            return tr(sentence, **{**parts, **told})
    return english


@cache
def _form(sentence: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>.+?)", re.escape(sentence)), re.DOTALL)
