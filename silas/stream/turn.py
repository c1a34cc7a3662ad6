"""One turn: the sixteen steps of spec 5.1 in order, one path, readable as its table of contents."""

from silas.cards import CardChannel
from silas.gates import Gate, GateTrigger
from silas.plans import PlanError, WorkItem
from silas.stream.gating import Passed, TurnGates
from silas.stream.models import Incoming, Outcome, Reply, Send
from silas.stream.rooms import Access, TurnRooms
from silas.stream.routing import Router
from silas.stream.state import Turn, need
from silas.types import TaintLevel, new_id

_RECALLED = 5  # memories brought into view by step 4


class TurnProcessor:
    """Runs the turns of one scope, one at a time, and counts them."""

    def __init__(self, rooms: TurnRooms, scope_id: str, access: Access) -> None:
        self._rooms = rooms
        self._scope_id = scope_id
        self._access = access
        self._router = Router(rooms)
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
        await self._router.route(turn, self._access.level, self._turn_number)  # 7
        stopped = await self._output_gates(turn)  # 8    before anything is sent
        if stopped is not None:
            return await self._say(turn, stopped, "blocked")
        response = need(turn.response, "step 7")
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
        turn.input_results, turn.asked = passed.outcome, passed.asked
        turn.text = str(passed.context["message"])
        return None if passed.stopped is None else passed.stopped.text

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

    # 8
    async def _output_gates(self, turn: Turn) -> str | None:
        """What is sent instead, if a gate blocks; rephrased as often as the escalation says."""
        tries = 0
        while True:
            passed = await self._check_response(turn)
            if passed.stopped is None:
                return None
            action = passed.stopped.action
            if action.action != "suppress_and_rephrase" or tries >= action.max_retries:
                return await self._rooms.escalator.final(passed.stopped, {})
            tries += 1
            await self._router.rephrase(turn, action.instruction or "")

    async def _check_response(self, turn: Turn) -> Passed:
        response = need(turn.response, "step 7")
        context = {"response": response.message, "sender_id": turn.incoming.message.sender_id}
        passed = await turn.gates.check(
            GateTrigger.every_agent_response, context, turn.channel, turn.incoming.connection_id
        )
        turn.asked = turn.asked or passed.asked
        turn.response = response.model_copy(update={"message": str(passed.context["response"])})
        return passed

    # 10
    async def _memory_operations(self, turn: Turn) -> None:
        response, limit = need(turn.response, "step 7"), self._rooms.max_memory_ops
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
        response, rooms = need(turn.response, "step 7"), self._rooms
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
        item = item.model_copy(update={"interaction_mode": self._router.mode(turn, item)})
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
        prior = continuation or need(turn.route, "step 7").continuation_of
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


def _unlocks(gate: Gate) -> bool:
    return gate.on is GateTrigger.every_user_message and gate.type == "custom_check"
