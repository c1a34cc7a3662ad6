"""What the context asks of a model when rules alone do not make enough room (spec 5.7)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from silas.context.models import ContextItem

Ids = tuple[str, ...]


class ScorerGroups(NamedTuple):
    """Advice about groups of items that belong together; never an order.

    Attributes:
        keep: Groups that should stay.
        evict: Groups that may go, the least valuable first.
        missing: Why there is no advice: it took too long, or there is nobody to ask. Else empty.
    """

    keep: tuple[Ids, ...] = ()
    evict: tuple[Ids, ...] = ()
    missing: str = ""


Scorer = Callable[[str, str, Sequence[ContextItem]], Awaitable[ScorerGroups]]
"""(current goal, recent turns, items that may leave) to groups of their ids; never raises."""


async def no_scorer(goal: str, recent: str, items: Sequence[ContextItem]) -> ScorerGroups:
    """Nobody is asked: deterministic eviction does it all."""
    return ScorerGroups()
