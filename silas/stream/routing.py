"""Step 7: persona, proxy, planner, and the mode the turn proceeds in (spec 5.1, 5.1.0)."""

import asyncio
from dataclasses import replace

from silas.agents import AgentResponse, RouteDecision, StructuredRun, TurnRequest
from silas.context import TokenCounter
from silas.errors import LLMError
from silas.plans import WorkItem, plan_bytes, plan_card
from silas.plans.card import forced_mode, forcing
from silas.skills import SkillText, usable
from silas.stream.models import Outcome
from silas.stream.modes import resolve_interaction_mode
from silas.stream.planreview import MOST_RETURNS, PROPOSALS
from silas.stream.rooms import TurnRooms
from silas.stream.state import PlanReview, Turn, need
from silas.stream.view import Viewing
from silas.tools.toolset import ToolRun
from silas.types import InteractionMode, InteractionRegister


class Router:
    """Asks the models of a turn; when none can be asked, says so and goes on."""

    def __init__(self, rooms: TurnRooms, viewing: Viewing) -> None:
        self._rooms = rooms
        self._viewing = viewing

    async def route(self, turn: Turn, access_level: str) -> None:
        """Fill in route, response and mode."""
        rooms = self._rooms
        context = await self._viewing.rendered(turn)
        turn.request = TurnRequest(
            text=turn.text,
            now=rooms.clock.now(),
            taint=turn.taint,
            profiles=rooms.profiles,
            workspace=turn.incoming.workspace or "",
            context=context,
            skills=turn.skills,
            access_level=access_level,
        )
        await self._ask_or_degrade(turn, turn.request)

    async def again(self, turn: Turn, instruction: str) -> None:
        """Ask once more, with a gate's instruction where it has one (5.1.1)."""
        request = need(turn.request, "step 7")
        told = replace(request, facts={**request.facts, "rephrase": instruction})
        await self._ask_or_degrade(turn, told)

    async def _ask_or_degrade(self, turn: Turn, request: TurnRequest) -> None:
        turn.outcome = "answered"
        try:
            await self._ask(turn, request)
        except LLMError as error:
            await self._degrade(turn, error)
        if turn.looks.refused and turn.looks.refused not in turn.notes:
            turn.notes.append(turn.looks.refused)
        profile = need(turn.route, "routing").context_profile
        self._rooms.context.set_profile(turn.scope_id, profile)

    async def _ask(self, turn: Turn, request: TurnRequest) -> None:
        rooms, tools = self._rooms, need(turn.tools, "step 6")
        turn.returned, turn.review = 0, PlanReview()
        routed = await rooms.proxy.route(request, toolset=rooms.toolset, deps=tools)
        route = turn.route = routed.output
        turn.mode = self.mode(turn, None)
        await self._note(
            "turn_routed",
            turn,
            routed,
            route=route.route,
            register=route.interaction_register.value,
            mode=turn.mode.value,
            profile=route.context_profile,
        )
        if route.route == "direct":
            turn.response, turn.speaker = route.response, "agent:proxy"
            turn.outcome = _outcome(routed, turn.response)
            return
        # of the machine, for plans: who only routes needs none of them
        surroundings = await rooms.facts(request.workspace)
        asking = turn.planning = replace(
            request,
            facts={**request.facts, **surroundings},
            told=await self._told(turn, route.continuation_of),
            reason=route.reason,
            continuation_of=route.continuation_of or "",
            interaction_mode=turn.mode.value,
        )
        await self._plan(turn, asking, tools)
        await self._sent_back(turn, asking, tools)

    async def _sent_back(self, turn: Turn, asking: TurnRequest, tools: ToolRun) -> None:
        """A plan that could not succeed goes back with all that is wrong, before anybody is asked.

        A hint goes back once; the plan stands where the planner has nothing better to say.
        """
        before, hinted = "", False
        while (plan := _proposed(turn)) is not None:
            turn.review = review = await self._rooms.plans.review(turn, plan)
            hint = review.hint and not hinted
            told = review.mistakes or ((review.hint,) if hint else ())
            if not told or plan == before or turn.returned == MOST_RETURNS:
                return
            turn.returned, before, hinted = turn.returned + 1, plan, hinted or bool(hint)
            stands = turn.response, turn.speaker, turn.outcome
            try:
                await self._plan(turn, replace(asking, returned=plan, mistakes=told), tools)
            except LLMError:
                if review.mistakes:
                    raise
                return
            if turn.outcome == "failed" and not review.mistakes:
                turn.response, turn.speaker, turn.outcome = stands
                return

    async def _plan(self, turn: Turn, asking: TurnRequest, tools: ToolRun) -> None:
        rooms = self._rooms
        planned = await rooms.planner.plan(
            asking,
            toolset=rooms.toolset,
            deps=rooms.tool_run(
                "planner",
                turn.id,
                turn.scope_id,
                tools.allowed,
                turn.provenance,
                turn.note,
                turn.looks,
            ),
        )
        turn.provenance.settle()  # before the plan itself comes into view
        turn.response, turn.speaker = planned.output, "agent:planner"
        turn.outcome = _outcome(planned, planned.output)
        proposed = planned.output.plan_action is not None
        await self._note("turn_planned", turn, planned, proposed=proposed)

    async def _told(self, turn: Turn, before: str | None) -> tuple[SkillText, ...]:
        """What the skills of this conversation's work say that the planner goes on from (6.5)."""
        known = None if before is None else await self._rooms.work.known(before, turn.scope_id)
        if known is None or not known.item.skills:
            return ()
        full = self._rooms.context.pressure(turn.scope_id, turn.number)
        names, room = known.item.skills, full.limit - full.used
        count = TokenCounter().count
        told = await asyncio.to_thread(usable, self._rooms.skills, names, room, count)
        for skill in told:
            turn.provenance.entered(skill.text, skill.origin)
        return told

    async def _note(
        self, event: str, turn: Turn, run: StructuredRun[object], **facts: str | bool
    ) -> None:
        dropped = {"dropped": list(run.dropped)} if run.dropped else {}
        for words in run.stood_in:
            await self._rooms.audit.log("model_stood_in", turn_id=turn.id, words=words)
            if words not in turn.notes:
                turn.notes.append(words)
        await self._rooms.audit.log(
            event,
            turn_id=turn.id,
            fell_back=run.fell_back,
            tokens=run.tokens,
            cost_usd=run.cost_usd,
            prompt=run.prompt,
            **dropped,
            **facts,
        )

    async def _degrade(self, turn: Turn, error: LLMError) -> None:
        """No model could be asked: an honest answer instead of none (18.1, `E_LLM_*`)."""
        turn.outcome, turn.speaker = "failed", "silas"
        turn.response = AgentResponse(message=f"{error.message} Nothing was run.")
        turn.route = RouteDecision(
            route="direct",
            reason=error.code,
            response=turn.response,
            interaction_register=InteractionRegister.status,
            interaction_mode=InteractionMode.confirm_only_when_required,
            context_profile=self._rooms.profiles[0],
        )
        turn.mode = self.mode(turn, None)
        await self._rooms.audit.log(
            "turn_degraded",
            turn_id=turn.id,
            code=error.code,
            register=turn.route.interaction_register.value,
            mode=turn.mode.value,
            profile=turn.route.context_profile,
        )

    def mode(self, turn: Turn, item: WorkItem | None) -> InteractionMode:
        """The effective mode of the turn, or of the work it proposes (precedence: step 12).

        Risk forces confirmation: a gate that asked in this turn, or a plan whose card is of high
        risk. No other place sets a mode.
        """
        route, rooms = need(turn.route, "routing"), self._rooms
        action = turn.response.plan_action if item is not None and turn.response else None
        preset = item is not None and "interaction_mode" in item.model_fields_set
        return resolve_interaction_mode(
            proxy_mode=route.interaction_mode,
            planner_override=action.interaction_mode_override if action else None,
            work_item_mode=item.interaction_mode if item is not None and preset else None,
            risk_requires_confirmation=turn.asked or (item is not None and bool(_forcing(item))),
            initiative_level=turn.manner.initiative,
            interaction_register=route.interaction_register,
            high_initiative_min=rooms.interaction.high_initiative_min,
            default_mode_by_register=dict(rooms.interaction.default_mode_by_register),
        )

    def forced(self, turn: Turn, item: WorkItem) -> str:
        """That the work proceeds in another mode than its plan asks for, and why; or nothing."""
        if "interaction_mode" not in item.model_fields_set:
            return ""
        asked = "a rule asked in this turn" if turn.asked else ""
        return forced_mode(item.interaction_mode, _forcing(item) or asked)


def _proposed(turn: Turn) -> str | None:
    """The text of the plan that the answer proposes, if it does."""
    action = turn.response.plan_action if turn.response is not None else None
    return None if action is None or action.action not in PROPOSALS else action.plan_markdown


def _outcome(run: StructuredRun[object], said: AgentResponse | None) -> Outcome:
    """Who never answered in form, or says that it did not understand, has not answered."""
    understood = said is None or said.understood
    return "answered" if understood and not run.fell_back else "failed"


def _forcing(item: WorkItem) -> str:
    """Why the risk of a plan forces confirmation; nothing where it does not."""
    return forcing(plan_card(plan_bytes(item), rationale="risk").risk)
