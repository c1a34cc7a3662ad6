"""The cycle of a goal that has a folder tidied: cards of batches, and nothing without a yes to its
card (spec 5.1.5, 5.2.4).

Nothing of it is kept between a card and its answer: whoever begins a cycle again looks anew, and
what was moved before is no file of the folder any more.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from silas.cards import Card
from silas.cards.models import BatchReviewCard, DecisionCard
from silas.goals.models import Outcome
from silas.language import refusal_words, said_at
from silas.plans import WorkItem
from silas.stream import goal_words
from silas.stream.tidying import Tidying
from silas.types import OWNER

_WAITS: Final = 24 * 3600.0
"""Seconds for which a card waits: whoever is away is back, and the next cycle is not kept."""

WithoutPlace = Callable[[str], AbstractContextManager[None]]
"""Lets other jobs run in the place of one that waits, while it is open."""


class TidyCycles:
    """Asks about the files of goals' folders.

    Args:
        tidying: What asks, moves, and where the owner is.
        without_place: A card that waits for hours keeps no other job from running.
    """

    def __init__(self, tidying: Tidying, without_place: WithoutPlace) -> None:
        self._tidying = tidying
        self._without_place = without_place
        self._open: set[Path] = set()

    async def run(self, goal: WorkItem, job_id: str) -> tuple[Outcome, str, str]:
        """How a cycle ends, why, and what its owner is told.

        Raises:
            ChannelError: The owner cannot be reached; the cycle is begun again.
            Stopped: Silas is stopped; likewise.
        """
        from silas.work.batches.models import BatchRefused  # noqa: PLC0415 - few goals need it

        try:
            return await self._ask_about(goal, Path(goal.workspace or ""), job_id)
        except BatchRefused as error:
            why = refusal_words(error.message)
            return Outcome.not_done, why, why

    async def _ask_about(
        self, goal: WorkItem, place: Path, job_id: str
    ) -> tuple[Outcome, str, str]:
        from silas.work.batches.words import tidied_in_short  # noqa: PLC0415 - as above

        review = self._tidying.review()
        plan = await asyncio.to_thread(review.look, place)
        if not plan.moves:
            return Outcome.healthy, "", ""
        if place in self._open or review.is_asked_about(plan.folder):
            return Outcome.healthy, goal_words.asked_already_words(), ""

        async def ask(card: Card[Any]) -> Any:
            return await self._ask(goal, card)

        self._open.add(place)
        try:
            with self._without_place(job_id):
                tidied = await review.ask_about(plan, ask, goal.id)
        finally:
            self._open.discard(place)
        told = tidied_in_short(tidied) if tidied.moved else ""
        words = goal_words.tidied_words(tidied.moved, lapsed=tidied.lapsed)
        return Outcome.done, words, said_at(self._tidying.channel.channel_name, told)

    async def _ask(self, goal: WorkItem, card: Card[Any]) -> Any:
        """The answer, to a card that waits for whoever comes and says which goal asks."""
        from silas.work.batches.review import CardLapsed  # noqa: PLC0415 - as above

        told = {
            "timeout_seconds": _WAITS,
            "rationale": goal_words.told_words(goal, card.rationale),
        }
        if isinstance(card, BatchReviewCard):
            told["work_item_id"] = goal.id
        elif isinstance(card, DecisionCard):
            told |= {"work_item_id": goal.id, "of_work": True}
        clock, channel = self._tidying.clock, self._tidying.channel
        deadline = clock.monotonic() + _WAITS
        answer = await channel.ask(OWNER, card.model_copy(update=told))
        if answer == card.safe and clock.monotonic() >= deadline:
            await self._tidying.audit.log("card_timed_out", intent=card.intent)
            raise CardLapsed
        return answer
