"""Who holds the words of a question, and how much each word tells (decision A17).

Everything is counted within one lane of one scope. A word's holders are read newest first and never
beyond a budget, so that a question costs the same whether its words are rare or stand everywhere.
"""

import re
from collections.abc import Sequence
from math import log
from typing import NamedTuple

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
        spelt: Finds the word, roughly, in a text that lies before `since`.
    """

    places: frozenset[int]
    since: int
    weight: float
    spelt: re.Pattern[str]


def holders(tx: Tx, scope: Scope, terms: Sequence[Term]) -> list[Held]:
    """The words of a question that somebody holds, the rarest first."""
    if not scope.items:
        return []
    probed = [(term, _read(tx, scope, term, _PROBE)) for term in terms]
    known = [(_estimate(scope, places, _PROBE), term, places) for term, places in probed if places]
    known.sort(key=lambda each: each[0])
    found: list[Held] = []
    left = _BUDGET
    for _, term, probe in known[:_TERMS]:
        most = min(_HOLDERS, max(left, _PROBE))
        full = len(probe) == _PROBE and most > _PROBE
        places = _read(tx, scope, term, most) if full else probe
        left -= len(places)
        all_read = len(places) < (most if full else _PROBE)
        many = _estimate(scope, places, len(places) + all_read)
        found.append(
            Held(
                frozenset(places),
                scope.first if all_read else places[-1],
                log(1 + (scope.items - many + 0.5) / (many + 0.5)),
                _spelt(term),
            )
        )
    return found


def _read(tx: Tx, scope: Scope, term: Term, most: int) -> list[int]:
    rows = tx.driver.execute(
        f"SELECT rowid FROM {scope.lane.words} WHERE {scope.lane.words} MATCH ? "  # noqa: S608
        "AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
        (term.query, scope.first, scope.last, most),
    ).fetchall()
    return [row[0] for row in rows]


def _estimate(scope: Scope, places: Sequence[int], most: int) -> float:
    """How many hold a word: counted, or where reading stopped at `most`, as dense as it was."""
    if len(places) < most:
        return len(places)
    share = len(places) / (scope.last - places[-1] + 1)
    return max(len(places), min(scope.items, share * scope.items))


def _spelt(term: Term) -> re.Pattern[str]:
    roots = "|".join(re.escape(_root(form)) for form in term.forms)
    return re.compile(rf"(?<!\w)(?:{roots})", re.IGNORECASE)


def _root(word: str) -> str:
    """What the forms of a regular word begin with."""
    for ending in ("ing", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
