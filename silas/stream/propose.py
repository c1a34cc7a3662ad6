"""Plan, card, decision, token, dispatch: the only issuer of plan tokens (spec 5.1.2)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Final, NamedTuple

from silas.audit import Audit
from silas.cards import CardChannel, PlanAnswer, PlanCard
from silas.cards.models import PLAN_DECLINED, PLAN_WAITS
from silas.clock import Clock
from silas.db import at_once
from silas.errors import ApprovalError, DatabaseError
from silas.language import refusal_words, said_at, tr, tr_later
from silas.plans import (
    NO_MESSAGE,
    AskedBy,
    PlanError,
    PlanParser,
    SharedWaitingPlans,
    WaitingPlan,
    WorkItem,
    WorkItemStatus,
    WorkItemStore,
    WorkItemType,
    plan_hash,
)
from silas.plans.draft import Draft, read_draft
from silas.plans.projects.taken_ids import (
    another_plan,
    is_same_plan,
    taken_child,
    why_ids_taken,
    why_running,
)
from silas.plans.source_marks import kept_marks
from silas.stream.owner import Owner
from silas.stream.plan_marks import with_former_marks
from silas.stream.plan_tokens import PlanTokens
from silas.work.dependencies import inherited_work

_NOT_APPROVED = tr_later("The plan was not approved; nothing was run.")
_ANSWERS = {
    "edit_requested": tr_later(
        "You want the plan changed; nothing was run. It waits: `silas approve {id}` shows it again."
    ),
    "waiting": tr_later(
        "The plan waits for its owner; nothing was run. `silas approve {id}` shows it."
    ),
    "conditional": tr_later("A plan is approved as it is or not at all; nothing was run."),
}
"""What is said to an answer that is neither yes nor no."""

_SETTLED_LATER = ("interaction_mode", "follow_up_of", "input_artifacts_from", "skills")
"""What of a plan the Stream settles before its card (step 12)."""

_SETTLED_WITHOUT = {"follow_up_of": None, "input_artifacts_from": list[str]()}
"""A draft's link to former work, which the turn decides and not the plan."""

_ELSEWHERE = {
    True: tr_later("You approved this plan somewhere else, and it runs there."),
    False: tr_later("This plan was answered somewhere else, and nothing was run here."),
}
"""What is said where the question was closed by another process of the same home: approved?"""

STAYS = frozenset({"waiting", "edit_requested"})
"""Verdicts after which the question stays open."""

APPROVED_ELSEWHERE: Final = "approved_elsewhere"
"""The verdict where another process of the same home took the yes: the work is that one's."""


class Proposal(NamedTuple):
    """What became of a plan: `approved`, `declined`, `edit_requested`, `waiting`,
    `approved_elsewhere`, or `refused` with words.
    """

    item: WorkItem | None
    verdict: str
    words: str


