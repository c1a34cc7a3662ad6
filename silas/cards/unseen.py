"""What it means that nobody answered a card (spec 4.1.1, 18.2; decision D501)."""

from typing import TypeVar, cast

from silas.cards.models import PLAN_LEFT, PLAN_WAITS, Card, PlanCard

AnswerT = TypeVar("AnswerT")


def unseen_answer(card: Card[AnswerT]) -> AnswerT:
    """A plan goes on waiting, unapproved; everything else is answered safely."""
    return cast(AnswerT, PLAN_WAITS) if type(card) is PlanCard else card.safe


def left_answer(card: Card[AnswerT]) -> AnswerT:
    """Who was asked about a plan has gone, and said neither yes nor no; everything else is answered
    safely.
    """
    return cast(AnswerT, PLAN_LEFT) if type(card) is PlanCard else card.safe
