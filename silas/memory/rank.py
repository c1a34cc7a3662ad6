"""Which memories fit a text by its words, and how well: from the scope's own statistics alone.

SQLite's own `bm25()` counts over the whole index, all scopes together; what one scope says would
change what another one finds.
"""

from collections.abc import Iterator
from datetime import datetime
from math import log
from typing import NamedTuple

from silas.db import Tx
from silas.memory.lanes import Scope
from silas.memory.models import MemoryItem, Ranked
from silas.memory.rows import COLUMNS, item_of
from silas.memory.terms import quoted, words

_HOLDERS = 2_000  # memories looked at for one word, the newest first; of a common word not all
_AT_ONCE = 64  # memories loaded in one statement


class Holders(NamedTuple):
    """Who holds a word: their places, the newest first, and what the word is worth."""

    places: list[int]
    weight: float


def best_of(tx: Tx, scope: Scope, text: str, limit: int, now: datetime) -> list[Ranked]:
    """The memories of a lane that fit a text and are valid now, best first."""
    scores: dict[int, float] = {}
    for word in words(text):
        held = _holders(tx, scope, word)
        for place in held.places:
            scores[place] = scores.get(place, 0.0) + held.weight
    ordered = sorted(scores, key=lambda place: (-scores[place], -place))
    found: list[Ranked] = []
    for place, item in _load(tx, ordered):
        if len(found) >= limit:
            break
        if is_valid(item, now):
            found.append(Ranked(item, scores[place]))
    best = found[0].relevance if found else 1.0
    return [Ranked(item, score / best) for item, score in found]


def is_valid(item: MemoryItem, now: datetime) -> bool:
    """Whether a memory holds at this moment."""
    begun = item.valid_from is None or item.valid_from <= now
    return begun and (item.valid_until is None or now < item.valid_until)


def _holders(tx: Tx, scope: Scope, word: str) -> Holders:
    rows = tx.driver.execute(
        f"SELECT rowid FROM {scope.lane.words} WHERE {scope.lane.words} MATCH ? "  # noqa: S608
        "AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
        (quoted(word), scope.first, scope.last, _HOLDERS),
    ).fetchall()
    places = [row[0] for row in rows]
    return Holders(places, log(1 + (scope.items - len(places) + 0.5) / (len(places) + 0.5)))


def _load(tx: Tx, places: list[int]) -> Iterator[tuple[int, MemoryItem]]:
    for start in range(0, len(places), _AT_ONCE):
        batch = places[start : start + _AT_ONCE]
        rows = tx.driver.execute(
            f"SELECT place, {COLUMNS} FROM memory_items "  # noqa: S608 - names of fields
            f"WHERE place IN ({', '.join('?' * len(batch))})",
            batch,
        ).fetchall()
        items = {row[0]: item_of(row[1:]) for row in rows}
        yield from ((place, items[place]) for place in batch if place in items)
