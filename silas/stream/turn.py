"""One turn: the sixteen steps of spec 5.1 in order, one path, readable as its table of contents."""

from silas.canonical import canonical_json
from silas.cards import CardChannel
from silas.context import scrub
from silas.gates import Gate, GateTrigger
from silas.stream.gating import Passed, TurnGates
from silas.stream.models import Incoming, Outcome, Reply, Send
from silas.stream.owner import Owner
from silas.stream.planflow import PlanFlow
from silas.stream.rooms import TurnRooms
from silas.stream.routing import Router
from silas.stream.state import Turn, need
from silas.types import Origin, OriginKind, TaintLevel, new_id

_RECALLED = 5  # memories brought into view by step 4


class TurnProcessor:
    """Runs the turns of one scope, one at a time, and counts them."""

    def __init__(self, rooms: TurnRooms, scope_id: str) -> None:
        self._rooms = rooms
        self._scope_id = scope_id
        self._access = rooms.access(scope_id)
        self._router = Router(rooms)
        self._plan_flow = PlanFlow(rooms, self._router)
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
        await self._make_room(turn)  # 5    token budget
        await self._build_toolset(turn)  # 6    tools this connection may see
        self._prepare_skills(turn)  # 6.5  skills in view
        await self._router.route(turn, self._access.level, self._turn_number)  # 7
        stopped = await self._output_gates(turn)  # 8    before anything is sent
        if stopped is not None:
            return await self._say(turn, stopped, "blocked")
        response = need(turn.response, "step 7")
        await self._look_up(turn)  # 9    what the agent wants to remember
        await self._memory_operations(turn)  # 10   gated side effects
        rooms.context.add(  # 11   the answer into the chronicle
            turn.scope_id,
            kind="message",
            text=f"Silas: {response.message}",
            taint=turn.response_taint,
            source=turn.speaker,
            turn=self._turn_number,
        )
        await self._keep_raw(turn)  # 11.5 raw lane: answer, queries, tool results
        text = await self._plan_flow.run(turn, self._turn_number)  # 12   approval, dispatch
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
            gates=TurnGates(
                active,
                rooms.gates.for_turn(),
                rooms.escalator,
                Owner(channel, rooms.audit, rooms.clock),
                incoming.connection_id,
                incoming.message.sender_id,
                rooms.audit,
            ),
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
        passed = await turn.gates.check(GateTrigger.every_user_message, context)
        turn.input_results, turn.asked = passed.outcome, passed.asked
        turn.text = str(passed.context["message"])
        return None if passed.stopped is None else await turn.gates.last_words(passed.stopped)

    # 4
    async def _recall(self, turn: Turn) -> None:
        found = await self._rooms.memory.recall(turn.text, turn.scope_id, _RECALLED)
        self._into_view(turn, found)

    def _into_view(self, turn: Turn, memories: list[str]) -> None:
        for text in memories:
            if text in turn.recalled:
                continue
            turn.provenance.entered(text, Origin(kind=OriginKind.memory))
            turn.recalled.add(text)
            self._rooms.context.add(
                turn.scope_id,
                kind="memory",
                text=text,
                taint=TaintLevel.external,  # a memory does not say yet where it came from
                source="memory",
                turn=self._turn_number,
            )

    # 5
    async def _make_room(self, turn: Turn) -> None:
        """What has to go is remembered, external text made harmless first (decision A12)."""
        for gone in await self._rooms.context.enforce_budget(turn.scope_id, self._turn_number):
            text = scrub(gone.text) if gone.taint is TaintLevel.external else gone.text
            await self._rooms.memory.store_raw(text, "episode", gone.taint)

    # 6
    async def _build_toolset(self, turn: Turn) -> None:
        allowed = frozenset(await self._access.get_allowed_tools())
        said_by = OriginKind.owner if turn.taint is TaintLevel.owner else OriginKind.message
        turn.provenance.entered(turn.text, Origin(kind=said_by, taint=turn.taint))
        turn.tools = self._rooms.tool_run(
            "proxy", turn.id, turn.scope_id, allowed, turn.provenance, turn.note
        )

    # 6.5
    def _prepare_skills(self, turn: Turn) -> None:
        turn.skills = self._rooms.skills.catalogue()

    # 8
    async def _output_gates(self, turn: Turn) -> str | None:
        """What is sent instead, if a gate blocks; rephrased as often as the escalation says."""
        tries = 0
        while True:
            passed = await self._check_response(turn)
            if passed.stopped is None:
                return None
            action = passed.stopped.escalation.action
            if action.action != "suppress_and_rephrase" or tries >= action.max_retries:
                return await turn.gates.last_words(passed.stopped)
            tries += 1
            await self._router.rephrase(turn, action.instruction or "")

    async def _check_response(self, turn: Turn) -> Passed:
        response = need(turn.response, "step 7")
        context = {"response": response.message, "sender_id": turn.incoming.message.sender_id}
        passed = await turn.gates.check(GateTrigger.every_agent_response, context)
        turn.asked = turn.asked or passed.asked
        if (message := str(passed.context["response"])) != response.message:
            turn.response = response.model_copy(update={"message": message})
        return passed

    # 9
    async def _look_up(self, turn: Turn) -> None:
        queries = need(turn.response, "step 7").memory_queries
        self._into_view(turn, await self._rooms.memory.run_queries(queries, turn.scope_id))

    # 10
    async def _memory_operations(self, turn: Turn) -> None:
        response, limit = need(turn.response, "step 7"), self._rooms.max_memory_ops
        if len(response.memory_ops) > limit:
            await self._rooms.audit.log(
                "memory_ops_truncated", turn_id=turn.id, asked=len(response.memory_ops), kept=limit
            )
        for op in response.memory_ops[:limit]:
            context = {"tool_name": "memory_op", "tool_args": op.model_dump(mode="json")}
            passed = await turn.gates.check(GateTrigger.on_tool_call, context)
            if passed.stopped is not None:
                await self._rooms.audit.log("memory_op_blocked", turn_id=turn.id, op=op.op.value)
                continue
            await self._rooms.memory.apply_op(passed.context["tool_args"], turn.scope_id)

    # 11.5
    async def _keep_raw(self, turn: Turn) -> None:
        keep = self._rooms.memory.store_raw
        for lookup in turn.lookups:
            asked = canonical_json({"tool": lookup.tool_name, "args": lookup.args})
            await keep(asked, "research_query_raw", turn.taint)
            await keep(lookup.result.return_value, "tool_output_raw", lookup.result.taint)
        message = need(turn.response, "step 7").message
        await keep(message, "agent_response_raw", turn.response_taint)

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


def _unlocks(gate: Gate) -> bool:
    return gate.on is GateTrigger.every_user_message and gate.type == "custom_check"
