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
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from silas.db import Tx
from silas.memory.holders import Held, Question, holders, holds, how_often
from silas.memory.lanes import Scope
from silas.memory.talk import Talk, kept_of, talk_around
from silas.memory.terms import terms

_DEEP = 1_000  # memories with the best words, among which those are looked for that were kept
_ONE_THING = 300  # characters
_LONG = 2 * _ONE_THING  # where texts are that long on average, a conversation is one with a model
_SATURATION, _BY_LENGTH = 1.2, 0.75  # BM25's k1 and b
_SEEDS = 24  # memories with the best words of their own, whose neighbours are looked at
_LENT_ON = (0.6, 0.3)  # what a word is worth to the next memory of a talk, and to the one after it
_LENT_BACK = (0.2, 0.1)  # and to the ones before
_LEAST = 0.02  # what a neighbour lends is not counted below that
_ANSWER = 0.4  # more than that to the next one where a question holds it: what follows answers it


class Fitting(NamedTuple):
    """What fits a text.

    Attributes:
        found: Memories, best first.
        covered: How much of the text the best of them holds: 1 where it and its neighbours hold
            every word, 0 where nobody holds any.
    """

    found: list["Scored"]
    covered: float


class Scored(NamedTuple):
    """A memory that fits, and how well: the more, the better."""

    place: int
    memory_id: str
    score: float


def best_of(tx: Tx, scope: Scope, text: str, limit: int, now: str, *, neighbours: bool) -> Fitting:
    """The memories of a lane that fit a text and are valid now, best first.

    Args:
        tx: The look.
        scope: Where to look.
        text: What is asked.
        limit: At most so many.
        now: The moment that decides what is valid.
        neighbours: Whether a memory may be found that holds no word of the text itself.
    """
    held, asked = holders(tx, scope, terms(text)) if scope.items else Question([], 0.0)
    if not held:
        return Fitting([], 0.0)
    own: dict[int, float] = defaultdict(float)
    for word in held:
        weight = word.weight
        for place in word.places:
            own[place] += weight
    newest = sorted(own, reverse=True)
    best = sorted(newest, key=own.__getitem__, reverse=True)[:_DEEP]
    usual = max(_ONE_THING, scope.usual)
    first = max(_SEEDS, 2 * limit)
    # a long text holds many words of a question by chance: more of them are read, by themselves
    more = best[first : 2 * first] if usual > _LONG else []
    seeds = [*best[:first], *kept_of(tx, best[first:])[:_SEEDS]]
    talk = talk_around(tx, scope, seeds, now, alone=more)
    words_of = _words_of(talk, held)
    wanted = talk.turns if neighbours else [s for s in (*seeds, *more) if s in talk.turns]
    fits = _scores(wanted, talk, held, words_of, usual)
    worth = ((score * talk.turns[place].worth, place) for place, score in fits.items() if score > 0)
    ordered = nlargest(limit, worth)
    found = [Scored(place, talk.turns[place].memory_id, score) for score, place in ordered]
    whole = (1 + (_ONE_THING / usual) ** 2) * asked
    return Fitting(found, min(1.0, fits[found[0].place] / whole) if found else 0.0)


def _words_of(talk: Talk, held: Sequence[Held]) -> Mapping[int, list[int]]:
    """Which words of the question each memory holds, by their number."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, word in enumerate(held):
        for place in talk.turns.keys() & word.places:
            found[place].append(number)
        for place in talk.turns:
            unread = place < word.since and place not in word.places
            if unread and holds(word, talk.plain(place)):
                found[place].append(number)
    return found


def _scores(
    places: Iterable[int],
    talk: Talk,
    held: Sequence[Held],
    words_of: Mapping[int, Sequence[int]],
    usual: float,
) -> dict[int, float]:
    """The weight of the words that a memory and its neighbours hold.

    Twice that where they hold all; the longer texts are here, the less that says, because a long
    text holds many words by chance.
    """
    weights = [word.weight for word in held]
    asked = sum(weights)
    surprising = (_ONE_THING / usual) ** 2
    told = {
        place: _told(talk, place, [held[number] for number in numbers], usual)
        for place, numbers in words_of.items()
    }
    scores: dict[int, float] = {}
    for place in places:
        worth = [0.0] * len(weights)
        own = _long(talk, place)
        for near, share in _shares(place, talk):
            if near not in words_of:
                continue
            # what is long stands for itself: it neither needs nor lends as much
            part = share if near == place else share / (own * _long(talk, near))
            if part < _LEAST:
                continue
            for number, tells in zip(words_of[near], told[near], strict=True):
                worth[number] += part * tells
        score = covered = 0.0
        for weight, found in zip(weights, worth, strict=True):
            score += weight * found
            covered += weight * min(1.0, found)
        scores[place] = score * (1 + surprising * covered / asked) if score else 0.0
    return scores


def _told(talk: Talk, place: int, held: Sequence[Held], usual: float) -> list[float]:
    """What each of these words tells of a text that holds it: 1 for one word in a usual text.

    BM25's saturation by length. In what says one thing a word counts once, however often it stands
    there.
    """
    length = max(_ONE_THING, len(talk.turns[place].text))
    damping = _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * length / usual)
    if length == _ONE_THING:
        return [(_SATURATION + 1) / (1 + damping)] * len(held)
    text = talk.plain(place)
    often = (how_often(word, text) for word in held)
    return [many * (_SATURATION + 1) / (many + damping) for many in often]


def _long(talk: Talk, place: int) -> float:
    """How many times as long a text is as one that says one thing."""
    return max(1.0, len(talk.turns[place].text) / _ONE_THING)


def _shares(place: int, talk: Talk) -> list[tuple[int, float]]:
    """A memory and its neighbours, each with what a word of it is worth here."""
    shares = [(place, 1.0)]
    near = place
    for share in _LENT_ON:
        before = talk.before(near)
        if before is None:
            break
        answers = near == place and talk.asks(before)
        shares.append((before, share + (_ANSWER if answers else 0.0)))
        near = before
    near = place
    for share in _LENT_BACK:
        after = talk.after(near)
        if after is None:
            break
        shares.append((after, share))
        near = after
    return shares
