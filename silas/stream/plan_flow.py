"""Step 12: a plan in an answer becomes a card, a decision and background work (5.1, 5.1.2)."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from silas.agents import AgentResponse, PlanAction, PlanActionType
from silas.audit import Audit
from silas.autonomy import Decision, Signal, plan_family
from silas.language import refusal_words, tr, tr_later
from silas.plans import PlanError, WaitingPlan, WorkItem, WorkItemStatus, WorkItemType
from silas.plans.characters import show
from silas.plans.source_marks import with_marks
from silas.stream.models import Outcome, SendText
from silas.stream.plan_marks import plan_marks
from silas.stream.plan_review import PROPOSALS, ReviewPlans, is_owners
from silas.stream.propose import APPROVED_ELSEWHERE, STAYS, Proposal, Proposer
from silas.stream.scope_work import ScopeWork
from silas.stream.state import Turn, need
from silas.stream.turn_modes import TurnModes
from silas.stream.turn_writer import TurnWriter
from silas.stream.work_context import WorkContext
from silas.types import OWNER
from silas.work.models import AlreadyRunning

_OUTCOMES: dict[str, Outcome] = {
    "refused": "blocked",
    APPROVED_ELSEWHERE: "blocked",
    "waiting": "waiting",
    "edit_requested": "waiting",
}
"""How a turn ends whose plan was neither approved nor declined."""

_DECISIONS: dict[str, Decision] = {
    "approved": "approved",
    "declined": "declined",
    "edit_requested": "edit_selection",
}
"""What the owner's answer to a plan says about plans of its kind (6.6)."""

_SAY = tr_later("Or say here what should be different: the plan stays in view.")

_AWAY = tr_later("It went back to the planner {times} and is still wrong; ask in other words. ")
"""Of a plan that did not get better."""


Dispatch = Callable[[WorkItem, SendText], None]
"""Starts approved work in the background, its progress going to `SendText`."""

Remember = Callable[[Turn, WorkItem, str], None]
"""Notes whose words a plan was made from, in case it takes another one."""

LearnSignal = Callable[[Signal], Awaitable[None]]
"""Takes note of what the owner decided; never fails."""


