"""A question of running work as a card with numbered options (spec 0.5, 3.11, 5.2.2)."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from silas.audit import Audit
from silas.cards import Action, CardChannel
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.clock import Clock
from silas.language import tr
from silas.plans import WorkItem, WorkItemStore, WorkItemType, show
from silas.plans.characters import show_exactly
from silas.plans.projects.questions import KeptAnswer
from silas.stream.owner import Owner
from silas.tools.builtin.ask_owner import OwnerAnswer
from silas.types import Risk, TaintLevel
from silas.work.left_waiting import LeftWaiting
from silas.work.progress_board import ProgressBoard

_NO_ANSWER = DecisionAnswer()

SHORTEST: Final = 300.0
"""Seconds that any question waits; it waits longer where its approval lets the work come to its end
after the answer."""

LONGEST: Final = 24 * 3600.0
"""Seconds that the answer and the rest of the work have, also under a goal's approval of weeks."""

TypedBy = Callable[[str], Awaitable[TaintLevel]]
"""Whose words these are that were typed on this Silas's own channel and that no device signed."""


def choice_card(
    asked_for: str,
    question: str,
    options: tuple[str, ...],
    seconds: float,
    work_item_id: str,
) -> DecisionCard:
    """The question in the model's words, marked so; silence answers nothing.

    Args:
        asked_for: Which work asks, for its owner.
        question: What it asks.
        options: What can be chosen.
        seconds: How long it waits.
        work_item_id: The work; the question is kept for whoever comes in its time.
    """
    chips = tuple(
        Action(label=option, value=DecisionAnswer(selected_value=option, approved=True))
        for option in options
    )
    return DecisionCard(
        intent=tr("A question from {work}; your choice approves nothing", work=asked_for),
        risk=Risk.medium,
        rationale=tr("The model asks: {question}", question=question),
        actions=(*chips, Action(label=tr("Do not answer"), value=_NO_ANSWER, role="decline")),
        safe=_NO_ANSWER,
        allow_freetext=True,
        timeout_seconds=seconds,
        work_item_id=work_item_id,
        of_work=True,
    )


def asking_work(item: WorkItem, project: WorkItem | None) -> str:
    """Which work asks; of a task of a project, which project's."""
    title, name = show(item.title), show_exactly(item.id)
    if project is None:
        return tr("the work '{title}' ({id})", title=title, id=name)
    return tr(
        "the task '{title}' ({id}) of the project '{project}' ({project_id})",
        title=title,
        id=name,
        project=show(project.title),
        project_id=show_exactly(project.id),
    )


class OwnerChoices:
    """Asks on the owner's channel, keeps that it did, and records it.

    Args:
        channel: Where the owner is asked.
        audit: The record.
        clock: For how long.
        typed_by: Whose words are typed there.
        store: Knows which project asks.
        left: Where the question lives until it is answered, or an orderly end leaves it.
        board: Lets the time of what waits stand still.
    """

    def __init__(
        self,
        channel: CardChannel,
        audit: Audit,
        clock: Clock,
        typed_by: TypedBy,
        store: WorkItemStore,
        left: LeftWaiting,
        board: ProgressBoard,
    ) -> None:
        self._owner = Owner(channel, audit, clock)
        self._audit = audit
        self._clock = clock
        self._typed_by = typed_by
        self._store = store
        self._left, self._kept = left, left.questions
        self._board = board

    async def ask(
        self, work_item_id: str, question: str, options: tuple[str, ...]
    ) -> OwnerAnswer | None:
        """The option that was chosen, the words that were typed, or both; None where neither.

        What was answered to the same question under the same approval is its answer. Nothing says
        of kept words any more who typed them, so they are from outside.
        """
        item = await self._store.get(work_item_id)
        if item is None:
            return None
        before = self._kept.open(item, question, options)
        if before is not None:
            return _answer(before.chosen, before.words, TaintLevel.external, options)
        async with self._waiting(item):
            answer = await self._owner.ask(await self._card(item, question, options))
            chosen = answer.selected_value if answer.selected_value in options else None
            number = 0 if chosen is None else options.index(chosen) + 1
            words = (answer.freetext or "").strip()
            taint = await self._taint_of(words, answer)
            said = {"own_words": taint.value} if words else {}
            await self._audit.log("owner_asked", work_item_id=work_item_id, chosen=number, **said)
            self._kept.answer(item, question, options, KeptAnswer(chosen or "", words))
        return _answer(chosen or "", words, taint, options)

    @asynccontextmanager
    async def _waiting(self, item: WorkItem) -> AsyncGenerator[None]:
        """Its time stands still, also until it has a place again among those that run."""
        try:
            with self._board.waits_for_owner(item.id):
                async with self._left.places.without(item.id):
                    yield
        except BaseException:
            if not self._left.has_task(item):
                self._kept.drop(item)  # it was stopped; else it stays, as after a crash
            raise
        self._kept.resume(item)

    async def _card(self, item: WorkItem, question: str, options: tuple[str, ...]) -> DecisionCard:
        parent = None if item.parent is None else await self._store.get(item.parent)
        project = parent if parent and parent.type is WorkItemType.project else None
        seconds = self._seconds(item, project or item)
        return choice_card(asking_work(item, project), question, options, seconds, item.id)

    def _seconds(self, item: WorkItem, whole: WorkItem) -> float:
        """How long work may wait, so that its approval still holds when the whole comes to its end,
        and a goal's next cycle is not kept waiting for weeks.
        """
        token = item.approval_token
        if token is None:
            return SHORTEST
        holds = min((token.expires_at - self._clock.now()).total_seconds(), LONGEST)
        return max(holds - whole.budget.max_wall_time_seconds, SHORTEST)

    async def _taint_of(self, words: str, answer: DecisionAnswer) -> TaintLevel:
        """The owner's where he signed them or typed them where he signs; else from outside."""
        if answer.signed:
            return TaintLevel.owner
        typed = await self._typed_by(words) if words else TaintLevel.external
        return TaintLevel.owner if typed is TaintLevel.owner else TaintLevel.external


def _answer(
    chosen: str, words: str, taint: TaintLevel, options: tuple[str, ...]
) -> OwnerAnswer | None:
    option = chosen if chosen in options else None
    return OwnerAnswer(option, words, taint) if option or words else None
