"""Another plan for work that its own plan could not do: drafted, kept, and asked about (5.2.1 e).

Only where the owner's own words asked for the work in this run of Silas: from those, and from what
the work reported, the planner writes a plan of its own id, that is reviewed as every draft is and
runs after a new yes to a new card. A plan in place of another one may be replaced once more.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from silas.agents import AgentResponse
from silas.agents.prompt import FailedPlan, ReturnedPlan
from silas.audit import Audit
from silas.clock import Clock
from silas.errors import LLMError
from silas.gates import Gate, Gates, GateTrigger
from silas.plans import WaitingPlan, WorkItem
from silas.plans.source_marks import with_marks
from silas.stream.plan_marks import plan_marks
from silas.stream.plan_review import PROPOSALS, ReviewPlans, is_owners
from silas.stream.planning import TurnPlanner
from silas.stream.propose import Proposer
from silas.stream.scope_work import ScopeWork
from silas.stream.state import PlanReview, Turn, need
from silas.stream.turn_modes import TurnModes
from silas.stream.turn_writer import source_of
from silas.stream.work_context import WorkContext
from silas.types import OWNER, Origin, OriginKind, new_id
from silas.work.consulting import Revision

MOST_REVISIONS: Final = 2
"""How many plans may take the place of one another for one request."""

_MOST_ASKED: Final = 32  # plans whose turn is remembered
_REASON: Final = 600  # characters of the planner's reason on the card

_KEPT: Final = "A revised plan is on its card; `silas approvals show {id}` shows it, too."
_WHY: Final = (
    "This plan takes the place of {former}, which ended without success; nothing of that was "
    "applied, and its approval does not hold for this plan."
)
_REASONED: Final = "The planner's reason, in its own words: {reason}"
_WITHHELD: Final = "The planner's reason is withheld by the gate {gate}."


class _Asked(NamedTuple):
    """Who asked for a plan.

    Attributes:
        turn: The owner's turn, for its words, its looks and its labels.
        markdown: The plan as its planner wrote it.
        depth: How many plans of the same request came before.
    """

    turn: Turn
    markdown: str
    depth: int


class _Draft(NamedTuple):
    """A plan that nothing speaks against, before it is kept."""

    item: WorkItem
    markdown: str
    message: str
    trial: str
    sources: tuple[str, ...] = ()


class Revising:
    """`silas.work.consulting.Revise` over the turns of this run.

    Args:
        planner: Writes the other plan.
        plans: Says what is wrong with it before its owner is asked about it.
        proposer: Keeps it until its owner was asked.
        modes: Resolves the mode of its work.
        work: Whose work is whose, and what it rests on.
        work_view: Shows how work ended.
        gates: Say whether the planner's reason may stand on a card.
        system_gates: `gates.system` of the configuration.
        discreet: A text without any known secret.
        audit: Where it is recorded.
        clock: What time the planner is told.
    """

    def __init__(
        self,
        planner: TurnPlanner,
        plans: ReviewPlans,
        proposer: Proposer,
        modes: TurnModes,
        work: ScopeWork,
        work_view: WorkContext,
        gates: Gates,
        system_gates: tuple[Gate, ...],
        discreet: Callable[[str], str],
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._planner = planner
        self._plans = plans
        self._proposer = proposer
        self._modes = modes
        self._work = work
        self._work_view = work_view
        self._gates = gates
        self._system_gates = system_gates
        self._discreet = discreet
        self._audit = audit
        self._clock = clock
        self._asked: dict[str, _Asked] = {}
        self._unshown: dict[str, WaitingPlan] = {}
        self._replaced: dict[str, str] = {}

    def remember(self, turn: Turn, item: WorkItem, markdown: str) -> None:
        """Note whose words a plan was made from; only the owner's, and only a model's plan."""
        if is_owners(turn) and self._plans.marks:
            self._note(item, _Asked(turn, markdown, 0))

    def _note(self, item: WorkItem, asked: _Asked) -> None:
        self._asked[item.id] = asked
        for noted in (self._asked, self._replaced):
            while len(noted) > _MOST_ASKED:
                del noted[next(iter(noted))]

    def able(self, item: WorkItem) -> bool:
        """See `Revise.able`."""
        asked = self._asked.get(item.id)
        return asked is not None and asked.depth < MOST_REVISIONS

    def replacing(self, work_item_id: str) -> str:
        """The id of the plan that takes the place of this one; empty where none does."""
        return self._replaced.get(work_item_id, "")

    async def revise(self, item: WorkItem, failures: str, may_ask: Callable[[], bool]) -> Revision:
        """See `Revise.revise`."""
        known = await self._work.find_work(item.id, OWNER)
        if not self.able(item) or known is None or known.forgotten:
            return Revision()
        asked, spent = self._asked.pop(item.id), Revision()
        draft: _Draft | None = None
        try:
            spent, draft = await self._draft_plan(item, asked, failures, may_ask)
        except LLMError as error:  # the work ends as it would have
            await self._audit.log("plan_revision_failed", work_item_id=item.id, code=error.code)
        if draft is None:
            return spent
        draft = draft._replace(sources=known.sources)
        return spent._replace(words=await self._keep(item, asked, draft))

    async def _draft_plan(
        self, item: WorkItem, asked: _Asked, failures: str, may_ask: Callable[[], bool]
    ) -> tuple[Revision, _Draft | None]:
        """Ask, and send back what could not succeed, as often as `may_ask` allows."""
        turn = asked.turn
        # what the work reported may be anybody's words, and counts as read from here on
        origin = Origin(kind=OriginKind.tool, tool=f"the work {item.id}")
        turn.shown.provenance.add_text(failures, origin)
        first = need(turn.proposal.planning, "step 7")
        request = replace(
            first,
            now=self._clock.now().astimezone(first.now.tzinfo),
            failed=FailedPlan(asked.markdown, failures),
        )
        spent, found = Revision(), None
        while may_ask():
            run = await self._planner.revise(turn, request)
            turn.shown.provenance.settle()
            spent = Revision("", spent.tokens + run.tokens, spent.cost_usd + run.cost_usd)
            markdown = _proposed_markdown(run.output)
            if markdown is None or markdown == request.returned.text:
                return spent, found
            review = await self._plans.review(turn, markdown)
            found = self._accept_draft(markdown, run.output.message, review)
            hint = (
                ()
                if found is None or request.returned.mistakes or not review.hint
                else (review.hint,)
            )
            if not (told := review.mistakes or hint):
                return spent, found
            request = replace(request, returned=ReturnedPlan(markdown, told))
        return spent, found

    def _accept_draft(self, markdown: str, message: str, review: PlanReview) -> _Draft | None:
        item = self._proposer.draft(markdown).item
        if item is None or review.mistakes:
            return None
        return _Draft(item, markdown, message, review.trial)

    async def _keep(self, former: WorkItem, asked: _Asked, draft: _Draft) -> str:
        """Keep it among the open questions; it is shown when its predecessor has ended."""
        turn = asked.turn
        item = draft.item.model_copy(
            update={
                "id": await self._find_free_id(draft.item.id),
                "follow_up_of": None,
                "input_artifacts_from": list[str](),
                "interaction_mode": self._modes.mode(asked.turn, draft.item, confirm=True),
            }
        )
        reason = await self._reason(turn, draft.message)
        told = _WHY.format(former=f"{former.id} ({' '.join(former.title.split())})")
        # a model's words come last: nothing of Silas's stands behind them
        why = " ".join(filter(None, (told, draft.trial, reason)))
        why = with_marks(why, plan_marks(item, reason, turn.shown.provenance))
        waiting = await self._proposer.keep(item, why, turn.asked_by)
        looked = map(source_of, turn.shown.lookups)
        made_from = (*draft.sources, *looked)
        self._work.claim(item.id, turn.address, made_from, turn.asked_by.message)
        await self._audit.log("plan_revised", work_item_id=item.id, replaces=former.id)
        self._note(item, _Asked(turn, draft.markdown, asked.depth + 1))
        self._unshown[former.id] = waiting
        self._replaced[former.id] = item.id
        return _KEPT.format(id=item.id)

    async def _find_free_id(self, wanted: str) -> str:
        """An id of its own: what was approved for another plan is worth nothing for this one."""
        for name in (wanted, *(f"{wanted[:120]}-{number}" for number in range(2, 10))):
            known = await self._work.find_work(name, OWNER)
            if known is None and await self._proposer.question(name) is None:
                return name
        return new_id("task")

    async def _reason(self, turn: Turn, message: str) -> str:
        """Why, as far as the gates for answers let it through; nobody is asked about it here."""
        words = " ".join(message.split())[:_REASON] or "it gives none."
        outcome = await self._gates.for_turn().check_gates(
            list(self._system_gates),
            GateTrigger.every_agent_response,
            {"response": words, "sender_id": OWNER},
        )
        stops = outcome.block or next(iter(outcome.approvals), None)
        if stops is not None:
            return _WITHHELD.format(gate=stops.gate_name)
        return _REASONED.format(reason=self._discreet(str(outcome.context["response"])))

    async def end_work(self, item: WorkItem) -> WaitingPlan | None:
        """Work has ended, however it did: the plan in its place that its owner is asked about."""
        await self._work_view.show_end(item)
        self._asked.pop(item.id, None)
        return self._unshown.pop(item.id, None)


def _proposed_markdown(response: AgentResponse) -> str | None:
    action = response.plan_action
    return None if action is None or action.action not in PROPOSALS else action.plan_markdown
