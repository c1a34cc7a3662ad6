"""A question in natural language as terms of a full-text query (decision A17).

Nothing a question holds is ever query syntax: only letters, digits, `_` and `-` come through, each
word in quotes.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from silas.memory.english import FORMS, FUNCTION_WORDS

# Scripts that put no blanks between words: Han, Kana, Hangul. Their words are looked up by pairs of
# signs, which needs no dictionary.
_SIGNS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_SIGN = re.compile(f"([{_SIGNS}])")
_WORD = re.compile(f"[{_SIGNS}]+|(?:(?![{_SIGNS}])[\\w-])+")
_RUN = re.compile(r"[\w-]+")
_PLAIN = re.compile(r"[a-z0-9]+")
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
        return " OR ".join(quote_term(form) for form in self.forms)


def words(text: str) -> tuple[str, ...]:
    """The different words of any text, in order, in lower case.

    A compound such as `follow-up` counts as itself and as its parts, and what is written without
    blanks as its pairs of signs.
    """
    text = text[:_READ].lower()
    if text.isascii() and "-" not in text and "_" not in text:  # most texts: nothing to take apart
        return tuple(dict.fromkeys([word[:_LONGEST] for word in _PLAIN.findall(text)]))
    found: dict[str, None] = {}
    for match in _WORD.finditer(text):
        whole = match[0][:_LONGEST]
        if _SIGN.match(whole):
            found.update(dict.fromkeys(_pairs(whole)))
            continue
        parts = _parts(whole)
        found.update(dict.fromkeys((whole, *parts) if parts else ()))
    return tuple(found)


def index_text(text: str) -> str:
    """A text as its words are indexed: signs apart, and the parts of compounds at its end.

    What was indexed is taken out again by the same text, so this must not change without indexing
    everything anew.
    """
    runs = _RUN.findall(text) if "-" in text or "_" in text else ()
    parts = [part for run in runs if "-" in run or "_" in run for part in _parts(run)]
    text = text if text.isascii() else _SIGN.sub(r" \1 ", text)
    return f"{text} {' '.join(parts)}" if parts else text


def terms(text: str) -> tuple[Term, ...]:
    """What to look up for a text, at most `MOST_TERMS`: of its words those that say something."""
    found = words(text)
    telling = [word for word in found if word not in FUNCTION_WORDS] or found
    looked_up = dict.fromkeys(Term(FORMS.get(word, (word,))) for word in telling)
    return tuple(looked_up)[:MOST_TERMS]


def _parts(compound: str) -> list[str]:
    return [part for part in _JOINT.split(compound) if part]


def _pairs(run: str) -> list[str]:
    return [f"{one} {other}" for one, other in pairwise(run)] or [run]


def quote_term(word: str) -> str:
    """A word as one full-text phrase, whatever it holds."""
    return '"' + word.replace('"', '""').replace("\0", "") + '"'
