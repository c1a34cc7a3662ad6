"""One turn: the sixteen steps of spec 5.1 in order, one path, readable as its table of contents."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from silas.agents import AgentResponse, RouteDecision, TurnRequest
from silas.cards import CardChannel
from silas.gates import Gate, GateOutcome, GateTrigger
from silas.plans import PlanError, WorkItem
from silas.stream.gating import TurnGates
from silas.stream.models import Incoming, Outcome, Reply, Send
from silas.stream.modes import resolve_interaction_mode
from silas.stream.rooms import Access, TurnRooms
from silas.tools.toolset import ToolRun
from silas.types import InteractionMode, TaintLevel, new_id

_RECALLED = 5  # memories brought into view by step 4


@dataclass
class Turn:
    """What one turn knows; made at step 0, filled in as the steps go by.

    Attributes:
        gates: The active gate set, frozen at step 0 and never rebuilt.
        text: The message, as input gates may have rewritten it.
        taint: Where the message came from; untrusted until step 2 says otherwise.
    """

    id: str
    incoming: Incoming
    send: Send
    channel: CardChannel
    scope_id: str
    gates: TurnGates
    text: str
    taint: TaintLevel = TaintLevel.external
    input_results: GateOutcome | None = None
    tools: ToolRun | None = None
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    mode: InteractionMode = InteractionMode.confirm_only_when_required
    route: RouteDecision | None = None
    speaker: str = "agent:proxy"
    response: AgentResponse | None = None
    plan: WorkItem | None = None
    outcome: Outcome = "answered"


class TurnProcessor:
    """Runs the turns of one scope, one at a time, and counts them."""

    def __init__(self, rooms: TurnRooms, scope_id: str, access: Access) -> None:
        self._rooms = rooms
        self._scope_id = scope_id
        self._access = access
        self._turn_number = 0

    async def run(self, incoming: Incoming, channel: CardChannel, send: Send) -> Reply:
        """Process one message to its reply; the reply's text has been sent exactly once."""
        rooms = self._rooms
        turn = self._begin(incoming, channel, send)  # 0    freeze the active gate set
        await self._review_queue(turn)  # 0.5  what waits for the owner
        stopped = await self._input_gates(turn)  # 1    policy may end the turn here
        if stopped is not None:
            return await self._say(turn, stopped, "blocked")
        turn.taint = await rooms.sign_in.taint_of(incoming)  # 2    sign and taint
        rooms.context.add(  # 3    chronicle
            turn.scope_id,
            kind="message",
            text=f"[{turn.taint}] {incoming.message.sender_id}: {turn.text}",
            taint=turn.taint,
            source=f"channel:{incoming.message.channel}",
            turn=self._turn_number,
        )
        await rooms.memory.store_raw(turn.text, "conversation_raw", turn.taint)  # 3.5  raw lane
        await self._recall(turn)  # 4    memories into view
        await rooms.context.enforce_budget(turn.scope_id, self._turn_number)  # 5    token budget
        await self._build_toolset(turn)  # 6    tools this connection may see
        self._prepare_skills(turn)  # 6.5  skills in view
        await self._route(turn)  # 7    persona, proxy, planner, mode
        stopped = await self._output_gates(turn)  # 8    before anything is sent
        if stopped is not None:
            return await self._say(turn, stopped, "blocked")
        response = self._response(turn)
        await rooms.memory.run_queries(response.memory_queries, turn.scope_id)  # 9
        await self._memory_operations(turn)  # 10   gated side effects
        rooms.context.add(  # 11   the answer into the chronicle
            turn.scope_id,
            kind="message",
            text=f"Silas: {response.message}",
            taint=turn.taint,
            source=turn.speaker,
            turn=self._turn_number,
        )
        await rooms.memory.store_raw(response.message, "agent_response_raw", turn.taint)  # 11.5
        text = await self._plan_flow(turn)  # 12   plan, approval, dispatch
        await turn.send(text)  # 13   one answer, without waiting for the work
        await self._access_state(turn)  # 14   gates that unlock levels
        await rooms.persona.after_turn(turn.scope_id, turn.outcome)  # 15   mood and telemetry
        self._turn_number += 1  # 16   count the turn
        return await self._finished(turn, text)

    # 0
    def _begin(self, incoming: Incoming, channel: CardChannel, send: Send) -> Turn:
        rooms = self._rooms
        active = tuple(rooms.system_gates)
        return Turn(
            id=new_id("turn"),
            incoming=incoming,
            send=send,
            channel=channel,
            scope_id=self._scope_id,
            gates=TurnGates(active, rooms.gates.for_turn(), rooms.escalator, rooms.audit),
            text=incoming.message.text,
        )

    # 0.5
    async def _review_queue(self, turn: Turn) -> None:
        waiting = await self._rooms.suggestions.idle(turn.scope_id, self._rooms.clock.now())
        for words in waiting:
            await turn.send(words)

    # 1
    async def _input_gates(self, turn: Turn) -> str | None:
        context = {"message": turn.text, "sender_id": turn.incoming.message.sender_id}
        passed = await turn.gates.check(
            GateTrigger.every_user_message, context, turn.channel, turn.incoming.connection_id
        )
        turn.input_results = passed.outcome
        turn.text = str(passed.context["message"])
        return passed.stopped

    # 4
    async def _recall(self, turn: Turn) -> None:
        for text in await self._rooms.memory.recall(turn.text, turn.scope_id, _RECALLED):
            self._rooms.context.add(
                turn.scope_id,
                kind="memory",
                text=text,
                taint=TaintLevel.external,
                source="memory",
                turn=self._turn_number,
            )

    # 6
    async def _build_toolset(self, turn: Turn) -> None:
        allowed = frozenset(await self._access.get_allowed_tools())
        turn.tools = self._rooms.tool_run("proxy", turn.id, turn.scope_id, allowed)

    # 6.5
    def _prepare_skills(self, turn: Turn) -> None:
        turn.skills = self._rooms.skills.catalogue()

    # 7
    async def _route(self, turn: Turn) -> None:
        rooms = self._rooms
        request = TurnRequest(
            text=turn.text,
            now=rooms.clock.now(),
            taint=turn.taint,
            profiles=rooms.profiles,
            workspace=turn.incoming.workspace or "",
            facts=rooms.facts,
            context=rooms.context.render(turn.scope_id, self._turn_number),
            personality=rooms.persona.directives(turn.scope_id, turn.text),
            skills=turn.skills,
            access_level=self._access.level,
        )
        routed = await rooms.proxy.route(request, toolset=rooms.toolset, deps=self._tools(turn))
        turn.route = routed.output
        turn.response = turn.route.response
        turn.mode = self._mode(turn, None)
        rooms.context.set_profile(turn.scope_id, turn.route.context_profile)
        await rooms.audit.log(
            "turn_routed",
            turn_id=turn.id,
            route=turn.route.route,
            register=turn.route.interaction_register.value,
            mode=turn.mode.value,
            profile=turn.route.context_profile,
            fell_back=routed.fell_back,
            tokens=routed.tokens,
            cost_usd=routed.cost_usd,
        )
        if turn.route.route == "planner":
            planned = await rooms.planner.plan(
                replace(
                    request,
                    reason=turn.route.reason,
                    continuation_of=turn.route.continuation_of or "",
                    interaction_mode=turn.mode.value,
                ),
                toolset=rooms.toolset,
                deps=rooms.tool_run("planner", turn.id, turn.scope_id, self._tools(turn).allowed),
            )
            turn.response, turn.speaker = planned.output, "agent:planner"
            await rooms.audit.log(
                "turn_planned",
                turn_id=turn.id,
                proposed=planned.output.plan_action is not None,
                fell_back=planned.fell_back,
                tokens=planned.tokens,
                cost_usd=planned.cost_usd,
            )

    def _mode(self, turn: Turn, item: WorkItem | None) -> InteractionMode:
        """The effective mode; nothing sets one without this resolver (5.1.0)."""
        route, rooms = self._routed(turn), self._rooms
        action = turn.response.plan_action if item is not None and turn.response else None
        return resolve_interaction_mode(
            proxy_mode=route.interaction_mode,
            planner_override=action.interaction_mode_override if action else None,
            work_item_mode=None,
            risk_requires_confirmation=False,
            initiative_level=rooms.persona.initiative(turn.scope_id),
            interaction_register=route.interaction_register,
            high_initiative_min=rooms.interaction.high_initiative_min,
            default_mode_by_register=dict(rooms.interaction.default_mode_by_register),
        )

    # 8
    async def _output_gates(self, turn: Turn) -> str | None:
        response = self._response(turn)
        context = {
            "response": response.message,
            "sender_id": turn.incoming.message.sender_id,
        }
        passed = await turn.gates.check(
            GateTrigger.every_agent_response, context, turn.channel, turn.incoming.connection_id
        )
        turn.response = response.model_copy(update={"message": str(passed.context["response"])})
        return passed.stopped

    # 10
    async def _memory_operations(self, turn: Turn) -> None:
        response, limit = self._response(turn), self._rooms.max_memory_ops
        if len(response.memory_ops) > limit:
            await self._rooms.audit.log(
                "memory_ops_truncated", turn_id=turn.id, asked=len(response.memory_ops), kept=limit
            )
        for op in response.memory_ops[:limit]:
            context = {"tool_name": "memory_op", "tool_args": op.model_dump(mode="json")}
            passed = await turn.gates.check(
                GateTrigger.on_tool_call, context, turn.channel, turn.incoming.connection_id
            )
            if passed.stopped is not None:
                await self._rooms.audit.log("memory_op_blocked", turn_id=turn.id, op=op.op.value)
                continue
            await self._rooms.memory.apply_op(passed.context["tool_args"], turn.scope_id)

    # 12
    async def _plan_flow(self, turn: Turn) -> str:
        """Propose the plan, if there is one; what the agent says about approval never counts."""
        response, rooms = self._response(turn), self._rooms
        action = response.plan_action
        if action is None or action.plan_markdown is None:
            return response.message
        parsed = rooms.proposer.parse(action.plan_markdown)
        if isinstance(parsed, PlanError):
            turn.outcome = "blocked"
            await rooms.audit.log("plan_unreadable", turn_id=turn.id, reason=str(parsed))
            return f"{response.message}\n\nThe plan cannot be read: {parsed}. Nothing was run."
        if not response.needs_approval:
            await rooms.audit.log(
                "needs_approval_overridden", turn_id=turn.id, work_item_id=parsed.id
            )
        item = self._linked(turn, parsed, action.continuation_of)
        item = item.model_copy(update={"interaction_mode": self._mode(turn, item)})
        turn.plan = item
        rooms.context.add(
            turn.scope_id,
            kind="plan",
            text=action.plan_markdown,
            taint=turn.taint,
            source=turn.speaker,
            turn=self._turn_number,
        )
        proposal = await rooms.proposer.propose(
            item, turn.channel, turn.incoming.connection_id, response.message
        )
        if proposal.verdict == "approved":
            turn.outcome = "dispatched"
            rooms.dispatch(item, turn.send)
            return f"{response.message}\n\nApproved: {item.title}. Working on it."
        turn.outcome = "blocked" if proposal.verdict == "refused" else "declined"
        return proposal.words

    def _linked(self, turn: Turn, item: WorkItem, continuation: str | None) -> WorkItem:
        """Deepening links the new item to the old and inherits its artifacts (step 12)."""
        prior = continuation or self._routed(turn).continuation_of
        if prior is None:
            return item
        wanted = item.input_artifacts_from or ["*"]
        return item.model_copy(update={"follow_up_of": prior, "input_artifacts_from": wanted})

    # 14
    async def _access_state(self, turn: Turn) -> None:
        passed = {
            result.gate_name
            for result in (turn.input_results.policy if turn.input_results else ())
            if result.action == "continue"
        }
        for gate in turn.gates.active:
            if _unlocks(gate) and gate.name in passed:
                await self._access.gate_passed(gate.name)

    async def _say(self, turn: Turn, text: str, outcome: Outcome) -> Reply:
        turn.outcome = outcome
        await turn.send(text)
        self._turn_number += 1
        return await self._finished(turn, text)

    async def _finished(self, turn: Turn, text: str) -> Reply:
        await self._rooms.audit.log(
            "turn_finished", turn_id=turn.id, scope_id=turn.scope_id, outcome=turn.outcome
        )
        return Reply(text=text, outcome=turn.outcome, plan=turn.plan, turn_id=turn.id)

    def _response(self, turn: Turn) -> AgentResponse:
        if turn.response is None:
            raise AssertionError("step 7 leaves a response")
        return turn.response

    def _routed(self, turn: Turn) -> RouteDecision:
        if turn.route is None:
            raise AssertionError("step 7 leaves a route")
        return turn.route

    def _tools(self, turn: Turn) -> ToolRun:
        if turn.tools is None:
            raise AssertionError("step 6 builds the tools")
        return turn.tools


def _unlocks(gate: Gate) -> bool:
    return gate.on is GateTrigger.every_user_message and gate.type == "custom_check"
