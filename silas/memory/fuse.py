"""One list of what was found by words and of what was found by meaning.

A score of the one says nothing beside a score of the other. What can be compared is how far a
result stands out from its own list: a rare name in one memory stands far out by words, a paraphrase
by meaning, and where nothing does, nothing pretends to. Adding up ranks, as is often done, gives
the weaker channel as much say as the better one.
"""

from collections.abc import Sequence
from statistics import fmean, pstdev

Scores = Sequence[tuple[str, float]]
"""Names of what was found with their scores, best first."""

_MEANING = 0.5  # of what standing out by words is worth
_COVERED = 0.5  # the share of a question that its words must cover to have their whole say


def fused(by_words: Scores, covered: float, by_meaning: Scores, depth: int) -> Scores:
    """What was found either way, best first, with scores of 0 and more.

    Args:
        by_words: Found by words.
        covered: The share of the question that the best of them covers.
        by_meaning: Found by meaning.
        depth: How many of each were asked for: fewer by words means that no others hold any.
    """
    said = min(1.0, covered / _COVERED)
    scores = {name: said * far for name, far in _standing_out(by_words, depth)}
    for name, far in _standing_out(by_meaning, len(by_meaning)):
        scores[name] = scores.get(name, 0.0) + _MEANING * far
    return sorted(scores.items(), key=lambda scored: -scored[1])


def _standing_out(found: Scores, depth: int) -> Scores:
    """How many deviations a score lies above the mean of `depth` scores; 0 for those below it."""
    scores = [score for _, score in found] + [0.0] * (depth - len(found))
    if len(scores) < 2 or (spread := pstdev(scores)) == 0.0:
        return [(name, 1.0) for name, _ in found]
    mean = fmean(scores)
    return [(name, max(0.0, (score - mean) / spread)) for name, score in found]
