"""One turn: the sixteen steps of spec 5.1 in order, one path, readable as its table of contents."""

from contextlib import suppress

from silas.cards import CardChannel
from silas.errors import DatabaseError
from silas.gates import Gate, GateTrigger
from silas.persona import Happened
from silas.stream.answering import Answering
from silas.stream.following import Following
from silas.stream.forgetting import Forgetting
from silas.stream.gating import TurnGates
from silas.stream.handover import Consequences
from silas.stream.keeping import Keeper
from silas.stream.models import Incoming, Reply, Send
from silas.stream.owner import Owner
from silas.stream.planflow import PlanFlow
from silas.stream.recall import Recall
from silas.stream.remember import Remembering
from silas.stream.rooms import Access, TurnRooms
from silas.stream.routing import Router
from silas.stream.scopes import Waking
from silas.stream.state import Turn
from silas.stream.view import Viewing
from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from silas.types import OWNER, Origin, OriginKind, TaintLevel, new_id


class TurnSteps:
    """The steps of every turn; they keep nothing of any."""

    def __init__(self, rooms: TurnRooms) -> None:
        self.rooms = rooms
        self.keeper = Keeper(rooms)
        self.recall = Recall(rooms)
        self.following = Following(rooms)
        self.forgetting = Forgetting(rooms)
        self.waking = Waking(rooms, self.recall, self.following)
        self.remembering = Remembering(rooms, self.keeper)
        self.router = Router(rooms, Viewing(rooms))
        self.plan_flow = PlanFlow(rooms, self.router, self.keeper)
        self.answering = Answering(rooms, self.router, self.keeper)


class TurnProcessor:
    """Runs the turns of one scope, one at a time, and counts them."""

    def __init__(self, steps: TurnSteps, scope_id: str) -> None:
        self._steps = steps
        self._rooms = steps.rooms
        self._access: Access = steps.rooms.access(scope_id)
        self._scope = steps.rooms.conversations.of(scope_id)

    async def run(
        self, incoming: Incoming, arrival: str, channel: CardChannel, send: Send
    ) -> Reply:
        """Process one message to its reply; the reply's text has been sent exactly once."""
        try:
            return await self._run(incoming, arrival, channel, send)
        finally:
            self._rooms.review.turn_ended(self._scope.id)
            with suppress(DatabaseError):  # what fails here is done before the next turn
                await self._steps.forgetting.after(self._scope.id)

    async def _run(
        self, incoming: Incoming, arrival: str, channel: CardChannel, send: Send
    ) -> Reply:
        steps = self._steps
        await steps.forgetting.before(self._scope.id)  # what was taken back elsewhere
        # what was before a restart, and in this folder
        await steps.waking.wake(self._scope, incoming.workspace or "")
        turn = self._begin(incoming, arrival, channel, send)  # 0    freeze the active gate set
        try:
            return await self._processed(turn)
        except BaseException:
            steps.keeper.broken_off(turn)
            raise

    async def _processed(self, turn: Turn) -> Reply:
        rooms, steps = self._rooms, self._steps
        await rooms.review.poll(turn.scope_id)  # 0.5  what waits for the owner
        stopped = await self._input_gates(turn)  # 1    policy may end the turn here
        if stopped is not None:
            return await steps.answering.stopped(turn, stopped)
        turn.taint = await rooms.sign_in.taint_of(turn.incoming)  # 2    sign and taint
        steps.keeper.message(turn)  # 3    chronicle; 3.5 raw lane
        steps.following.follow(turn)  # files that it names
        await steps.recall.for_message(turn)  # 4    memories into view
        await steps.keeper.make_room(turn)  # 5    token budget
        steps.keeper.heard(turn)
        await self._build_toolset(turn)  # 6    tools this connection may see
        turn.skills = rooms.skills.catalogue()  # 6.5  skills in view
        await steps.router.route(turn, self._access.level)  # 7    manner, models, mode
        stopped = await steps.answering.output_gates(turn)  # 8    before anything is sent
        if stopped is not None:
            return await steps.answering.stopped(turn, stopped)
        await steps.recall.for_queries(turn)  # 9    what the agent asks to recall
        await steps.remembering.carry_out(turn)  # 10   gated side effects
        steps.answering.keep(turn)  # 11   chronicle; 11.5 raw lane
        text = await steps.plan_flow.run(turn)  # 12   approval, dispatch
        text = await steps.answering.send(turn, text)  # 13   one answer, without waiting for work
        await self._access_state(turn)  # 14   gates that unlock levels
        happened = Happened(turn.outcome, turn.text, turn.taint)
        await rooms.persona.after_turn(turn.scope_id, happened)  # 15   mood and telemetry
        return await steps.answering.finished(turn, text)  # 16   count the turn

    # 0
    def _begin(self, incoming: Incoming, arrival: str, channel: CardChannel, send: Send) -> Turn:
        rooms = self._rooms
        active = tuple(rooms.system_gates)
        return Turn(
            id=new_id("turn"),
            arrival=arrival,
            incoming=incoming,
            send=send,
            channel=channel,
            scope=self._scope,
            gates=TurnGates(
                active,
                rooms.gates.for_turn(),
                rooms.escalator,
                Consequences(
                    rooms.escalator,
                    channel,
                    incoming.connection_id,
                    rooms.proposer.keep,
                    rooms.people.transfer,
                    rooms.audit,
                    rooms.clock,
                ),
                Owner(channel, rooms.audit, rooms.clock),
                incoming.message.sender_id,
                rooms.audit,
            ),
            text=incoming.message.text,
        )

    # 1
    async def _input_gates(self, turn: Turn) -> str | None:
        context = {"message": turn.text, "sender_id": turn.incoming.message.sender_id}
        tries = 0
        while True:
            passed = await turn.gates.check(GateTrigger.every_user_message, context)
            turn.input_results, turn.asked = passed.outcome, turn.asked or passed.asked
            if passed.stopped is None:
                turn.text = str(passed.context["message"])
                return None
            action = passed.stopped.escalation.action
            if action.action != "retry" or tries >= action.max_retries:
                return await turn.gates.last_words(passed.stopped)
            tries += 1

    # 6
    async def _build_toolset(self, turn: Turn) -> None:
        allowed = frozenset(await self._access.get_allowed_tools())
        said_by = OriginKind.owner if turn.taint is TaintLevel.owner else OriginKind.message
        turn.provenance.entered(turn.text, Origin(kind=said_by, taint=turn.taint))
        if turn.scope_id == OWNER and said_by is OriginKind.owner:
            turn.looks = self._rooms.looks(turn.incoming.workspace or "", turn.text)
        if not turn.looks.open:
            allowed -= WORKSPACE_TOOL_NAMES
        turn.tools = self._rooms.tool_run(
            "proxy", turn.id, turn.scope_id, allowed, turn.provenance, turn.note, turn.looks
        )

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


def _unlocks(gate: Gate) -> bool:
    return gate.on is GateTrigger.every_user_message and gate.type == "custom_check"
