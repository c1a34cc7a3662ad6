"""Step 7, second half: the planner is asked, and what could not succeed goes back to it (5.1).

Checks that already pass send a plan back once and never refuse it. A refactoring has guards alone,
so refusing would forbid honest work; asking once finds most checks that prove nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from silas.agents import AgentResponse, PlannerAgent, RouteDecision, StructuredRun, TurnRequest
from silas.agents.announcements import claims_work, only_announces, owes_work
from silas.agents.prompt import PlanningBrief, ReturnedPlan
from silas.audit import Audit
from silas.context import TokenCounter
from silas.errors import LLMError
from silas.language import group_digits, tr, tr_later
from silas.skills import Skills, SkillText, usable_texts
from silas.stream.earlier_looks import looks_that_fit
from silas.stream.former_plans import FormerPlans
from silas.stream.model_runs import outcome_of, record_run
from silas.stream.plan_review import MOST_RETURNS, PROPOSALS, ReviewPlans
from silas.stream.ports import MakeToolRun, ModelView
from silas.stream.scope_work import ScopeWork
from silas.stream.state import PlanReview, Turn, need
from silas.tools.toolset import ToolRun

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

SurroundingFacts = Callable[[str], Awaitable[Mapping[str, str]]]
"""Facts for plans in this workspace, such as what runs there."""

PlanTools = Callable[[], str]
"""What plans can call of others, for who decides whether a plan is wanted."""


class TurnPlanner:
    """The planner, with the look-ups of the turn that it writes a plan for.

    Args:
        planner: Writes plans.
        toolset: The PydanticAI wrapper chain that ends at the tool door.
        tool_run: Makes what one run hands to that chain.
    """

    def __init__(
        self,
        planner: PlannerAgent,
        toolset: "AbstractToolset[ToolRun]",
        tool_run: MakeToolRun,
    ) -> None:
        self._planner = planner
        self._toolset = toolset
        self._tool_run = tool_run

    async def plan(self, turn: Turn, asking: TurnRequest) -> StructuredRun[AgentResponse]:
        """Ask for a plan."""
        return await self._planner.plan(asking, toolset=self._toolset, deps=self._look_ups(turn))

    async def revise(self, turn: Turn, asking: TurnRequest) -> StructuredRun[AgentResponse]:
        """Ask for another plan in place of one whose work did not succeed."""
        return await self._planner.revise(asking, toolset=self._toolset, deps=self._look_ups(turn))

    def _look_ups(self, turn: Turn) -> ToolRun:
        return self._tool_run(
            "planner",
            turn.id,
            turn.address,
            need(turn.shown.tools, "step 6").allowed,
            turn.shown.provenance,
            turn.note,
            turn.shown.looks,
            turn.aside,
        )


class Planning:
    """Turns a request into a proposed plan, or into words about why there is none.

    Args:
        planner: Writes plans.
        plans: Says what is wrong with one before its owner is asked about it.
        facts: What the planner is told of the machine.
        plan_tools: What the proxy is told of what plans can call.
        work: Whose work is whose, for the skills of what a plan goes on from.
        context: How much room is left for those.
        skills: Their texts.
        former_plans: The plan of what it goes on from.
        audit: Where every run is recorded.
    """

    def __init__(
        self,
        planner: TurnPlanner,
        plans: ReviewPlans,
        facts: SurroundingFacts,
        plan_tools: PlanTools,
        work: ScopeWork,
        context: ModelView,
        skills: Skills,
        former_plans: FormerPlans,
        audit: Audit,
    ) -> None:
        self._planner = planner
        self._plans = plans
        self._facts = facts
        self._plan_tools = plan_tools
        self._work = work
        self._context = context
        self._skills = skills
        self._former_plans = former_plans
        self._audit = audit

    @property
    def by_a_model(self) -> bool:
        """Whether words without work may be empty ones: those of the built-in model are not."""
        return self._plans.marks

    def for_proxy(self, request: TurnRequest) -> TurnRequest:
        """The request with what a plan could call, so that it is not taken for impossible."""
        return request.with_plan_tools(self._plan_tools())

    async def run(self, turn: Turn, request: TurnRequest, route: RouteDecision) -> None:
        """Fill in the response. Raises `LLMError` where no planner could be asked."""
        # of the machine, for plans: who only routes needs none of them
        surroundings = await self._facts(request.workspace)
        asking = replace(
            request,
            facts={**request.facts, **surroundings},
            brief=PlanningBrief(
                reason=route.reason,
                continuation_of=route.continuation_of or "",
                interaction_mode=turn.answer.mode.value,
                skill_texts=await self._skill_texts(turn, route.continuation_of),
                former_plan=await self._former_plans.block_of(turn, route.continuation_of or ""),
            ),
        )
        await self._plan(turn, asking)
        await self._words_back(turn, asking)
        await self._send_back(turn, asking)
        turn.proposal.planning = self._with_looks(turn, asking)

    async def _words_back(self, turn: Turn, asking: TurnRequest) -> None:
        """Words that announce or claim work go back once; whoever says them again is corrected."""
        wrong = _without_work(turn) if self.by_a_model else ""
        if not wrong:
            return
        said = turn.answer.response.message if turn.answer.response is not None else ""
        with suppress(LLMError):  # what it said first is shown, and corrected
            await self._plan(
                turn, replace(asking, returned=ReturnedPlan(said, (wrong,), owed=True))
            )
        if _without_work(turn) and not turn.may_have_acted:
            turn.answer.notes.append(_NOTHING_DONE)

    async def _send_back(self, turn: Turn, asking: TurnRequest) -> None:
        """A plan that could not succeed goes back with all that is wrong, before anybody is asked.

        A hint goes back once; the plan stands where the planner has nothing better to say.
        """
        before, hinted, spent = "", False, 0
        while (plan := _proposed_plan(turn)) is not None:
            review = await self._plans.review(turn, plan)
            turn.proposal.review = _with_cost(review, turn.proposal.returned, spent)
            hint = review.hint and not hinted
            told = review.mistakes or ((review.hint,) if hint else ())
            if not told or plan == before or turn.proposal.returned == MOST_RETURNS:
                return
            turn.proposal.returned, before, hinted = (
                turn.proposal.returned + 1,
                plan,
                hinted or bool(hint),
            )
            stands = turn.answer.response, turn.answer.speaker, turn.answer.outcome
            try:
                spent += await self._plan(turn, replace(asking, returned=ReturnedPlan(plan, told)))
            except LLMError:
                if review.mistakes:
                    raise
                return
            if turn.answer.outcome == "failed" and not review.mistakes:
                turn.answer.response, turn.answer.speaker, turn.answer.outcome = stands
                return

    async def _plan(self, turn: Turn, asking: TurnRequest) -> int:
        """Fill in the response; gives the tokens that it took."""
        planned = await self._planner.plan(turn, self._with_looks(turn, asking))
        turn.shown.provenance.settle()  # before the plan itself comes into view
        turn.answer.response, turn.answer.speaker = planned.output, "agent:planner"
        turn.answer.outcome = outcome_of(planned, planned.output)
        proposed = planned.output.plan_action is not None
        await record_run(self._audit, "turn_planned", turn, planned, proposed=proposed)
        return planned.tokens

    def _with_looks(self, turn: Turn, asking: TurnRequest) -> TurnRequest:
        looked = looks_that_fit(turn, self._room(turn))
        return replace(asking, brief=asking.brief._replace(looked=looked))

    def _room(self, turn: Turn) -> int:
        """Tokens that are free in what the models of the turn are shown."""
        full = self._context.pressure(turn.address, turn.number)
        return full.limit - full.used

    async def _skill_texts(self, turn: Turn, before: str | None) -> tuple[SkillText, ...]:
        """What the skills of this conversation's work say that the planner goes on from (6.5)."""
        known = None if before is None else await self._work.find_work(before, turn.scope_id)
        if known is None or not known.item.skills:
            return ()
        names, room = known.item.skills, self._room(turn)
        count = TokenCounter().count
        told = await asyncio.to_thread(usable_texts, self._skills, names, room, count)
        for skill in told:
            turn.shown.provenance.add_text(skill.text, skill.origin)
        return told


