"""Steps 0 to 2: the gate set is frozen, policy may end the turn, and who said it (spec 5.1)."""

from contextlib import AbstractAsyncContextManager

from silas.audit import Audit
from silas.cards import CardChannel
from silas.clock import Clock
from silas.gates import Gate, Gates, GateTrigger
from silas.stream.escalate import Escalator
from silas.stream.escalation_actions import EscalationActions, KeepDraft, Transfer
from silas.stream.models import Incoming, SendText
from silas.stream.owner import Owner
from silas.stream.sender_identity import SenderIdentity
from silas.stream.state import ScopeState, Turn, TurnMessage, TurnOrigin
from silas.stream.turn_gates import TurnGates
from silas.stream.turn_place import Aside, AsideChannel
from silas.types import new_id


class Intake:
    """Makes a turn of a message.

    Args:
        system_gates: `gates.system` of the configuration.
        gates: Evaluates them.
        escalator: Says what follows from a block.
        transfer: Lets a conversation wait for a person.
        keep: Keeps a task in draft until its owner is asked about it.
        sign_in: Says who said it.
        audit: Where every block is recorded.
    """

    def __init__(
        self,
        system_gates: tuple[Gate, ...],
        gates: Gates,
        escalator: Escalator,
        transfer: Transfer,
        keep: KeepDraft,
        sign_in: SenderIdentity,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._system_gates = tuple(system_gates)
        self._gates = gates
        self._escalator = escalator
        self._transfer = transfer
        self._keep = keep
        self._sign_in = sign_in
        self._audit = audit
        self._clock = clock

    # 0
    def begin(
        self,
        scope: ScopeState,
        incoming: Incoming,
        arrival: str,
        channel: CardChannel,
        send: SendText,
        place: Aside,
    ) -> Turn:
        """A turn with the gates that are active now, for as long as it lasts."""

        def aside() -> AbstractAsyncContextManager[bool]:
            return turn.aside()

        beside = AsideChannel(channel, aside)
        turn = Turn(
            id=new_id("turn"),
            gates=self._turn_gates(incoming, channel, beside),
            message=TurnMessage(arrival, incoming, incoming.message.text),
            seat=TurnOrigin(send, beside, scope, place),
        )
        return turn

    def _turn_gates(
        self, incoming: Incoming, channel: CardChannel, beside: CardChannel
    ) -> TurnGates:
        consequences = EscalationActions(
            self._escalator,
            channel,
            incoming.connection_id,
            self._keep,
            self._transfer,
            self._audit,
            self._clock,
        )
        return TurnGates(
            self._system_gates,
            self._gates.for_turn(),
            self._escalator,
            consequences,
            Owner(beside, self._audit, self._clock),
            incoming.message.sender_id,
            self._audit,
        )

    # 1
    async def input_gates(self, turn: Turn) -> str | None:
        """What is sent instead, if a gate blocks; checked again as the escalation says."""
        context = {
            "message": turn.message.text,
            "sender_id": turn.message.incoming.message.sender_id,
        }
        tries = 0
        while True:
            passed = await turn.gates.check(GateTrigger.every_user_message, context)
            turn.message.input_results, turn.proposal.asked = (
                passed.outcome,
                turn.proposal.asked or passed.asked,
            )
            if passed.stopped is None:
                turn.message.text = str(passed.context["message"])
                return None
            action = passed.stopped.escalation.action
            if action.action != "retry" or tries >= action.max_retries:
                return await turn.gates.last_words(passed.stopped)
            tries += 1

    # 2
    async def identify(self, turn: Turn) -> None:
        """How far the message is trusted."""
        turn.message.taint = await self._sign_in.taint_of(turn.message.incoming)
