"""What waits for the owner, shown beside his turns and never before their answer (5.1 step 0.5).

Nothing in here runs or changes anything by itself: a suggestion that is accepted becomes a message
from elsewhere that still needs a plan and its card, a preference becomes a rule by a card, and a
threshold changes by a card, a token and its verification.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from zoneinfo import ZoneInfo

from silas.audit import Audit
from silas.autonomy.calibrate import AutonomyCalibrator
from silas.autonomy.preferences import Preferences, Promotion
from silas.autonomy.proposals import (
    AutonomyThresholdProposal,
    SuggestionOutcome,
    SuggestionProposal,
)
from silas.autonomy.questions import (
    DO_IT,
    DROP,
    KEEP,
    NOT_NOW,
    preference_card,
    suggestion_card,
    threshold_card,
)
from silas.autonomy.signals import Signal, is_family
from silas.autonomy.suggest import SuggestionEngine
from silas.cards.models import DecisionAnswer
from silas.clock import Clock
from silas.errors import ApprovalError
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.stream.owner import Owner
from silas.types import OWNER

MOST_AT_ONCE = 3
"""Cards after one turn; what is left is shown after a later one."""

_LOOK_SECONDS = 900.0  # between two looks for something to suggest
_AGAIN_SECONDS = 7200.0  # before somebody who said nothing is asked the same again

Wish = Callable[[str], Awaitable[None]]
"""Takes words that the owner picked as something to plan; they are nobody's signed words."""

AfterWork = Callable[[str, str], Awaitable[None]]
"""(scope id, event): lets the mood take note of how work ended; never fails."""

ScopeOf = Callable[[str], str]
"""Whose a work item is, by its id."""

_EVENTS: Mapping[WorkItemStatus, str] = {
    WorkItemStatus.done: "task_completed",
    WorkItemStatus.failed: "ci_failure",
    WorkItemStatus.stuck: "ci_failure",
    WorkItemStatus.blocked: "blocked",
}


@dataclass(frozen=True)
class ReviewRooms:
    """What a review queue is made of; ports and engines only.

    Attributes:
        asks_beside: Whether the channel shows cards beside what is said. One that does not is
            asked nothing, because the next line typed would be taken for the answer.
        looked_at: Whether somebody would see a card now; what nobody sees is not put off, and no
            proposal is declined.
        zone: The owner's, in which cards tell moments.
    """

    suggestions: SuggestionEngine
    calibrator: AutonomyCalibrator
    preferences: Preferences
    scope_of: ScopeOf
    owner: Owner
    wish: Wish
    after_work: AfterWork
    audit: Audit
    clock: Clock
    asks_beside: bool
    looked_at: Callable[[], bool]
    zone: ZoneInfo


