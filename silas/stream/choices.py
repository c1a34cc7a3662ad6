"""A question of running work as a card with numbered options (spec 0.5, 3.11)."""

import asyncio
from collections.abc import Awaitable, Callable

from silas.audit import Audit
from silas.cards import Action, CardChannel
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.clock import Clock
from silas.language import tr
from silas.stream.owner import Owner
from silas.tools.builtin.ask_owner import OwnerAnswer
from silas.types import Risk, TaintLevel

_NO_ANSWER = DecisionAnswer()
_SECONDS = 300.0  # work waits meanwhile, and its wall time runs

TypedBy = Callable[[str], Awaitable[TaintLevel]]
"""Whose words these are that were typed on this Silas's own channel and that no device signed."""


def choice_card(work_item_id: str, question: str, options: tuple[str, ...]) -> DecisionCard:
    """The question in the model's words, marked so; silence answers nothing."""
    chips = tuple(
        Action(label=option, value=DecisionAnswer(selected_value=option, approved=True))
        for option in options
    )
    return DecisionCard(
        intent=tr(
            "A question from the work {work_item_id}; your choice approves nothing",
            work_item_id=work_item_id,
        ),
        risk=Risk.medium,
        rationale=tr("The model asks: {question}", question=question),
        actions=(*chips, Action(label=tr("Do not answer"), value=_NO_ANSWER, role="decline")),
        safe=_NO_ANSWER,
        allow_freetext=True,
        timeout_seconds=_SECONDS,
    )


class OwnerChoices:
    """Asks on the owner's channel, and records that it did."""

    def __init__(self, channel: CardChannel, audit: Audit, clock: Clock, typed_by: TypedBy) -> None:
        self._owner = Owner(channel, audit, clock)
        self._audit = audit
        self._typed_by = typed_by
        self._one_at_a_time = asyncio.Lock()

    async def ask(
        self, work_item_id: str, question: str, options: tuple[str, ...]
    ) -> OwnerAnswer | None:
        """The option that was chosen, the words that were typed, or both; None where neither."""
        async with self._one_at_a_time:
            answer = await self._owner.ask(choice_card(work_item_id, question, options))
        chosen = answer.selected_value if answer.selected_value in options else None
        number = 0 if chosen is None else options.index(chosen) + 1
        words = (answer.freetext or "").strip()
        taint = await self._taint_of(words, answer)
        said = {"own_words": taint.value} if words else {}
        await self._audit.log("owner_asked", work_item_id=work_item_id, chosen=number, **said)
        return OwnerAnswer(chosen, words, taint) if chosen or words else None

    async def _taint_of(self, words: str, answer: DecisionAnswer) -> TaintLevel:
        """The owner's where he signed them or typed them where he signs; else from outside."""
        if answer.signed:
            return TaintLevel.owner
        typed = await self._typed_by(words) if words else TaintLevel.external
        return TaintLevel.owner if typed is TaintLevel.owner else TaintLevel.external
