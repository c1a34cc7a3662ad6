"""Who holds the words of a question, and how much each word tells (decision A17).

Everything is counted within one lane of one scope. A word's holders are read newest first and never
beyond a budget, so that a question costs the same whether its words are rare or stand everywhere.
"""

import json
from collections.abc import Sequence
from math import log
from typing import NamedTuple

from silas.db import Tx
from silas.memory.partitions import ScopePartition
from silas.memory.terms import Term

_TERMS = 12  # the rarest words decide; the others would only cost
_BUDGET = 1_000  # holders read of all words of a question, each word's share the same
_FEWEST, _MOST = 64, 500  # holders read of one word, whatever its share; of one of them the most
_TELLING = 0.8  # weight of a word that nearly half of all hold: which of them are read says little
_APART = bytes(n if n > 127 or chr(n).isalnum() else 32 for n in range(256))
_RARE = 2  # rare words that are enough to find a memory by


class RecallQuery(NamedTuple):
    """What is asked, as far as somebody holds words of it.

    Attributes:
        words: The words that somebody holds, the rarest first.
        weight: What all its words tell together, those that nobody holds included.
    """

    words: list["TermPostings"]
    weight: float


class TermPostings(NamedTuple):
    """A word and who holds it.

    Attributes:
        term: The word.
        places: Holders.
        since: Where reading stopped: whoever holds the word from here on is among `places`.
        weight: How much the word tells: the more, the rarer it is.
        spelt: What the word begins with in a text that lies before `since`, roughly.
    """

    term: Term
    places: set[int]
    since: int
    weight: float
    spelt: tuple[bytes, ...]


def postings_of(tx: Tx, scope: ScopePartition, terms: Sequence[Term]) -> RecallQuery:
    """Who holds the words of a question."""
    share = min(_MOST, max(_FEWEST, _BUDGET // max(1, len(terms))))
    held = [_postings_of(tx, scope, term, share) for term in terms]
    found = sorted((word for word in held if word.places), key=lambda word: -word.weight)[:_TERMS]
    common = [n for n, word in enumerate(found) if word.since > scope.first]
    if common and share < _MOST and found[common[0]].weight > _TELLING:
        rarest = found[common[0]] = _postings_of(tx, scope, found[common[0]].term, _MOST)
        common = common if rarest.since > scope.first else common[1:]
    if len(common) > 1 and len(found) - len(common) < _RARE:
        _add_shared(tx, scope, found[common[0]], found[common[1]])
    unheld = min(len(terms), _TERMS) - len(found)
    return RecallQuery(found, sum(word.weight for word in found) + unheld * _weight(scope, 0))


def _postings_of(tx: Tx, scope: ScopePartition, term: Term, most: int) -> TermPostings:
    """A word and its newest holders, at most so many."""
    places = _newest(tx, scope, term.query, most)
    since = scope.first if len(places) < most else min(places)
    spelt = tuple({_spelt(form).encode(errors="replace").translate(_APART) for form in term.forms})
    return TermPostings(
        term, set(places), since, _weight(scope, _how_many(scope, places, most)), spelt
    )


def normalise_text(text: str) -> bytes:
    """A text for `holds` and `how_often`: in lower case, blanks for what is no letter or digit."""
    return b" " + text.lower().encode(errors="replace").translate(_APART)


def holds(word: TermPostings, text: bytes) -> bool:
    """Whether a text that was not read for a word holds it, as far as its spelling tells."""
    return any(spelt in text for spelt in word.spelt)


def how_often(word: TermPostings, text: bytes) -> int:
    """How often a text that holds a word has it, as far as its spelling tells; at least once."""
    many = 0
    for spelt in word.spelt:
        many += text.count(spelt)
    return many or 1


def _add_shared(tx: Tx, scope: ScopePartition, one: TermPostings, other: TermPostings) -> None:
    """To words too common to be read whole, those that hold both of them together."""
    both = f"({one.term.query}) AND ({other.term.query})"
    places = _newest(tx, scope, both, _FEWEST)
    for word in (one, other):
        word.places.update(places)


def _weight(scope: ScopePartition, many: float) -> float:
    return log(1 + (scope.items - many + 0.5) / (many + 0.5))


def _newest(tx: Tx, scope: ScopePartition, query: str, most: int) -> list[int]:
    """The newest places of a lane that a query finds, at most so many."""
    (places,) = tx.run(
        scope.lane.words.newest, query=query, first=scope.first, last=scope.last, limit=most
    ).fetchone()
    return json.loads(f"[{places or ''}]")


def _how_many(scope: ScopePartition, places: Sequence[int], most: int) -> float:
    """How many hold a word: counted, or where reading stopped at `most`, as dense as it was."""
    if len(places) < most:
        return len(places)
    share = len(places) / (scope.last - min(places) + 1)
    return max(len(places), min(scope.items, share * scope.items))


def _spelt(form: str) -> str:
    """What a word begins with in a text, whatever regular form it has there."""
    if " " in form:  # a pair of signs, which no blank comes before
        return form.replace(" ", "")
    for ending in ("ing", "ed", "es", "s", "e", "y"):
        if form.endswith(ending) and len(form) - len(ending) >= 4:
            return f" {form.removesuffix(ending)}"
    return f" {form}"