class ReviewQueue:
    """Shows the owner what waits, one card after the other, beside everything else."""

    def __init__(self, rooms: ReviewRooms) -> None:
        self._rooms = rooms
        self._turns = 0
        self._showing: set[asyncio.Task[None]] = set()
        self._looked = -inf
        self._asked: dict[str, float] = {}
        self._planning: set[asyncio.Task[None]] = set()

    async def poll(self, scope_id: str) -> None:
        """A turn of this scope began; what waits is shown once it has been answered."""
        if scope_id == OWNER:
            self._turns += 1

    def turn_ended(self, scope_id: str) -> None:
        """A turn of this scope is over, however it ended: now is the time to show what waits."""
        if scope_id == OWNER:
            self._turns = max(self._turns - 1, 0)
            self._show_soon()

    async def heartbeat(self) -> None:
        """Look for something to suggest though nobody said anything; asks no model (B11)."""
        self._looked = -inf
        self._show_soon()

    async def after_result(self, item: WorkItem, result: WorkItemResult) -> None:
        """Keep the next steps of the owner's finished work, and let the mood take note.

        What became of anybody else's work says nothing to the owner here.
        """
        if self._rooms.scope_of(item.id) != OWNER:
            return
        async with self._record_failures():
            event = _EVENTS.get(result.status)
            if event is not None:
                await self._rooms.after_work(OWNER, event)
            engine = self._rooms.suggestions
            await engine.generate_post_execution(OWNER, result, item.title)
        self._show_soon()

    async def note_signal(self, signal: Signal) -> None:
        """Learn from a decision of the owner's; nobody else's counts. Never fails."""
        if signal.scope_id != OWNER or not is_family(signal.family):
            return
        async with self._record_failures():
            await self._rooms.calibrator.record_outcome(signal)
            await self._rooms.preferences.observe(signal)

    async def stop(self) -> None:
        """Close the card that is open; it is shown again another time."""
        tasks = self._planning | self._showing
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def wait_until_shown(self) -> None:
        """Wait until nothing is shown and nothing picked is being planned."""
        while tasks := self._planning | self._showing:
            await asyncio.wait(tasks)

    def _show_soon(self) -> None:
        if self._rooms.asks_beside and self._turns == 0 and not self._showing:
            task = asyncio.create_task(self._show())
            self._showing.add(task)
            task.add_done_callback(self._showing.discard)

    async def _show(self) -> None:
        rooms = self._rooms
        async with self._record_failures():
            await self._look()
            waiting: list[Callable[[], Awaitable[None]]] = [
                *(partial(self._suggest, one) for one in rooms.suggestions.waiting(OWNER)),
                *(partial(self._promote, one) for one in await rooms.preferences.promotions(OWNER)),
                *(partial(self._calibrate, one) for one in rooms.calibrator.waiting(OWNER)),
            ]
            for ask in waiting[:MOST_AT_ONCE]:
                if self._turns:  # the owner speaks: the next card waits until he is answered
                    return
                if not rooms.looked_at():
                    return
                rooms.audit.require_whole()  # else his yes would count for nothing
                await ask()

    async def _look(self) -> None:
        """Look for something to suggest, once in a while; no model is asked (decision B11)."""
        now = self._rooms.clock.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        moment = self._rooms.clock.now()
        await self._rooms.suggestions.generate_idle(OWNER, moment)
        await self._rooms.calibrator.evaluate(OWNER, moment)

    async def _suggest(self, proposal: SuggestionProposal) -> None:
        rooms = self._rooms
        answer = await rooms.owner.ask(suggestion_card(proposal))
        outcome = _outcome(answer)
        known = outcome == "deferred" and rooms.suggestions.put_off(OWNER, proposal.suggestion_id)
        settled = await rooms.suggestions.mark_handled(OWNER, proposal.suggestion_id, outcome)
        if not known:  # it is put off at each end of Silas, which says nothing new
            await rooms.audit.log(
                "suggestion_answered", suggestion_id=proposal.suggestion_id, outcome=outcome
            )
        if outcome == "dismissed":
            await self.note_signal(Signal(f"suggestion:{proposal.source}", "dismissed"))
        if outcome == "accepted" and settled:
            task = asyncio.create_task(self._plan(proposal.intent))
            self._planning.add(task)
            task.add_done_callback(self._planning.discard)

    async def _plan(self, words: str) -> None:
        async with self._record_failures():
            await self._rooms.wish(words)

    async def _promote(self, promotion: Promotion) -> None:
        if not self._claim_pattern(promotion.pattern):
            return
        answer = await self._rooms.owner.ask(preference_card(promotion))
        if answer in (KEEP, DROP):  # silence is neither
            await self._rooms.preferences.apply_decision(OWNER, promotion, answer == KEEP)

    async def _calibrate(self, proposal: AutonomyThresholdProposal) -> None:
        rooms = self._rooms
        card = threshold_card(proposal, rooms.zone)
        decision = await rooms.owner.ask(card)
        if decision == card.safe and not rooms.looked_at():
            return  # Silas ends, or the page went: that is no answer, and it is offered again
        try:
            await rooms.calibrator.apply(proposal, decision)
        except ApprovalError as error:
            await rooms.audit.log(
                "autonomy_refused", proposal_id=proposal.proposal_id, reason=error.message
            )

    def _claim_pattern(self, pattern: str) -> bool:
        """Whether nobody was asked about this lately; from now on somebody was."""
        now = self._rooms.clock.monotonic()
        asked = self._asked.get(pattern)
        if asked is not None and now - asked < _AGAIN_SECONDS:
            return False
        self._asked[pattern] = now
        return True

    @asynccontextmanager
    async def _record_failures(self) -> AsyncGenerator[None]:
        """What fails in here is recorded and stops nothing: nobody waits for it."""
        try:
            yield
        except Exception as error:  # noqa: BLE001, RUF100 - as the docstring says
            with suppress(Exception):
                await self._rooms.audit.log("review_failed", kind=type(error).__name__)


def _outcome(answer: DecisionAnswer) -> SuggestionOutcome:
    if answer == DO_IT:
        return "accepted"
    return "dismissed" if answer == NOT_NOW else "deferred"
