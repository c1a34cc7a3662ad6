"""What the planner is asked for on behalf of work: guidance, and another plan (spec 5.2.1 e).

Both are paid from the budget of the plan that the owner approved, and both are a help: where the
planner cannot be asked the work goes on, or ends, without it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple, Protocol

from silas.agents import ModelRunFailed
from silas.agents.call_scope import limit_waits
from silas.audit import Audit
from silas.clock import time_limit_until
from silas.errors import LLMError
from silas.plans import BudgetExhausted, BudgetTracker, Reservation, WorkItem
from silas.work.models import Advice, Advise
from silas.work.progress_board import ProgressBoard

CONSULTS = "consult_planner"
"""The `on_stuck` of a plan whose work may ask the planner."""

NO_ADVICE = Advice("", 0, 0.0)


class Revision(NamedTuple):
    """What asking for another plan led to.

    Attributes:
        words: What is told behind why the work ended; empty where there is no other plan.
        tokens, cost_usd: What it used, success or not.
    """

    words: str = ""
    tokens: int = 0
    cost_usd: float = 0.0


class Revise(Protocol):
    """Asks for a plan in place of one whose work ends without success; runs nothing of it."""

    def able(self, item: WorkItem) -> bool:
        """Whether anybody asked for this work who can be asked about another plan."""
        ...

    async def revise(self, item: WorkItem, failures: str, may_ask: Callable[[], bool]) -> Revision:
        """Ask the planner and keep what it proposes, for the owner to be asked about.

        Args:
            item: The work, which is about to end.
            failures: Why, with what it printed and reported: external text.
            may_ask: Counts one request to the planner; false where none is left.
        """
        ...


class Consulting:
    """Asks the planner within the budget of a piece of work."""

    def __init__(self, advise: Advise, revise: Revise, audit: Audit, board: ProgressBoard) -> None:
        self._advise = advise
        self._revise = revise
        self._audit = audit
        self._board = board

    async def guidance(self, item: WorkItem, failures: str, tracker: BudgetTracker) -> Advice:
        """What to try next; nothing where the planner cannot be asked."""
        left = tracker.remaining()
        tracker.charge(planner_calls=1)
        try:
            with tracker.reserve(tokens=left.tokens, cost_usd=left.cost_usd) as held:
                async with self._time_limit(item, tracker):
                    return await self._ask_advice(item, failures, held)
        except (TimeoutError, LLMError, BudgetExhausted) as error:
            await self._record_unasked("planner_advice_failed", item, error)
            return NO_ADVICE

    @asynccontextmanager
    async def _time_limit(self, item: WorkItem, tracker: BudgetTracker) -> AsyncGenerator[None]:
        """Break off what takes longer than is left; a wait for the limit of requests is not it."""
        with limit_waits(self._board.limit_wait(item.id, tracker)):
            async with time_limit_until(tracker.time_over):
                yield

    async def _ask_advice(self, item: WorkItem, failures: str, held: Reservation) -> Advice:
        try:
            advice = await self._advise(item, failures)
        except ModelRunFailed as error:
            held.settle(tokens=error.spent.tokens, cost_usd=error.spent.cost_usd)
            raise
        held.settle(tokens=advice.tokens, cost_usd=advice.cost_usd)
        return advice

    def may_revise(self, item: WorkItem, tracker: BudgetTracker) -> bool:
        """Whether the planner would be asked for another plan."""
        left = tracker.remaining()
        return (
            item.on_stuck == CONSULTS
            and min(left.tokens, left.cost_usd, left.wall_time_seconds, left.planner_calls) > 0
            and self._revise.able(item)
        )

    async def another_plan(self, item: WorkItem, failures: str, tracker: BudgetTracker) -> str:
        """That another plan waits for the owner, in a sentence; empty where none does."""

        def may_ask() -> bool:
            if not tracker.may_consult_planner():
                return False
            tracker.charge(planner_calls=1)
            return True

        left = tracker.remaining()
        try:
            with tracker.reserve(tokens=left.tokens, cost_usd=left.cost_usd) as held:
                async with self._time_limit(item, tracker):
                    revision = await self._revise.revise(item, failures, may_ask)
                held.settle(tokens=revision.tokens, cost_usd=revision.cost_usd)
        except (TimeoutError, BudgetExhausted) as error:
            await self._record_unasked("plan_revision_failed", item, error)
            return ""
        return revision.words

    async def _record_unasked(
        self, event: str, item: WorkItem, error: TimeoutError | LLMError | BudgetExhausted
    ) -> None:
        code = "E_LLM_TIMEOUT" if isinstance(error, TimeoutError) else error.code
        await self._audit.log(event, work_item_id=item.id, code=code)
