"""Whether a plan could succeed, asked before its owner is; what is wrong goes back to the planner.

What the built-in model proposes comes from the plan library, whose plans are Silas's own: nothing
of it is sent back (`TrustedPlans`). See decision D431.
"""

from typing import Final, Protocol

from silas.agents import PlanActionType
from silas.audit import Audit
from silas.plans import WorkItem
from silas.stream.propose import Proposer
from silas.stream.state import PlanReview, Turn
from silas.types import OWNER, TaintLevel

PROPOSALS: Final = frozenset({PlanActionType.propose, PlanActionType.revise})
"""Actions that bring a plan."""

MOST_RETURNS: Final = 2
"""How often a plan goes back before the owner is told that there is none."""

_SHOWN: Final = 20  # mistakes that are told at once
_SIZE: Final = 400  # characters of one


class ReviewPlans(Protocol):
    """Looks at what a planner proposes before anybody else does."""

    async def review(self, turn: Turn, markdown: str) -> PlanReview:
        """What is wrong with this plan, proposed in this turn."""
        ...


class TrustedPlans:
    """For a planner that instantiates the plans of the library."""

    async def review(self, turn: Turn, markdown: str) -> PlanReview:
        """Nothing is asked: what is wrong is told to the owner."""
        del turn, markdown
        return PlanReview()


class ModelPlans:
    """For a planner that is a language model."""

    def __init__(self, proposer: Proposer, audit: Audit) -> None:
        self._proposer = proposer
        self._audit = audit

    async def review(self, turn: Turn, markdown: str) -> PlanReview:
        """Everything that keeps this plan from being asked about, or from succeeding."""
        found = await self._found(turn, markdown)
        if found.mistakes:
            await self._audit.log("plan_faulty", turn_id=turn.id, reasons=list(found.mistakes))
        return found

    async def _found(self, turn: Turn, markdown: str) -> PlanReview:
        draft = self._proposer.draft(markdown)
        if draft.item is None:
            told = [one.message[:_SIZE] for one in draft.mistakes[:_SHOWN]]
            return PlanReview(tuple(told))
        unable = await self._unable(turn, draft.item)
        return PlanReview((unable,) if unable else ())

    async def _unable(self, turn: Turn, item: WorkItem) -> str:
        """Why it would be refused; which files there are is only told where the owner asks."""
        return await self._proposer.hindrance(item, look=is_owners(turn))


def is_owners(turn: Turn) -> bool:
    """Whether the words of a turn are the owner's, in his own conversation."""
    return turn.scope_id == OWNER and turn.taint is TaintLevel.owner
