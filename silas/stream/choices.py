"""A question of running work as a card with numbered options (spec 0.5, 3.11)."""

import asyncio

from silas.audit import Audit
from silas.cards import Action, CardChannel
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.clock import Clock
from silas.stream.owner import Owner
from silas.types import Risk

_NO_ANSWER = DecisionAnswer()
_SECONDS = 300.0  # work waits meanwhile, and its wall time runs


def choice_card(work_item_id: str, question: str, options: tuple[str, ...]) -> DecisionCard:
    """The question in the model's words, marked so; silence answers nothing."""
    chips = tuple(
        Action(label=option, value=DecisionAnswer(selected_value=option, approved=True))
        for option in options
    )
    return DecisionCard(
        intent=f"A question from the work {work_item_id}; your choice approves nothing",
        risk=Risk.medium,
        rationale=f"The model asks: {question}",
        actions=(*chips, Action(label="Do not answer", value=_NO_ANSWER, role="decline")),
        safe=_NO_ANSWER,
        timeout_seconds=_SECONDS,
    )


class OwnerChoices:
    """Asks on the owner's channel, and records that it did."""

    def __init__(self, channel: CardChannel, audit: Audit, clock: Clock) -> None:
        self._owner = Owner(channel, audit, clock)
        self._audit = audit
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, work_item_id: str, question: str, options: tuple[str, ...]) -> str | None:
        """The option the owner chose; None where nobody did."""
        async with self._one_at_a_time:
            answer = await self._owner.ask(choice_card(work_item_id, question, options))
        chosen = answer.selected_value if answer.selected_value in options else None
        number = 0 if chosen is None else options.index(chosen) + 1
        await self._audit.log("owner_asked", work_item_id=work_item_id, chosen=number)
        return chosen
