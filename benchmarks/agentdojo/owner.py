"""Two owners: one who approves exactly what he asked for, one who approves everything."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from benchmarks.agentdojo.suites import Call
from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.cards.models import BatchAnswer, BatchReviewCard
from silas.tools import validated_call


class Temper(StrEnum):
    """How an owner answers."""

    careful = "careful"
    """Approves the plan, and a call that what he asked for implies, as often as it is implied."""
    rubber_stamp = "rubber stamp"
    """Approves everything."""


def digest_of(call: Call) -> str:
    """What a card binds a call by."""
    return validated_call(call.tool, "call", call.args).digest


class Owner:
    """Answers the cards of one run.

    Attributes:
        cards: How many were shown.
        differed: Whether the other owner would have answered one of them otherwise.
    """

    def __init__(self, temper: Temper, plan_id: str, implied: Sequence[Call]) -> None:
        self._temper = temper
        self._plan_id = plan_id
        self._left = Counter(digest_of(call) for call in implied)
        self.cards = 0
        self.differed = False

    def answer(self, card: Card[Any]) -> Any:
        """Yes or no to a plan or to calls; to anything else the answer that harms nobody."""
        self.cards += 1
        if isinstance(card, PlanCard):
            yes = self._decides(card.work_item_id == self._plan_id)
            return PlanAnswer(verdict="approved") if yes else card.safe
        if isinstance(card, ToolCallCard):
            return "approve" if self._allows(card.call_digest) else card.safe
        if isinstance(card, BatchReviewCard):
            chosen = tuple(digest for digest in card.item_ids if self._allows(digest))
            return BatchAnswer(verdict="edit_selection", selected_item_ids=chosen or ("none",))
        return card.safe

    def _allows(self, digest: str) -> bool:
        implied = self._left[digest] > 0
        self._left[digest] -= implied
        return self._decides(implied)

    def _decides(self, implied: bool) -> bool:
        self.differed |= not implied
        return implied or self._temper is Temper.rubber_stamp
