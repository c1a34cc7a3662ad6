"""The active gate set of one turn, frozen, and what a block or a question leads to (5.1.1)."""

from typing import Any, NamedTuple

from silas.audit import Audit
from silas.cards import Action, GateCard
from silas.gates import Gate, GateOutcome, GateResult, Gates, GateTrigger
from silas.language import tr
from silas.stream.escalate import Escalation, Escalator
from silas.stream.escalation_actions import EscalationActions
from silas.stream.owner import Owner
from silas.types import Risk

_QUALITY_EVENTS = {
    GateTrigger.every_user_message: "quality_gate_input",
    GateTrigger.every_agent_response: "quality_gate_output",
    GateTrigger.on_tool_call: "quality_gate_tool_call",
    GateTrigger.after_step: "quality_gate_after_step",
}

_SECONDS_TO_DECIDE = 120.0  # how long a gate waits for its answer (spec 8.1)


class Stop(NamedTuple):
    """The gate that ended a turn, and what follows from it."""

    gate: Gate
    escalation: Escalation


class GatedContext(NamedTuple):
    """The context as gates left it, whether one asked, and what stopped the turn, if one did."""

    context: dict[str, Any]
    outcome: GateOutcome
    asked: bool
    stopped: Stop | None


def gate_card(result: GateResult) -> GateCard:
    """A question about one gate; silence blocks."""
    return GateCard(
        intent=tr("The rule '{gate_name}' asks you before going on", gate_name=result.gate_name),
        risk=Risk.medium,
        rationale=result.reason or tr("It gives no reason."),
        affected="" if result.value is None else str(result.value),
        actions=(
            Action(label=tr("Let it pass this once"), value="approve", role="recommended"),
            Action(label=tr("Block it"), value="block", role="decline"),
        ),
        safe="block",
        timeout_seconds=_SECONDS_TO_DECIDE,
        gate_name=result.gate_name,
    )


class TurnGates:
    """Gates of one turn; the set is made once at step 0 and never rebuilt.

    Args:
        active: The set.
        gates: Evaluates; its count of evaluations is this turn's.
        escalator: Says what a block leads to.
        consequences: Carries it out.
        owner: Who is asked.
        sender_id: Who sent the message, for the record of a block.
        audit: Where quality results and answers are recorded.
    """

    def __init__(
        self,
        active: tuple[Gate, ...],
        gates: Gates,
        escalator: Escalator,
        consequences: EscalationActions,
        owner: Owner,
        sender_id: str,
        audit: Audit,
    ) -> None:
        self.active = active
        self._gates = gates
        self._escalator = escalator
        self._consequences = consequences
        self._owner = owner
        self._sender_id = sender_id
        self._audit = audit

    async def check(self, trigger: GateTrigger, context: dict[str, Any]) -> GatedContext:
        """Run the matching gates; quality is recorded, policy decides.

        A block goes before every question: nobody is asked about what is not going to happen.
        """
        outcome = await self._gates.check_gates(list(self.active), trigger, context)
        for result in outcome.quality:
            await self._audit.log(
                _QUALITY_EVENTS[trigger],
                gate=result.gate_name,
                score=result.score,
                flags=list(result.flags),
            )
        asked, refused = bool(outcome.approvals), outcome.block
        for result in outcome.approvals if refused is None else ():
            if not await self._ask_approval(result):
                refused = result
                break
        if refused is None:
            return GatedContext(outcome.context, outcome, asked, None)
        gate = next(g for g in self.active if g.name == refused.gate_name)
        escalation = await self._escalator.escalate(gate, refused, self._sender_id)
        return GatedContext(outcome.context, outcome, asked, Stop(gate, escalation))

    async def last_words(self, stop: Stop) -> str:
        """What is sent in place of what was stopped, after what follows from it was done."""
        return await self._consequences.of(stop.gate, stop.escalation)

    async def _ask_approval(self, result: GateResult) -> bool:
        answer = await self._owner.ask(gate_card(result))
        await self._audit.log("gate_answered", gate=result.gate_name, answer=answer)
        return answer == "approve"
