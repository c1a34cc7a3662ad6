"""A question that waits in the cockpit, and what its answers are called."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from silas.cards import Card, PlanCard
from silas.cards.models import SecureInputCard
from silas.channels.web.questions import CardEvent
from silas.language import tr, tr_later
from silas.types import Risk

AnswerT = TypeVar("AnswerT")

TAPS = {Risk.low: 1, Risk.medium: 2, Risk.high: 2, Risk.irreversible: 3}
"""What the gesture of a card's risk takes (0.5.2); a no is always one."""

_LAPSED = tr_later("Lapsed: nobody answered in time, and the safe answer stands.")
_LAPSED_PLAN = tr_later(
    "Lapsed: nobody answered in time, and nothing was run. Show it again to decide."
)
_CLOSED = tr_later("Silas closed this question; the safe answer stands.")


@dataclass
class OpenCard:
    """A question that waits.

    Attributes:
        card: What is asked.
        event: As pages have it.
        answer: Where its answer goes.
        began: When it was shown, on the monotonic clock.
        conversation: Which conversation it belongs to; empty for the first one.
        closing: What pages are told where it is cancelled.
    """

    card: Card[Any]
    event: CardEvent
    answer: asyncio.Future[Any]
    began: float
    conversation: str = ""
    closing: str = _CLOSED


def waiting_for_secret(
    cards: Mapping[str, OpenCard], ref_id: str
) -> tuple[tuple[str, OpenCard], ...]:
    """The question that waits for this secret, with its name; none where nothing does."""
    found = (
        (name, one)
        for name, one in cards.items()
        if isinstance(one.card, SecureInputCard) and one.card.ref_id == ref_id
    )
    return tuple(one for one in islice(found, 1) if not one[1].answer.done())


def lapse_words(card: Card[Any]) -> str:
    """What pages are told when nobody answered a card in time."""
    return tr(_LAPSED_PLAN if type(card) is PlanCard else _LAPSED)


def label(card: Card[Any], answer: Any) -> str:
    """An answer in the words of its button; of a selection or an edit, what it is."""
    chosen = next((a.label for a in card.actions if a.value == answer), None)
    verdict = getattr(answer, "verdict", None)
    meant = (a.label for a in card.actions if getattr(a.value, "verdict", "") == verdict)
    return chosen or next(meant, tr("answered in own words"))