class PlanFlow:
    """Takes what an agent wants to do with a plan as far as the owner lets it go.

    Args:
        proposer: Asks the owner; nothing else makes an approval.
        plans: Whether words of plans may be somebody else's.
        modes: Resolves the mode of the work.
        keeper: Writes the plan down before anybody is asked.
        work: Whose work is whose.
        work_view: What of it is in view.
        dispatch: Starts what was approved.
        remember: Remembers who asked for it.
        learn: Learns from the owner's answer.
        audit: Where every refusal is recorded.
    """

    def __init__(
        self,
        proposer: Proposer,
        plans: ReviewPlans,
        modes: TurnModes,
        keeper: TurnWriter,
        work: ScopeWork,
        work_view: WorkContext,
        dispatch: Dispatch,
        remember: Remember,
        learn: LearnSignal,
        audit: Audit,
    ) -> None:
        self._proposer = proposer
        self._plans = plans
        self._modes = modes
        self._keeper = keeper
        self._work = work
        self._work_view = work_view
        self._dispatch = dispatch
        self._remember = remember
        self._learn = learn
        self._audit = audit

    async def run(self, turn: Turn) -> str:
        """The text of the answer; what the agent says about approval never counts."""
        response = need(turn.answer.response, "step 7")
        action = response.plan_action
        if action is None:
            return response.message
        if action.action not in PROPOSALS or action.plan_markdown is None:
            return await self._nothing_to_propose(turn, response.message, action.action)
        item, mistakes = self._proposer.draft(action.plan_markdown)
        back = _times(turn.proposal.returned)
        if item is None:
            return await self._answer_unreadable(turn, response.message, mistakes[0], back)
        if not response.needs_approval:
            await self._audit.log(
                "needs_approval_overridden", turn_id=turn.id, work_item_id=item.id
            )
        forced = self._modes.why_forced(turn, item)
        turn.proposal.plan = item = await self._complete_item(turn, item, action)
        unable = await self._proposer.unable(item)
        if unable is not None:
            turn.answer.outcome = _OUTCOMES[unable.verdict]
            return f"{response.message}\n\n{back}{unable.words}"
        if turn.proposal.review.mistakes:
            return await self._could_not(turn, item, response.message, back)
        replaces = await self._find_replaced(turn, item, action)
        await self._keeper.plan(turn, item, action.plan_markdown)
        said = _rationale(turn, response.message)
        why = " ".join(filter(None, (said, forced, turn.proposal.review.trial)))
        # the library's own plan, filled from the owner's own message: nothing in it was read
        filled = not self._plans.marks and is_owners(turn) and not action.continuation_of
        seen = turn.shown.provenance
        marks = [] if filled else plan_marks(item, response.message, seen, replaces)
        why = with_marks(why, marks)
        proposal = await self._ask_owner(turn, item, why, [one.item for one in replaces])
        return await self._answer_proposal(turn, item, response, proposal)

    async def _ask_owner(
        self, turn: Turn, item: WorkItem, why: str, replaces: Sequence[WorkItem]
    ) -> Proposal:
        """The owner's answer; where he can go on talking meanwhile, he is told the answer first."""
        turn.proposal.made_from = self._keeper.sources(turn)
        async with turn.aside() as goes_on:
            if (
                goes_on or item.standing is not None
            ):  # how far a yes goes is said before it is asked
                turn.answer.said = need(turn.answer.response, "step 7").message
                if turn.answer.said:
                    await turn.seat.send(turn.answer.said)
            async with self._claim_while_asked(turn, item):
                return await self._proposer.propose(
                    item, turn.seat.channel, _asking_address(turn), why, replaces, turn.asked_by
                )

    @asynccontextmanager
    async def _claim_while_asked(self, turn: Turn, item: WorkItem) -> AsyncGenerator[None]:
        """Its work is this scope's while its card is open, wherever that is answered; afterwards
        only what has a yes or may get one.

        What the owner asks for is his, whoever asked for something under its id before; what
        anybody else asks for is nobody's where a question under its id is open.
        """
        free = not await self._proposer.why_ids_taken(item)
        begun = [one for one in (item, *item.children) if free]
        if turn.scope_id == OWNER and await self._proposer.is_new(item):
            for one in begun:
                self._work.take_over(one.id)
        elif turn.scope_id != OWNER and await self._proposer.question(item.id) is not None:
            begun = []
        begun = [one for one in begun if not self._work.is_claimed(one.id)]
        for one in begun:
            sources = (turn.source, *turn.proposal.made_from)
            self._work.claim(one.id, turn.address, sources, turn.asked_by.message)
        try:
            yield
        finally:
            if not await self._proposer.is_kept(item):
                for one in begun:
                    self._work.release(one.id, turn.address)

    async def _answer_unreadable(
        self, turn: Turn, message: str, error: PlanError, back: str
    ) -> str:
        turn.answer.outcome = "blocked"
        await self._audit.log("plan_unreadable", turn_id=turn.id, reason=str(error))
        return tr(
            "{message}\n\nThe plan cannot be read: {error}. {back}Nothing was run.",
            message=message,
            error=refusal_words(str(error)),
            back=back,
        )

    async def _could_not(self, turn: Turn, item: WorkItem, message: str, back: str) -> str:
        """What was tried of the plan says that it could not succeed."""
        turn.answer.outcome = "blocked"
        mistakes = turn.proposal.review.mistakes
        await self._audit.log("plan_refused", work_item_id=item.id, reason="; ".join(mistakes))
        return tr(
            "{message}\n\nThe plan could not succeed: {why}. {back}Nothing was "
            "asked, and nothing was run.",
            message=message,
            why="; ".join(map(refusal_words, mistakes)).rstrip("."),
            back=back,
        )

    async def _answer_proposal(
        self, turn: Turn, item: WorkItem, response: AgentResponse, proposal: Proposal
    ) -> str:
        if (decided := _DECISIONS.get(proposal.verdict)) is not None:
            await self._learn(Signal(plan_family(item), decided, turn.scope_id))
        if proposal.verdict in {"approved", APPROVED_ELSEWHERE, *STAYS}:
            made_from = (turn.source, *turn.proposal.made_from)
            for one in (item, *item.children):
                if proposal.verdict not in STAYS or self._work.is_claimed(one.id):
                    self._work.claim(one.id, turn.address, made_from, turn.asked_by.message)
            action = need(response.plan_action, "step 7")
            self._remember(turn, item, action.plan_markdown or "")
        if proposal.verdict == "approved":
            return self._dispatch_item(turn, item, response)
        if proposal.verdict not in STAYS:
            self._work_view.may_leave(turn.address, item.id)
        turn.answer.outcome = _OUTCOMES.get(proposal.verdict, "declined")
        if proposal.verdict == "edit_requested":
            return f"{proposal.words} {tr(_SAY)}"
        return proposal.words

    async def _find_replaced(
        self, turn: Turn, item: WorkItem, action: PlanAction
    ) -> list[WaitingPlan]:
        """The plans of this conversation that the owner wanted changed and that this changes.

        Such a plan gives way to its change, in whichever process it comes, and to nothing else.
        """
        wanted = await self._proposer.to_change()
        mine = [one for one in wanted if self._work.address_of(one.item.id) == turn.address]
        found = [one for one in mine if one.item.id == item.id]
        if not found and action.action is PlanActionType.revise:
            found = mine[-1:]
        for former in found:
            self._work_view.may_leave(turn.address, former.item.id)
        return found

    def _dispatch_item(self, turn: Turn, item: WorkItem, response: AgentResponse) -> str:
        try:
            self._dispatch(item, turn.seat.send)
        except AlreadyRunning as error:  # another conversation was given the same yes meanwhile
            turn.answer.outcome = "blocked"
            return tr(
                "{message}\n\n{message2} It was not started a second time.",
                message=response.message,
                message2=error.message,
            )
        turn.answer.outcome = "dispatched"
        self._work_view.began(turn.seat.scope, item)
        title = show(item.title)
        if item.type is WorkItemType.goal:  # when it runs first is said next
            return tr("{message}\n\nApproved: {title}.", message=response.message, title=title)
        return tr(
            "{message}\n\nApproved: {title}. Working on it.",
            message=response.message,
            title=title,
        )

    async def _nothing_to_propose(self, turn: Turn, message: str, wanted: PlanActionType) -> str:
        turn.answer.outcome = "blocked"
        await self._audit.log("plan_action_refused", turn_id=turn.id, action=wanted.value)
        if wanted is PlanActionType.abort:
            return tr("{message}\n\nNothing was run.", message=message)
        return tr(
            "{message}\n\nNothing was run: the answer asks to {value} a plan and "
            "brings none that could be proposed.",
            message=message,
            value=wanted.value,
        )

    async def _complete_item(self, turn: Turn, item: WorkItem, action: PlanAction) -> WorkItem:
        """The item with its deepening link and its resolved mode (step 12)."""
        route = need(turn.answer.route, "step 7")
        named = action.continuation_of or route.continuation_of or item.follow_up_of
        changes = dict[str, Any]()
        before = None if named is None else await self._continues(turn, named)
        if before is not None:
            wanted = item.input_artifacts_from or ["*"]
            changes = {"follow_up_of": named, "input_artifacts_from": wanted}
            if "skills" not in item.model_fields_set:  # inherited, and then on the card (10.3)
                changes["skills"] = list(before.skills)
        elif named is not None or item.input_artifacts_from:
            changes = {"follow_up_of": None, "input_artifacts_from": list[str]()}
        item = item.model_copy(update=changes)
        return item.model_copy(update={"interaction_mode": self._modes.mode(turn, item)})

    async def _continues(self, turn: Turn, named: str) -> WorkItem | None:
        """The finished work of this conversation that this names; a model may name anything."""
        known = await self._work.find_work(named, turn.scope_id)
        if known is None:
            reason = tr("there is no such work in this conversation")
        elif known.item.status is not WorkItemStatus.done:
            reason = tr(
                "it is {value}, so there is nothing to go on from", value=known.item.status.value
            )
        else:
            return known.item
        await self._audit.log("continuation_dropped", turn_id=turn.id, reason=reason)
        return None


def _times(returned: int) -> str:
    """That a plan went back in vain; nothing where it did not."""
    times = tr("once") if returned == 1 else tr("twice")
    return tr(_AWAY).format(times=times) if returned else ""


def _asking_address(turn: Turn) -> str:
    """Where the owner is asked: in his conversation, and about what others ask in his first one."""
    return turn.address if turn.scope_id == OWNER else OWNER


def _rationale(turn: Turn, message: str) -> str:
    """Why a plan is proposed; for a plan that the owner did not ask for, who did."""
    why = message.strip() or tr("The agent gives no reason.")
    if turn.message.incoming.connection_id == OWNER:
        return why
    sender = turn.message.incoming.message.sender_id
    return tr(
        "{sender} on {channel} ({taint}) asked for this. {why}",
        sender=sender,
        channel=turn.message.incoming.message.channel,
        taint=turn.message.taint,
        why=why,
    )
