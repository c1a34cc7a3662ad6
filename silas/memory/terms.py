"""A question in natural language as terms of a full-text query (decision A17).

Nothing a question holds is ever query syntax: only letters, digits, `_` and `-` come through, each
word in quotes.
"""

import re

_WORD = re.compile(r"[\w-]+")
_JOINT = re.compile(r"[-_]+")

MOST_TERMS = 32
"""So many different words of a question are looked up; a longer one is a text, not a question."""

_READ = 8_192  # characters of a text that are read for words; what is asked stands at its beginning
_LONGEST = 64  # characters of a word; a longer one is a hash or a blob, and its beginning is enough


def words(text: str) -> tuple[str, ...]:
    """The different words of any text, in order, in lower case, at most `MOST_TERMS`.

    A compound such as `follow-up` counts as itself and as its parts.
    """
    found: dict[str, None] = {}
    for match in _WORD.finditer(text[:_READ].lower()):
        whole = match[0][:_LONGEST]
        parts = [part for part in _JOINT.split(whole) if part]
        for word in (whole, *parts) if parts else ():
            found[word] = None
        if len(found) >= MOST_TERMS:
            break
    return tuple(found)[:MOST_TERMS]


def quoted(word: str) -> str:
    """A word as one full-text phrase, whatever it holds."""
    return '"' + word.replace('"', '""').replace("\0", "") + '"'