_ANSWER = "`propose` a plan; where it cannot be done, say why in a `question` about what to do."
_ANNOUNCED = f"The message announces work and brings no plan, so nothing would happen: {_ANSWER}"
_CLAIMED = f"The message says that something was done, and nothing was done yet: {_ANSWER}"
_OWED = f"The owner wants something changed, and this message changes nothing: {_ANSWER}"
_NOTHING_DONE = "In this turn nothing was done, changed or sent."


def _without_work(turn: Turn) -> str:
    """What is wrong with words that announce or claim work; empty where nothing is."""
    said = turn.answer.response
    if said is None or said.plan_action or said.memory_ops or turn.answer.outcome == "failed":
        return ""
    # a tool that answered in this turn may have done it, with the owner's yes
    if not turn.may_have_acted and claims_work(turn.message.text, said.message):
        return _CLAIMED
    if only_announces(turn.message.text, said.message):
        return _ANNOUNCED
    owed = not turn.may_have_acted and owes_work(turn.message.text, said.message)
    return _OWED if owed else ""


_RETURNED_ONCE = tr_later("The plan went back to its planner once, for {tokens} tokens.")
_RETURNED = tr_later("The plan went back to its planner {times} times, for {tokens} tokens.")


def _with_cost(review: PlanReview, returned: int, tokens: int) -> PlanReview:
    """What was tried of a plan, and for its card what going back to the planner cost."""
    if not returned:
        return review
    cost = tr(
        _RETURNED_ONCE if returned == 1 else _RETURNED, times=returned, tokens=group_digits(tokens)
    )
    return review._replace(trial=" ".join(filter(None, (review.trial, cost))))


def _proposed_plan(turn: Turn) -> str | None:
    """The text of the plan that the answer proposes, if it does."""
    action = turn.answer.response.plan_action if turn.answer.response is not None else None
    return None if action is None or action.action not in PROPOSALS else action.plan_markdown
