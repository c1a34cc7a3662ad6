"""Who holds the words of a question, and how much each word tells (decision A17).

Everything is counted within one lane of one scope. A word's holders are read newest first and never
beyond a budget, so that a question costs the same whether its words are rare or stand everywhere.
"""

from collections.abc import Sequence
from itertools import islice
from math import log
from typing import Any, NamedTuple

from silas.db import Tx
from silas.memory.lanes import Scope
from silas.memory.terms import Term

_PROBE = 128  # holders read of every word, to see how rare it is
_TERMS = 12  # the rarest words decide; the others would only cost
_HOLDERS = 1_000  # holders read of one word
_BUDGET = 6_000  # holders read of all words of a question


class Held(NamedTuple):
    """A word and who holds it.

    Attributes:
        places: Holders, the newest first.
        since: Where reading stopped: whoever holds the word from here on is among `places`.
        weight: How much the word tells: the more, the rarer it is.
        spelt: What the word begins with in a text that lies before `since`, roughly.
    """

    places: list[int]
    since: int
    weight: float
    spelt: tuple[str, ...]


def holders(tx: Tx, scope: Scope, terms: Sequence[Term]) -> list[Held]:
    """The words of a question that somebody holds, the rarest first."""
    if not scope.items:
        return []
    probed: list[tuple[float, Term, list[int], Any]] = []
    for term in terms:
        reading = _reading(tx, scope, term)
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
        weight = log(1 + (scope.items - many + 0.5) / (many + 0.5))
        found.append(Held(places, since, weight, tuple(f" {_root(form)}" for form in term.forms)))
    for *_, reading in probed:
        reading.close()  # one that is not read to its end would hold on to this state of the tables
    return found


def holds(word: Held, text: str) -> bool:
    """Whether a text that was not read for a word holds it, as far as its spelling tells."""
    return any(spelt in text for spelt in word.spelt)


def _reading(tx: Tx, scope: Scope, term: Term) -> Any:
    return tx.driver.execute(
        f"SELECT rowid FROM {scope.lane.words} WHERE {scope.lane.words} MATCH ? "  # noqa: S608
        "AND rowid BETWEEN ? AND ? ORDER BY rowid DESC",
        (term.query, scope.first, scope.last),
    )


def _how_many(scope: Scope, places: Sequence[int], most: int) -> float:
    """How many hold a word: counted, or where reading stopped at `most`, as dense as it was."""
    if len(places) < most:
        return len(places)
    share = len(places) / (scope.last - places[-1] + 1)
    return max(len(places), min(scope.items, share * scope.items))


def _root(word: str) -> str:
    """What the forms of a regular word begin with."""
    for ending in ("ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
