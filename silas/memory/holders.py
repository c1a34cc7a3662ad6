"""Who holds the words of a question, and how much each word tells (decision A17).

Everything is counted within one lane of one scope. A word's holders are read newest first and never
beyond a budget, so that a question costs the same whether its words are rare or stand everywhere.
"""

from collections.abc import Sequence
from itertools import combinations, islice
from math import log
from typing import Any, NamedTuple

from silas.db import Tx
from silas.memory.lanes import Scope
from silas.memory.terms import Term

_PROBE = 64  # holders read of every word, to see how rare it is
_TERMS = 12  # the rarest words decide; the others would only cost
_HOLDERS = 500  # holders read of one word
_RARE = 2  # rare words that are enough to find a memory by
_PAIRED = 3  # where there are fewer, so many of the common ones are looked up in pairs
_BUDGET = 1_000  # holders read of all words of a question


class Question(NamedTuple):
    """What is asked, as far as somebody holds words of it.

    Attributes:
        words: The words that somebody holds, the rarest first.
        weight: What all its words tell together, those that nobody holds included.
    """

    words: list["Held"]
    weight: float


class Held(NamedTuple):
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
    spelt: tuple[str, ...]


def holders(tx: Tx, scope: Scope, terms: Sequence[Term]) -> Question:
    """Who holds the words of a question."""
    probed: list[tuple[float, Term, list[int], Any]] = []
    for term in terms if scope.items else ():
        reading = _reading(tx, scope, term.query)
        places = [row[0] for row in reading.fetchmany(_PROBE)]
        if places:
            probed.append((_how_many(scope, places, _PROBE), term, places, reading))
    probed.sort(key=lambda each: each[0])
    found: list[Held] = []
    left = _BUDGET
    for _, term, probe, reading in probed[:_TERMS]:
        most = min(_HOLDERS, max(left, _PROBE))
        places = probe + [row[0] for row in islice(reading, most - _PROBE)]
        left -= len(places)
        many = _how_many(scope, places, most)
        since = scope.first if len(places) < most else places[-1]
        spelt = tuple(_spelt(form) for form in term.forms)
        found.append(Held(term, set(places), since, _weight(scope, many), spelt))
    for *_, reading in probed:
        reading.close()  # one that is not read to its end would hold on to this state of the tables
    common = [word for word in found if word.since > scope.first]
    if len(found) - len(common) < _RARE:
        _add_shared(tx, scope, common)
    unheld = min(len(terms), _TERMS) - len(found)
    return Question(found, sum(word.weight for word in found) + unheld * _weight(scope, 0))


def holds(word: Held, text: str) -> bool:
    """Whether a text that was not read for a word holds it, as far as its spelling tells."""
    return any(spelt in text for spelt in word.spelt)


def _add_shared(tx: Tx, scope: Scope, common: Sequence[Held]) -> None:
    """To words too common to be read whole, those that hold two of the rarest of them together."""
    for one, other in combinations(common[:_PAIRED], 2):
        both = f"({one.term.query}) AND ({other.term.query})"
        reading = _reading(tx, scope, both)
        places = [row[0] for row in reading.fetchmany(_PROBE)]
        reading.close()
        for word in (one, other):
            word.places.update(places)


def _weight(scope: Scope, many: float) -> float:
    return log(1 + (scope.items - many + 0.5) / (many + 0.5))


def _reading(tx: Tx, scope: Scope, query: str) -> Any:
    return tx.driver.execute(
        f"SELECT rowid FROM {scope.lane.words} WHERE {scope.lane.words} MATCH ? "  # noqa: S608
        "AND rowid BETWEEN ? AND ? ORDER BY rowid DESC",
        (query, scope.first, scope.last),
    )


def _how_many(scope: Scope, places: Sequence[int], most: int) -> float:
    """How many hold a word: counted, or where reading stopped at `most`, as dense as it was."""
    if len(places) < most:
        return len(places)
    share = len(places) / (scope.last - places[-1] + 1)
    return max(len(places), min(scope.items, share * scope.items))


def _spelt(form: str) -> str:
    """What a word begins with in a text, whatever regular form it has there."""
    if " " in form:  # a pair of signs, which no blank comes before
        return form.replace(" ", "")
    for ending in ("ing", "ed", "es", "s", "e", "y"):
        if form.endswith(ending) and len(form) - len(ending) >= 4:
            return f" {form.removesuffix(ending)}"
    return f" {form}"
