"""One scope's context, and how full it is."""

from dataclasses import dataclass, field
from typing import NamedTuple

from silas.context.breaker import CircuitBreaker
from silas.context.models import ContextItem
from silas.context.scope_items import ScopeItems
from silas.context.subscribe import Subscriptions


class ContextPressure(NamedTuple):
    """How full a context is.

    Attributes:
        used: Tokens of everything in view, fixed parts of the prompts included.
        limit: What may be used before something has to leave.
        held: Tokens of what can never be evicted.
    """

    used: int
    limit: int
    held: int

    @property
    def over(self) -> bool:
        """Whether it is too full, so that a larger window or fewer standing rules are needed."""
        return self.used > self.limit


@dataclass(slots=True)
class ScopeView:
    """Everything that a manager keeps of one scope.

    Attributes:
        profile: Name of the division in force.
        breaker: Whether the scorer is left alone for this scope.
        results: Ids of tool results that are shown whole.
        trifles: Ids of short acknowledgements that leave with the next turn.
        asked: Whether the last message ended in a question.
        left: Originals that were masked and are not handed out yet.
        over: Whether it is known already that the context is too full.
    """

    profile: str
    subscriptions: Subscriptions
    breaker: CircuitBreaker
    slots: ScopeItems = field(default_factory=ScopeItems)
    results: list[str] = field(default_factory=list[str])
    trifles: list[str] = field(default_factory=list[str])
    asked: bool = False
    left: list[ContextItem] = field(default_factory=list[ContextItem])
    over: bool = False
