"""What it means that nobody answered a card (spec 4.1.1, 18.2; decision D501)."""

from typing import Any, Final, TypeVar, cast

from silas.cards.models import Card, PlanAnswer, PlanCard

AnswerT = TypeVar("AnswerT")

_WAITING: Final[Any] = PlanAnswer(verdict="waiting")


def unseen_answer(card: Card[AnswerT]) -> AnswerT:
    """A plan goes on waiting, unapproved; everything else is answered safely."""
    return cast(AnswerT, _WAITING) if type(card) is PlanCard else card.safe
