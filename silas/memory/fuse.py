"""One list of what was found by words and of what was found by meaning.

A score of the one says nothing beside a score of the other. What can be compared is how far a
result stands out from its own list: a rare name in one memory stands far out by words, a paraphrase
by meaning, and where nothing does, nothing pretends to. Adding up ranks, as is often done, gives
the weaker channel as much say as the better one.

What was said around a memory counts for its meaning, too. So meaning speaks twice: by a memory
alone, where only what stands far out counts, and by a memory in its talk. And what fits by words
fits better where it means the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, pstdev

from silas.memory.neighbours import Neighbours

Scores = Sequence[tuple[str, float]]
"""Names of what was found with their scores, best first."""

_ALONE = 0.16  # of a deviation squared by meaning: three of them weigh one and a half by words
_IN_TALK = 0.3  # of a deviation by meaning, with what was said around it
_NEARER = 2.0  # how much more what fits by words counts where it means the very same
_COVERED = 0.5  # the share of a question that its words must cover to have their whole say
_BEFORE, _AFTER = 0.3, 0.1  # what the likeness of the memory before and after one is worth to it
_ANSWER = 0.3  # more than that of the one before where it asks something: this one answers it


def fuse_rankings(
    by_words: Scores,
    covered: float,
    by_meaning: Scores,
    in_talk: Mapping[str, float],
    depth: int,
) -> Scores:
    """What was found either way, best first, with scores of 0 and more.

    Args:
        by_words: Found by words.
        covered: The share of the question that the best of them covers.
        by_meaning: Found by meaning.
        in_talk: How near memories are in meaning together with what was said around them.
        depth: How many of each were asked for: fewer by words means that no others hold any.
    """
    said = min(1.0, covered / _COVERED)
    nearer = _best((n, score * (1 + _NEARER * in_talk.get(n, 0.0))) for n, score in by_words)
    meant = {name: _ALONE * far**2 for name, far in _standing_out(by_meaning, len(by_meaning))}
    around = _best(in_talk.items())[:depth]
    for name, far in _standing_out(around, len(around)):
        meant[name] = max(meant.get(name, 0.0), _IN_TALK * far)
    for name, far in _standing_out(nearer, depth):
        meant[name] = meant.get(name, 0.0) + said * far
    return _best(meant.items())


def in_talk(talk: Neighbours, likeness: Mapping[str, float]) -> dict[str, float]:
    """How near each memory of a talk is to a question, with what was said right around it.

    Args:
        talk: Memories and their neighbours.
        likeness: The cosine of each; whoever has none, or no neighbour, counts as the mean.
    """
    like = {
        place: max(0.0, likeness[t.memory_id])
        for place, t in talk.turns.items()
        if t.memory_id in likeness
    }
    if not like:
        return {}
    usual = fmean(like.values())
    near: dict[str, float] = {}
    for place, own in like.items():
        before, after = talk.before(place), talk.after(place)
        asked = _ANSWER if before is not None and talk.asks(before) else 0.0
        near[talk.turns[place].memory_id] = (
            own
            + (_BEFORE + asked) * like.get(before or 0, usual)
            + _AFTER * like.get(after or 0, usual)
        )
    return near


def _best(scores: Iterable[tuple[str, float]]) -> Scores:
    return sorted(scores, key=lambda scored: -scored[1])


def _standing_out(found: Scores, depth: int) -> Scores:
    """How many deviations a score lies above the mean of `depth` scores; 0 for those below it."""
    scores = [score for _, score in found] + [0.0] * (depth - len(found))
    if len(scores) < 2 or (spread := pstdev(scores)) == 0.0:
        return [(name, 1.0) for name, _ in found]
    mean = fmean(scores)
    return [(name, max(0.0, (score - mean) / spread)) for name, score in found]
