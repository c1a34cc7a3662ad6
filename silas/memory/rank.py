"""Which memories fit a text by its words, and how well: from the scope's own statistics alone.

SQLite's own `bm25()` counts over the whole index, all scopes together; what one scope says would
change what another one finds. A short memory says one thing, so that a word counts once however
often it stands there; what tells more is how much of the question a memory and its neighbours hold
together. The longer texts are, the more they are ranked as documents are: by how often a word
stands there, by their length beside the usual one of the lane (BM25), and less by neighbours. What
was told to be remembered comes before what was only said, or talk about the same things would crowd
it out.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from silas.db import Tx
from silas.memory.neighbours import ONE_THING, Neighbours, neighbours_around, standalone_of
from silas.memory.partitions import ScopePartition
from silas.memory.postings import RecallQuery, TermPostings, holds, how_often, postings_of
from silas.memory.terms import terms

_DEEP = 1_000  # memories with the best words, among which those are looked for that were kept
_LONG = 2 * ONE_THING  # where texts are that long on average, a conversation is one with a model
_SATURATION, _BY_LENGTH = 1.2, 0.75  # BM25's k1 and b
_SEEDS = 24  # memories with the best words of their own, whose neighbours are looked at
_LENT_ON = (0.6, 0.3)  # what a word is worth to the next memory of a talk, and to the one after it
_LENT_BACK = (0.2, 0.1)  # and to the ones before
_OWN = 0.4  # of the best one's words: where texts are long, a neighbour with less is not found
_LEAST = 0.02  # what a neighbour lends is not counted below that
_ANSWER = 0.4  # more than that to the next one where a question holds it: what follows answers it


class TextMatches(NamedTuple):
    """What fits a text.

    Attributes:
        found: Memories, best first.
        covered: How much of the text the best of them holds: 1 where it and its neighbours hold
            every word, 0 where nobody holds any.
    """

    found: list["ScoredMemory"]
    covered: float


class ScoredMemory(NamedTuple):
    """A memory that fits, and how well: the more, the better."""

    place: int
    memory_id: str
    score: float


def best_of(
    tx: Tx, scope: ScopePartition, text: str, limit: int, now: str, *, neighbours: bool
) -> TextMatches:
    """The memories of a lane that fit a text and are valid now, best first.

    Args:
        tx: The look.
        scope: Where to look.
        text: What is asked.
        limit: At most so many.
        now: The moment that decides what is valid.
        neighbours: Whether a memory may be found that holds no word of the text itself.
    """
    held, asked = postings_of(tx, scope, terms(text)) if scope.items else RecallQuery([], 0.0)
    if not held:
        return TextMatches([], 0.0)
    own: dict[int, float] = defaultdict(float)
    for word in held:
        weight = word.weight
        for place in word.places:
            own[place] += weight
    newest = sorted(own, reverse=True)
    best = sorted(newest, key=own.__getitem__, reverse=True)[:_DEEP]
    usual = max(ONE_THING, scope.usual)
    first = max(_SEEDS, 2 * limit)
    # a long text holds many words of a question by chance: more of them are read, by themselves
    more = best[first : 2 * first] if usual > _LONG else []
    seeds = [*best[:first], *standalone_of(tx, best[first:])[:_SEEDS]]
    talk = neighbours_around(tx, scope, seeds, now, alone=more)
    words_of = _words_of(talk, held)
    wanted = talk.turns if neighbours else [s for s in (*seeds, *more) if s in talk.turns]
    if usual > _LONG:
        least = _OWN * own[best[0]]
        wanted = _standing(wanted, {*seeds, *more}, held, words_of, least)
    fits = _scores(wanted, talk, held, words_of, usual)
    worth = ((score * talk.turns[place].worth, place) for place, score in fits.items() if score > 0)
    ordered = nlargest(limit, worth)
    found = [ScoredMemory(place, talk.turns[place].memory_id, score) for score, place in ordered]
    whole = (1 + (ONE_THING / usual) ** 2) * asked
    return TextMatches(found, min(1.0, fits[found[0].place] / whole) if found else 0.0)


def _words_of(talk: Neighbours, held: Sequence[TermPostings]) -> Mapping[int, list[int]]:
    """Which words of the question each memory holds, by their number."""
    found: dict[int, list[int]] = defaultdict(list)
    places = talk.turns.keys()
    first = min(places, default=0)
    for number, word in enumerate(held):
        for place in places & word.places:
            found[place].append(number)
        if word.since <= first:
            continue
        for place in places - word.places:
            if place < word.since and holds(word, talk.plain(place)):
                found[place].append(number)
    return found


def _standing(
    wanted: Iterable[int],
    best: Container[int],
    held: Sequence[TermPostings],
    words_of: Mapping[int, Sequence[int]],
    least: float,
) -> list[int]:
    """The best, and of their neighbours those whose own words weigh enough to be found by."""
    return [
        place
        for place in wanted
        if place in best or sum(held[number].weight for number in words_of.get(place, ())) >= least
    ]


def _scores(
    places: Iterable[int],
    talk: Neighbours,
    held: Sequence[TermPostings],
    words_of: Mapping[int, Sequence[int]],
    usual: float,
) -> dict[int, float]:
    """The weight of the words that a memory and its neighbours hold.

    Twice that where they hold all; the longer texts are here, the less that says, because a long
    text holds many words by chance.
    """
    weights = [word.weight for word in held]
    asked = sum(weights)
    surprising = (ONE_THING / usual) ** 2
    told: dict[int, list[tuple[int, float]]] = {}
    scores: dict[int, float] = {}
    for place in places:
        worth = [0.0] * len(weights)
        for near, part in _parts(place, talk, words_of):
            if near not in told:
                told[near] = _weigh_terms(talk, near, words_of[near], held, usual)
            for number, tells in told[near]:
                worth[number] += part * tells
        score = covered = 0.0
        for weight, found in zip(weights, worth, strict=True):
            if found:
                score += weight * found
                covered += weight * found if found < 1.0 else weight
        scores[place] = score * (1 + surprising * covered / asked) if score else 0.0
    return scores


def _weigh_terms(
    talk: Neighbours, place: int, numbers: Sequence[int], held: Sequence[TermPostings], usual: float
) -> list[tuple[int, float]]:
    """What each of these words tells of a text that holds it: 1 for one word in a usual text.

    BM25's saturation by length. In what says one thing a word counts once, however often it stands
    there.
    """
    long = talk.long(place)
    damping = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * long * ONE_THING / usual)
    if long == 1.0:
        once = (_SATURATION + 1) / (1 + damping)
        return [(number, once) for number in numbers]
    text = talk.plain(place)
    often = [(number, how_often(held[number], text)) for number in numbers]
    return [(number, many * (_SATURATION + 1) / (many + damping)) for number, many in often]


def _parts(place: int, talk: Neighbours, words_of: Container[int]) -> list[tuple[int, float]]:
    """Of a memory and its neighbours those that hold a word, and what one of theirs is worth here.

    What is long stands for itself: it neither needs nor lends as much.
    """
    parts = [(place, 1.0)] if place in words_of else []
    own = talk.long(place)
    near = place
    for share in _LENT_ON:
        before = talk.before(near)
        if before is None:
            break
        if before in words_of:
            answers = near == place and talk.asks(before)
            part = (share + (_ANSWER if answers else 0.0)) / (own * talk.long(before))
            if part >= _LEAST:
                parts.append((before, part))
        near = before
    near = place
    for share in _LENT_BACK:
        after = talk.after(near)
        if after is None or share < _LEAST * own:
            break
        if after in words_of and (part := share / (own * talk.long(after))) >= _LEAST:
            parts.append((after, part))
        near = after
    return parts
