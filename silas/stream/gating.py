"""The active gate set of one turn, frozen, and what a block or a question leads to (5.1.1)."""

from typing import Any, NamedTuple

from silas.audit import Audit
from silas.cards import Action, CardChannel, GateCard
from silas.gates import Gate, GateOutcome, GateResult, Gates, GateTrigger
from silas.stream.escalate import Escalation, Escalator
from silas.types import Risk

_QUALITY_EVENTS = {
    GateTrigger.every_user_message: "quality_gate_input",
    GateTrigger.every_agent_response: "quality_gate_output",
    GateTrigger.on_tool_call: "quality_gate_tool_call",
    GateTrigger.after_step: "quality_gate_after_step",
}


class Passed(NamedTuple):
    """The context as gates left it, whether one asked, and what stopped the turn, if one did."""

    context: dict[str, Any]
    outcome: GateOutcome
    asked: bool
    stopped: Escalation | None


def gate_card(result: GateResult) -> GateCard:
    """A question about one gate; silence blocks."""
    return GateCard(
        intent=f"The rule '{result.gate_name}' asks you before going on",
        risk=Risk.medium,
        rationale=result.reason,
        affected="" if result.value is None else str(result.value),
        actions=(
            Action(label="Let it pass this once", value="approve", role="recommended"),
            Action(label="Block it", value="block", role="decline"),
        ),
        safe="block",
        gate_name=result.gate_name,
    )


class TurnGates:
    """Gates of one turn; the set is made once at step 0 and never rebuilt."""

    def __init__(
        self, active: tuple[Gate, ...], gates: Gates, escalator: Escalator, audit: Audit
    ) -> None:
        self.active = active
        self._gates = gates
        self._escalator = escalator
        self._audit = audit

    async def check(
        self, trigger: GateTrigger, context: dict[str, Any], channel: CardChannel, to: str
    ) -> Passed:
        """Run the matching gates; quality is recorded, policy decides."""
        outcome = await self._gates.check_gates(list(self.active), trigger, context)
        for result in outcome.quality:
            await self._audit.log(
                _QUALITY_EVENTS[trigger],
                gate=result.gate_name,
                score=result.score,
                flags=list(result.flags),
            )
        asked = any(result.action == "require_approval" for result in outcome.policy)
        for result in outcome.policy:
            if await self._passes(result, channel, to):
                continue
            gate = next(g for g in self.active if g.name == result.gate_name)
            sender = str(context.get("sender_id", ""))
            escalation = await self._escalator.escalate(gate, result, {}, sender)
            return Passed(outcome.context, outcome, asked, escalation)
        return Passed(outcome.context, outcome, asked, None)

    async def _passes(self, result: GateResult, channel: CardChannel, to: str) -> bool:
        if result.action != "require_approval":
            return result.action == "continue"
        answer = await channel.ask(to, gate_card(result))
        await self._audit.log("gate_answered", gate=result.gate_name, answer=answer)
        return answer == "approve"