class Proposer:
    """Takes a plan from text to verified authority; nothing else issues plan tokens.

    `ready` raises where no work could run at all, and `unable` says why this one could not though
    it were approved, so that nobody is asked in vain. `goal_approved` has a goal run by the clock
    and `begin_rest` notes when a project's rest began, both as `together` keeps it.
    """

    def __init__(
        self,
        parser: PlanParser,
        tokens: PlanTokens,
        store: WorkItemStore,
        waiting: SharedWaitingPlans,
        audit: Audit,
        clock: Clock,
        ready: Callable[[WorkItem], Awaitable[None]],
        unable: Callable[[WorkItem], str],
        together: Callable[[], AbstractContextManager[object]],
        goal_approved: Callable[[WorkItem], None],
        begin_rest: Callable[[WorkItem], None],
    ) -> None:
        self._parser = parser
        self._tokens = tokens
        self._store = store
        self._waiting = waiting
        self._audit = audit
        self._clock = clock
        self._ready = ready
        self._unable = unable
        self._together = together
        self._goal_approved = goal_approved
        self._begin_rest = begin_rest
        self._asking: list[str] = []

    def parse(self, markdown: str) -> WorkItem | PlanError:
        """A model's plan as a work item, or what is wrong with it and where."""
        try:
            return self._parser.parse(markdown)
        except PlanError as error:
            return error

    def draft(self, markdown: str) -> Draft:
        """The same of a model's plan, with all its mistakes, and likely slips understood."""
        return read_draft(markdown)

    async def hindrance(self, item: WorkItem, *, look: bool) -> str:
        """Why `propose` would refuse a plan before anybody is asked, in one sentence, or nothing.

        Args:
            item: The plan.
            look: Whether the files that it names are looked for, too.
        """
        alone = item.model_copy(update=_SETTLED_WITHOUT)
        if unable := self._unable(alone) or await self._why_dependencies_missing(alone):
            return unable
        known = await self._store.get(item.id)
        if known is not None and known.status is not WorkItemStatus.running:
            settled = {name: getattr(known, name) for name in _SETTLED_LATER}
            if not is_same_plan(item.model_copy(update=settled), known):
                return another_plan(item)
        for child in item.children:
            if taken := await taken_child(item, child, self._store) or await why_running(
                child, self._store
            ):
                return taken
        try:
            if look:
                await self._tokens.bind(item)
        except ApprovalError as error:
            return error.message
        return ""

    async def why_ids_taken(self, item: WorkItem) -> str:
        """Why no new work can have this item's ids; nothing where it can."""
        return await why_ids_taken(item, self._store)

    async def propose(
        self,
        item: WorkItem,
        channel: CardChannel,
        to: str,
        rationale: str,
        replaces: Sequence[WorkItem] = (),
        asked_by: AskedBy = NO_MESSAGE,
    ) -> Proposal:
        """Steps 3 to 8 of the approval flow; the item comes back with its verified token.

        The card is made from the bytes that are hashed, the token binds their hash and what they
        name, and both are computed again after the answer: what changed meanwhile is refused.

        Args:
            item: What is proposed; its state is the caller's, its token is set here.
            channel, to: Where the decision is taken; a sender never decides about his own plan.
            rationale: Why, in the proposer's words.
            replaces: Open questions whose plans this one changes; they are closed with its card.
            asked_by: What asked for it; kept with the question, for when it is asked again.

        The question is kept until it is answered: a crash loses neither it nor the answer.
        """
        await self._ready(item)
        asked = item.id  # as it is now: whatever changes it meanwhile is refused with words
        self._asking.append(asked)
        try:
            why = await with_former_marks(item, rationale, self._store, self._waiting)
            waiting = WaitingPlan(item, why, asked_by=asked_by)
            return await self._ask_about_plan(waiting, channel, to, replaces)
        finally:
            self._asking.remove(asked)

    async def _ask_about_plan(
        self,
        waiting: WaitingPlan,
        channel: CardChannel,
        to: str,
        replaces: Sequence[WorkItem],
    ) -> Proposal:
        item = waiting.item
        await self._waiting.put(waiting)
        try:
            proposal = await self._check_and_ask(item, channel, to, waiting.rationale, replaces)
        except asyncio.CancelledError:  # whoever ends Silas at a question has not said yes
            with suppress(DatabaseError, OSError):
                if not await self._waiting.shown_elsewhere(item.id, plan_hash(item)):
                    await self._waiting.drop(item)
            raise
        if proposal.verdict not in STAYS:
            await self._waiting.drop(item)
        elif proposal.verdict == "edit_requested" and not self._keep_changes_wanted(waiting):
            return await self._answered_elsewhere(item, channel)
        return proposal

    def _keep_changes_wanted(self, waiting: WaitingPlan) -> bool:
        """Keep that its owner wants it changed; False where another process closed it first."""
        with self._together():
            if not at_once(self._waiting.stands(waiting.item.id, plan_hash(waiting.item))):
                return False
            at_once(self._waiting.put(waiting._replace(changes_wanted=True)))
        return True

    async def to_change(self) -> list[WaitingPlan]:
        """The plans that the owner wants changed; the one he said so of last comes last."""
        return await self._waiting.to_change()

    async def keep(
        self, item: WorkItem, rationale: str, asked_by: AskedBy = NO_MESSAGE
    ) -> WaitingPlan:
        """Keep a draft among the open questions; nothing runs before the owner was asked."""
        why = await with_former_marks(item, rationale, self._store, self._waiting)
        waiting = WaitingPlan(item, why, asked_by=asked_by)
        await self._waiting.put(waiting)
        await self._audit.log("plan_waits", work_item_id=item.id, plan_hash=plan_hash(item))
        return waiting

    async def question(self, work_item_id: str) -> WaitingPlan | None:
        """The oldest open question about a plan of this id; None where there is none."""
        found = (one for one in await self._waiting.all() if one.item.id == work_item_id)
        return next(found, None)

    async def is_kept(self, item: WorkItem) -> bool:
        """Whether a question about a plan of this id is open, or one was approved."""
        return (
            await self.question(item.id) is not None or await self._store.get(item.id) is not None
        )

    async def is_new(self, item: WorkItem) -> bool:
        """Whether nothing has its ids yet, and no question about exactly this plan is open."""
        for one in (item, *item.children):
            if await self._store.get(one.id) is not None:
                return False
        return not await self._waiting.stands(item.id, plan_hash(item))

    async def waiting(self) -> list[WorkItem]:
        """The plans whose question is open, the oldest first."""
        return [waiting.item for waiting in await self._waiting.all()]

    async def list_unasked(self) -> list[WorkItem]:
        """Those of them that nobody is asked about at this moment, here."""
        return [item for item in await self.waiting() if item.id not in self._asking]

    async def unable(self, item: WorkItem) -> Proposal | None:
        """The refusal, on record, of a plan that could not run though it were approved; or None."""
        why = self._unable(item) or await self._why_dependencies_missing(item)
        if not why:
            return None
        refused = await self._record_refusal(item, why)
        words = tr("{why} Nothing was asked, and nothing was run.", why=refusal_words(why))
        return refused._replace(words=words)

    async def _why_dependencies_missing(self, item: WorkItem) -> str:
        """What the plan has of other work and is not there, in one sentence, or nothing."""
        return (await inherited_work(item, self._store)).missing

    async def _check_and_ask(
        self,
        item: WorkItem,
        channel: CardChannel,
        to: str,
        rationale: str,
        replaces: Sequence[WorkItem],
    ) -> Proposal:
        unable = await self.unable(item)
        if unable is not None:
            return unable
        taken = await self.why_ids_taken(item)
        if taken:
            return await self._record_refusal(item, taken)
        try:
            binds = await self._tokens.bind(item)
        except ApprovalError as error:  # it names what is not there: nobody is asked in vain
            return await self._record_refusal(item, error.message)
        card = self._tokens.card(item, binds, rationale)
        for former in replaces:
            if plan_hash(former) != card.plan_hash:
                await self._waiting.drop(former)
        await self._audit.log("plan_proposed", work_item_id=item.id, plan_hash=card.plan_hash)
        answer = await self._answer(card, channel, to)
        if answer is None:
            return await self._answered_elsewhere(item, channel)
        if answer.verdict != "approved":
            event, about = "plan_waits", {"plan_hash": card.plan_hash}
            if answer.verdict != "waiting":
                event, about = "plan_not_approved", {"verdict": answer.verdict}
            await self._audit.log(event, work_item_id=item.id, **about)
            words = _describe_answer(channel, answer.verdict, item.id)
            return Proposal(item, answer.verdict, words)
        try:
            await self._tokens.sign(item, card, binds)
        except ApprovalError as error:  # it changed, or a signer apart was told no
            return await self._record_refusal(item, error.message)
        if not self._keep_approved(item, card, rationale):
            return await self._answered_elsewhere(item, channel)
        for one in (item, *item.children):
            signed = one.approval_token
            token = "" if signed is None else signed.token_id
            await self._audit.log(
                "plan_approved", work_item_id=one.id, plan_hash=plan_hash(one), token=token
            )
        return Proposal(item, "approved", tr("Approved."))

    async def _answer(self, card: PlanCard, channel: CardChannel, to: str) -> PlanAnswer | None:
        """What the owner says here; None where he said it elsewhere, which closes the card here."""
        closed = asyncio.ensure_future(self._closed_elsewhere(card))  # heard before it is seen
        asking = asyncio.ensure_future(Owner(channel, self._audit, self._clock).ask(card, to))
        try:
            await asyncio.wait({asking, closed}, return_when=asyncio.FIRST_COMPLETED)
            answer = asking.result() if asking.done() else None
        finally:
            for one in (asking, closed):
                one.cancel()
            await asyncio.wait({asking, closed})
        if answer is None or not await self._waiting.stands(card.work_item_id, card.plan_hash):
            return None
        return await self._answer_of_who_left(card) if answer.verdict == "left" else answer

    async def _answer_of_who_left(self, card: PlanCard) -> PlanAnswer:
        """The plan waits where another process asks about it still; else it was not approved."""
        with suppress(OSError):
            if await self._waiting.shown_elsewhere(card.work_item_id, card.plan_hash):
                return PLAN_WAITS
        return PLAN_DECLINED

    async def _closed_elsewhere(self, card: PlanCard) -> None:
        """Wait until the question is open no longer; for ever where that cannot be heard."""
        with suppress(OSError, DatabaseError):  # an answer given here finds out all the same
            return await self._waiting.wait_until_closed(card.work_item_id, card.plan_hash)
        await asyncio.get_running_loop().create_future()

    def _keep_approved(self, item: WorkItem, card: PlanCard, rationale: str) -> bool:
        """Keep approved work and close its question, both or neither; False where another process
        closed it first, so that one plan is not run twice.
        """
        with self._together():  # a goal that is kept is one that runs
            if not at_once(self._waiting.stands(item.id, card.plan_hash)):
                return False
            at_once(self._waiting.drop(item))
            if item.type is WorkItemType.project:
                at_once(self._waiting.keep_marks(item.id, kept_marks(rationale)[1]))
            for one in (item, *item.children):
                one.created_at = self._clock.now()
                at_once(self._store.save(one))
            if item.type is WorkItemType.goal:
                self._goal_approved(item)
            self._begin_rest(item)
        return True

    async def _answered_elsewhere(self, item: WorkItem, channel: CardChannel) -> Proposal:
        known = await self._store.get(item.id)
        approved = (
            known is not None
            and known.approval_token is not None
            and plan_hash(known) == plan_hash(item)
        )
        item.approval_token = None
        await self._audit.log("plan_answered_elsewhere", work_item_id=item.id, approved=approved)
        verdict = APPROVED_ELSEWHERE if approved else "refused"
        return Proposal(item, verdict, said_at(channel.channel_name, tr(_ELSEWHERE[approved])))

    async def _record_refusal(self, item: WorkItem, reason: str) -> Proposal:
        await self._audit.log("plan_refused", work_item_id=item.id, reason=reason.rstrip("."))
        told = refusal_words(reason).rstrip(".")
        words = tr("The plan was refused: {reason}; nothing was run.", reason=told)
        return Proposal(item, "refused", words)


def _describe_answer(channel: CardChannel, verdict: str, name: str) -> str:
    """What is said to an answer that is no yes, as its channel has it."""
    words = tr(_ANSWERS.get(verdict, _NOT_APPROVED))
    return said_at(channel.channel_name, words.format(id=name))
