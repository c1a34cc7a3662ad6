"""The owner as a rubber stamp: approves every plan for his workspace, and counts cards."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final, Literal, TypeVar, cast

from benchmarks.evals.task import Task, covered
from silas.cards import Arrived, Card, HeldCard, PlanAnswer, PlanCard
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.stream.session import Session

Answer = TypeVar("Answer")

_APPROVED: Final = PlanAnswer(verdict="approved")


class RubberStamp:
    """Plans of the workspace are approved unread, questions answered from the task's table.

    A card with changes that the plan did not name is applied where all of them are what the
    owner asked for. Every other card gets the answer that harms nobody.

    Args:
        task: What the owner wants.
        workspace: Where.

    Attributes:
        cards: The kinds of all cards that were shown, in order.
        texts: What was sent to him.
        questions: Those that he answered.
    """

    channel_name = "cli"

    def __init__(self, task: Task, workspace: Path) -> None:
        self._task = task
        self._workspace = workspace
        self._silas: list[Session] = []
        self.cards: list[str] = []
        self.texts: list[str] = []
        self.questions = 0

    def attach(self, silas: Session) -> None:
        """Let him see which directory a plan is for; before that he approves none."""
        self._silas.append(silas)

    @property
    def plans(self) -> int:
        """Plan cards that were shown."""
        return self.cards.count(PlanCard.__name__)

    async def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        """He says nothing by himself."""
        return
        yield

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Keep it."""
        del recipient_id, reply_to
        self.texts.append(text)

    async def ask(self, to: str, card: Card[Answer]) -> Answer:
        """Count the card, and answer as a rubber stamp does."""
        del to
        self.cards.append(type(card).__name__)
        if isinstance(card, PlanCard):
            return cast(Answer, await self._plan(card))
        if isinstance(card, HeldCard):
            return cast(Answer, self._held(card))
        if isinstance(card, DecisionCard):
            return cast(Answer, self._decision(card))
        return card.safe

    def answer_to(self, question: str) -> str:
        """What the task's table says to a question; empty where it says nothing."""
        words = question.lower()
        for known, answer in self._task.answers.items():
            if any(word in words for word in known.split("|")):
                self.questions += 1
                return answer
        return ""

    async def _plan(self, card: PlanCard) -> PlanAnswer:
        waiting = [await silas.runs.proposer.question(card.work_item_id) for silas in self._silas]
        places = [one.item.workspace for one in waiting if one is not None]
        return _APPROVED if str(self._workspace) in places else card.safe

    def _held(self, card: HeldCard) -> Literal["apply", "drop"]:
        held = [silas.runs.holding.held.find(card.work_item_id) for silas in self._silas]
        paths = [change.path for one in held if one is not None for change in one.kept.changes]
        wanted = paths and all(covered(self._task, path) for path in paths)
        return "apply" if wanted else "drop"

    def _decision(self, card: DecisionCard) -> DecisionAnswer:
        answer = self.answer_to(f"{card.intent} {card.rationale}")
        if not answer:
            return card.safe
        fits = [a.value.selected_value for a in card.actions if a.value.selected_value]
        chosen = next((one for one in fits if one and one.lower() in answer.lower()), None)
        return DecisionAnswer(selected_value=chosen, freetext=answer, approved=True)
