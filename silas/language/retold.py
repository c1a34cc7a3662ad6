"""An English sentence that is kept, and read by models, told in the owner's language (0.5, 8.2)."""

import re
from collections.abc import Sequence
from functools import cache

from silas.language.catalogue import tr

_VALUE = re.compile(r"\\\{(\w+)\\\}")  # `{name}` of a sentence, as `re.escape` leaves it


def retold(english: str, sentences: Sequence[str]) -> str:
    """What was said in English, in the owner's language; as it is where no sentence fits.

    Args:
        english: The text as it is kept.
        sentences: What it may be, as `tr_later` has them, with `{name}` where a value stands.
    """
    for sentence in sentences:
        found = _form(sentence).fullmatch(english)
        if found is not None:
            return tr(sentence, **found.groupdict())
    return english


@cache
def _form(sentence: str) -> re.Pattern[str]:
    return re.compile(_VALUE.sub(r"(?P<\1>.+?)", re.escape(sentence)), re.DOTALL)
