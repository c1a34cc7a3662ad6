"""One turn: the sixteen steps of spec 5.1 in order, one path, readable as its table of contents."""

from dataclasses import dataclass

from silas.cards import CardChannel
from silas.gates import Gate, GateTrigger
from silas.persona import Persona, TurnSummary
from silas.stream.answering import Answering
from silas.stream.file_follower import FileFollower
from silas.stream.intake import Intake
from silas.stream.models import Incoming, Reply, SendText
from silas.stream.plan_flow import PlanFlow
from silas.stream.ports import Access, Review
from silas.stream.recall import Recall
from silas.stream.remember import Remembering
from silas.stream.routing import Router
from silas.stream.scopes import ConversationRestorer
from silas.stream.state import ScopeState, Turn
from silas.stream.toolset import TurnToolset
from silas.stream.turn_place import Aside
from silas.stream.turn_writer import TurnWriter


@dataclass(frozen=True)
class TurnSteps:
    """The steps of every turn; they keep nothing of any, and each has ports of its own."""

    waking: ConversationRestorer
    intake: Intake
    review: Review
    keeper: TurnWriter
    following: FileFollower
    recall: Recall
    toolset: TurnToolset
    router: Router
    answering: Answering
    remembering: Remembering
    plan_flow: PlanFlow
    persona: Persona


class TurnProcessor:
    """Runs the turns of one scope, one at a time, and counts them.

    Args:
        steps: What a turn consists of.
        scope: What is known of the conversation.
        access: What its connection may use.
    """

    def __init__(self, steps: TurnSteps, scope: ScopeState, access: Access) -> None:
        self._steps = steps
        self._scope = scope
        self._access = access

    async def run(
        self, incoming: Incoming, arrival: str, channel: CardChannel, send: SendText, place: Aside
    ) -> Reply:
        """Process one message to its reply; every part of its text was sent exactly once."""
        steps, scope = self._steps, self._scope
        try:
            # what was before a restart, and in this folder
            await steps.waking.wake(scope, incoming.workspace or "")
            # 0    freeze the active gate set
            turn = steps.intake.begin(scope, incoming, arrival, channel, send, place)
            try:
                return await self._run_steps(turn)
            except BaseException:
                steps.keeper.end_turn(turn)
                raise
        finally:
            steps.review.turn_ended(scope.id)
            await steps.waking.rest(scope)

    async def _run_steps(self, turn: Turn) -> Reply:
        steps = self._steps
        await steps.review.poll(turn.scope_id)  # 0.5  what waits for the owner
        stopped = await steps.intake.input_gates(turn)  # 1    policy may end the turn here
        if stopped is not None:
            return await steps.answering.end_blocked(turn, stopped)
        await steps.intake.identify(turn)  # 2    sign and taint
        steps.keeper.message(turn)  # 3    chronicle; 3.5 raw lane
        steps.following.follow(turn)  # files that it names
        await steps.recall.for_message(turn)  # 4    memories into view
        await steps.keeper.make_room(turn)  # 5    token budget
        steps.keeper.write_heard(turn)
        await steps.toolset.build(turn, self._access)  # 6    tools this connection may see
        steps.toolset.show_skills(turn)  # 6.5  skills in view
        await steps.router.route(turn, self._access.level)  # 7    manner, models, mode
        stopped = await steps.answering.output_gates(turn)  # 8    before anything is sent
        if stopped is not None:
            return await steps.answering.end_blocked(turn, stopped)
        await steps.recall.for_queries(turn)  # 9    what the agent asks to recall
        await steps.remembering.carry_out(turn)  # 10   gated side effects
        steps.answering.keep(turn)  # 11   chronicle; 11.5 raw lane
        text = await steps.plan_flow.run(turn)  # 12   approval, dispatch
        text = await steps.answering.send(turn, text)  # 13   one answer, without waiting for work
        await self._record_passed_gates(turn)  # 14   gates that unlock levels
        happened = TurnSummary(turn.answer.outcome, turn.message.text, turn.message.taint)
        await steps.persona.after_turn(turn.scope_id, happened)  # 15   mood and telemetry
        return await steps.answering.finish_turn(turn, text)  # 16   count the turn

    # 14
    async def _record_passed_gates(self, turn: Turn) -> None:
        passed = {
            result.gate_name
            for result in (turn.message.input_results.policy if turn.message.input_results else ())
            if result.action == "continue"
        }
        for gate in turn.gates.active:
            if _unlocks(gate) and gate.name in passed:
                await self._access.gate_passed(gate.name)


def _unlocks(gate: Gate) -> bool:
    return gate.on is GateTrigger.every_user_message and gate.type == "custom_check"
