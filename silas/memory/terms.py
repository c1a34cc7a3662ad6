"""A question in natural language as terms of a full-text query (decision A17).

Nothing a question holds is ever query syntax: only letters, digits, `_` and `-` come through, each
word in quotes.
"""

import re
from typing import NamedTuple

from silas.memory.english import FORMS, FUNCTION_WORDS

_WORD = re.compile(r"[\w-]+")
_JOINT = re.compile(r"[-_]+")

MOST_TERMS = 32
"""So many different words of a text are looked up; a longer one is no question, and its beginning
tells enough."""

_READ = 8_192  # characters of a text that are read for words
_LONGEST = 64  # characters of a word; what is longer is a hash or a blob


class Term(NamedTuple):
    """A word, in all the forms in which it may have been written."""

    forms: tuple[str, ...]

    @property
    def query(self) -> str:
        """As a full-text query."""
        return " OR ".join(quoted(form) for form in self.forms)


def words(text: str) -> tuple[str, ...]:
    """The different words of any text, in order, in lower case.

    A compound such as `follow-up` counts as itself and as its parts.
    """
    found: dict[str, None] = {}
    for match in _WORD.finditer(text[:_READ].lower()):
        whole = match[0][:_LONGEST]
        parts = [part for part in _JOINT.split(whole) if part]
        for word in (whole, *parts) if parts else ():
            found[word] = None
    return tuple(found)


def terms(text: str) -> tuple[Term, ...]:
    """What to look up for a text, at most `MOST_TERMS`: of its words those that say something."""
    found = words(text)
    telling = [word for word in found if word not in FUNCTION_WORDS] or found
    looked_up = dict.fromkeys(Term(FORMS.get(word, (word,))) for word in telling)
    return tuple(looked_up)[:MOST_TERMS]


def quoted(word: str) -> str:
    """A word as one full-text phrase, whatever it holds."""
    return '"' + word.replace('"', '""').replace("\0", "") + '"'
