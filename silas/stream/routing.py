"""Step 7: persona, proxy, planner, and the mode the turn proceeds in (spec 5.1, 5.1.0)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from silas.agents import AgentResponse, ProxyAgent, RouteDecision, TurnRequest
from silas.agents.announcements import claims_work, only_announces, owes_work, says_why_not
from silas.agents.limits import cannot, wants_more
from silas.audit import Audit
from silas.errors import LLMError
from silas.language import refusal_words, said_at, tr
from silas.stream.model_runs import outcome_of, record_run
from silas.stream.planning import Planning
from silas.stream.ports import ModelView
from silas.stream.reminding import asks_besides
from silas.stream.state import PlanReview, Turn, need
from silas.stream.turn_modes import TurnModes
from silas.stream.view import Viewing
from silas.tools.toolset import AllTools, ToolRun
from silas.types import InteractionMode, InteractionRegister

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

_WORK = "work is wanted, and nothing was done yet"


class AnswersWords(Protocol):
    """Code that understands some of the owner's own words."""

    async def answer(self, turn: Turn) -> bool:
        """Fill in route and response; False where it is none of its messages."""
        ...


class Router:
    """Asks the models of a turn; when none can be asked, says so and goes on.

    Args:
        viewing: What the models see.
        by_code: Answer words of the owner's before a model is asked, the first one first.
        proxy: Answers, or hands over to the planner.
        toolset: The PydanticAI wrapper chain that ends at the tool door.
        planning: Asks the planner.
        modes: Resolves the mode of the turn.
        context: Divides the window as the route's profile says.
        profiles: Names of the context profiles, the default first.
        audit: Where every run is recorded.
        now: The moment in the owner's time zone, which the models are told.
        compute: What a message asks to be computed, exact, at a moment; None for all else.
        remind: Makes the reminder that a model read in a message; whether it answered.
    """

    def __init__(
        self,
        viewing: Viewing,
        by_code: Sequence[AnswersWords],
        proxy: ProxyAgent,
        toolset: "AbstractToolset[ToolRun]",
        planning: Planning,
        modes: TurnModes,
        context: ModelView,
        profiles: tuple[str, ...],
        audit: Audit,
        now: Callable[[], datetime],
        compute: Callable[[str, datetime], str | None],
        remind: Callable[[Turn, str], Awaitable[bool]],
    ) -> None:
        self._compute = compute
        self._remind = remind
        self._viewing = viewing
        self._by_code = by_code
        self._proxy = proxy
        self._toolset = toolset
        self._planning = planning
        self._modes = modes
        self._context = context
        self._profiles = profiles
        self._audit = audit
        self._now = now

    async def route(self, turn: Turn, access_level: str) -> None:
        """Fill in route, response and mode."""
        context, now = await self._viewing.render_context(turn), self._now()
        computed = self._compute(turn.message.text, now) if self._planning.by_a_model else None
        turn.shown.request = TurnRequest(
            text=turn.message.text,
            now=now,
            taint=turn.message.taint,
            profiles=self._profiles,
            workspace=turn.message.incoming.workspace or "",
            facts={
                **({"computed": computed} if computed else {}),
                **_back_for_changes(turn.seat.scope.to_change),
            },
            context=context,
            skills=turn.shown.skills,
            access_level=access_level,
        )
        for words in self._by_code:
            if await words.answer(turn):
                return
        await self._ask_or_degrade(turn, turn.shown.request)

    async def again(self, turn: Turn, instruction: str) -> None:
        """Ask once more, with a gate's instruction where it has one (5.1.1)."""
        request = need(turn.shown.request, "step 7")
        told = replace(request, facts={**request.facts, "rephrase": instruction})
        await self._ask_or_degrade(turn, told)

    async def _ask_or_degrade(self, turn: Turn, request: TurnRequest) -> None:
        turn.answer.outcome = "answered"
        try:
            await self._ask(turn, request)
        except LLMError as error:
            await self._degrade(turn, error)
        door = turn.door
        refused = said_at(door, turn.shown.looks.refused)
        if refused and refused not in turn.answer.notes:
            turn.answer.notes.append(refused)
        profile = need(turn.answer.route, "routing").context_profile
        self._context.set_profile(turn.address, profile)

    async def _ask(self, turn: Turn, request: TurnRequest) -> None:
        turn.proposal.returned, turn.proposal.review = 0, PlanReview()
        tools = need(turn.shown.tools, "step 6")
        asking = self._planning.for_proxy(request)
        routed = await self._proxy.route(asking, toolset=self._toolset, deps=tools)
        said = routed.output
        route = turn.answer.route = (
            _route_of_answer(_route_of_refusal(said, turn), turn)
            if self._planning.by_a_model
            else said
        )
        turn.answer.mode = self._modes.mode(turn, None)
        await record_run(
            self._audit,
            "turn_routed",
            turn,
            routed,
            route=route.route,
            register=route.interaction_register.value,
            mode=turn.answer.mode.value,
            profile=route.context_profile,
        )
        if route.reminder and await self._remind(turn, route.reminder):
            if route.route == "direct" and not asks_besides(turn.message.text):
                _remember_too(turn, route)
                return
            _keep_beside(turn, route)
            turn.answer.mode = self._modes.mode(turn, None)
        if route.route == "direct":
            turn.answer.response, turn.answer.speaker = route.response, "agent:proxy"
            turn.answer.outcome = outcome_of(routed, turn.answer.response)
            return
        await self._planning.run(turn, request, route)
        _remember_too(turn, route)

    async def _degrade(self, turn: Turn, error: LLMError) -> None:
        """No model could be asked: an honest answer instead of none (18.1, `E_LLM_*`)."""
        turn.answer.outcome, turn.answer.speaker = "failed", "silas"
        turn.answer.response = AgentResponse(
            message=tr("{error} Nothing was run.", error=refusal_words(error.message))
        )
        turn.answer.route = RouteDecision(
            route="direct",
            reason=error.code,
            response=turn.answer.response,
            interaction_register=InteractionRegister.status,
            interaction_mode=InteractionMode.confirm_only_when_required,
            context_profile=self._profiles[0],
        )
        turn.answer.mode = self._modes.mode(turn, None)
        await self._audit.log(
            "turn_degraded",
            turn_id=turn.id,
            code=error.code,
            register=turn.answer.route.interaction_register.value,
            mode=turn.answer.mode.value,
            profile=turn.answer.route.context_profile,
        )


