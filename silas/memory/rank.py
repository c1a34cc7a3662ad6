"""Which memories fit a text by its words, and how well: from the scope's own statistics alone.

SQLite's own `bm25()` counts over the whole index, all scopes together; what one scope says would
change what another one finds. Memories are short, so that a word counts once however often it
stands there; what tells more is how much of the question a memory and its neighbours hold together.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from heapq import nlargest

from silas.db import Tx
from silas.memory.holders import Held, holders
from silas.memory.lanes import Scope
from silas.memory.models import MemoryItem, Ranked
from silas.memory.rows import COLUMNS, item_of, moment_text
from silas.memory.talk import Turn, turns_around
from silas.memory.terms import terms

_SEEDS = 60  # memories with the best words of their own, whose neighbours are looked at
_LENT_ON = (
    0.6,
    0.3,
)  # what a word is worth to the next memory of a conversation, and to the one after
_LENT_BACK = (0.2, 0.1)  # and to the ones before
_ANSWER = 0.4  # more than that to the next one where a question holds the word: that one answers it
_AT_ONCE = 64  # memories loaded in one statement


def best_of(
    tx: Tx, scope: Scope, text: str, limit: int, now: datetime, *, neighbours: bool
) -> list[Ranked]:
    """The memories of a lane that fit a text and are valid now, best first.

    Args:
        tx: The look.
        scope: Where to look.
        text: What is asked.
        limit: At most so many.
        now: The moment that decides what is valid.
        neighbours: Whether a memory may be found that holds no word of the text itself.
    """
    held = holders(tx, scope, terms(text))
    own: dict[int, float] = defaultdict(float)
    for word in held:
        for place in word.places:
            own[place] += word.weight
    seeds = nlargest(max(_SEEDS, 2 * limit), own, key=lambda place: (own[place], place))
    turns = turns_around(tx, scope, seeds, moment_text(now))
    scores = {
        place: score
        for place in (turns if neighbours else (seed for seed in seeds if seed in turns))
        if (score := _score(place, turns, held)) > 0
    }
    ordered = nlargest(limit, scores, key=lambda place: (scores[place], place))
    best = scores[ordered[0]] if ordered else 1.0
    return [Ranked(item, scores[place] / best) for place, item in _load(tx, ordered)]


def is_valid(item: MemoryItem, now: datetime) -> bool:
    """Whether a memory holds at this moment."""
    begun = item.valid_from is None or item.valid_from <= now
    return begun and (item.valid_until is None or now < item.valid_until)


def _score(place: int, turns: Mapping[int, Turn], held: Sequence[Held]) -> float:
    """The weight of the words that a memory and its neighbours hold; twice where they hold all."""
    shares = list(_shares(place, turns))
    score = covered = total = 0.0
    for word in held:
        total += word.weight
        worth = sum(share for near, share in shares if _holds(near, turns, word))
        score += word.weight * worth
        covered += word.weight * min(1.0, worth)
    return score * (1 + covered / total) if total else 0.0


def _shares(place: int, turns: Mapping[int, Turn]) -> Iterator[tuple[int, float]]:
    """A memory and its neighbours, each with what a word of it is worth here."""
    yield place, 1.0
    near = turns[place].before
    for step, share in enumerate(_LENT_ON):
        if near is None or near not in turns:
            break
        yield near, share + (_ANSWER if step == 0 and turns[near].asks else 0.0)
        near = turns[near].before
    near = turns[place].after
    for share in _LENT_BACK:
        if near is None or near not in turns:
            break
        yield near, share
        near = turns[near].after


def _holds(place: int, turns: Mapping[int, Turn], word: Held) -> bool:
    if place in word.places:
        return True
    return place < word.since and word.spelt.search(turns[place].text) is not None


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