def _unable(turn: Turn) -> str:
    """What Silas cannot do of what the owner or another asks, as a sentence; mostly nothing."""
    allowed = need(turn.shown.tools, "step 6").allowed
    told = "" if isinstance(allowed, AllTools) else cannot(turn.message.text, allowed)
    return f"{told}. Nothing was done." if told else ""


def _remember_too(turn: Turn, route: RouteDecision) -> None:
    """What is to be remembered of a message that asks for work besides, said by whoever noticed."""
    said = turn.answer.response
    asked = route.memory_ops if route.response is None else route.response.memory_ops
    if said is None or not asked:
        return
    known = {(op.op, op.memory_id, op.content) for op in said.memory_ops}
    more = [op for op in asked if (op.op, op.memory_id, op.content) not in known]
    ops = [*more, *said.memory_ops]
    turn.answer.response = said.model_copy(update={"memory_ops": ops})


def _keep_beside(turn: Turn, route: RouteDecision) -> None:
    """What became of the reminder that a message asks for stands below what became of the rest."""
    told = need(turn.answer.response, "the reminder").message
    turn.answer.route, turn.answer.response, turn.answer.outcome = route, None, "answered"
    turn.answer.notes.append(told)


def _route_of_refusal(route: RouteDecision, turn: Turn) -> RouteDecision:
    """The route; words of Silas's own where a model takes what cannot be done for something else.

    A model that says why not is not corrected, nor is the work that is asked for besides.
    """
    said, more = route.response, wants_more(turn.message.text)
    honest = said is not None and (says_why_not(said.message) or "?" in said.message)
    if honest or more or turn.may_have_acted or not (told := _unable(turn)):
        return route
    return route.model_copy(update={"route": "direct", "response": AgentResponse(message=told)})


_WITHOUT_WORK = (only_announces, claims_work, owes_work)


def _route_of_answer(route: RouteDecision, turn: Turn) -> RouteDecision:
    """The route; an answer that only announces or claims work goes to who can do it.

    What is remembered is done by the answer itself, so that telling it is no mere announcement. A
    tool that answered in this turn may have done what is claimed, with the owner's yes.
    """
    said = route.response
    if said is None or said.memory_ops or said.plan_action is not None or turn.may_have_acted:
        return route
    if not any(judge(turn.message.text, said.message) for judge in _WITHOUT_WORK):
        return route
    return route.model_copy(update={"route": "planner", "response": None, "reason": _WORK})


def _back_for_changes(plans: tuple[str, ...]) -> dict[str, str]:
    """Which plans the planner's `revise` is about; that they are in view does not tell it."""
    return {"came_back_for_changes": ", ".join(plans)} if plans else {}
