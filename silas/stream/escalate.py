"""What happens when a gate blocks, and what it falls back to (spec 5.1.1)."""

from collections.abc import Mapping
from typing import NamedTuple

from silas.audit import Audit
from silas.gates import EscalationAction, Gate, GateResult, GateTrigger

BUILT_IN: Mapping[str, EscalationAction] = {
    "polite_redirect": EscalationAction(
        action="respond", message="I can't help with that. How else can I assist you?"
    ),
    "report": EscalationAction(action="report"),
}
"""Fallbacks for standard names, so that system gates work without an active goal."""

BLOCKED_WORDS = "I can't continue with this: a safety rule of this Silas stopped it."
"""What is said where an escalation has no words of its own; names no rule to a stranger."""

_REPORTED = frozenset({"report", "escalate_human", "transfer_to_queue", "spawn_task", "retry"})
# All but `report` need a room that is not there yet; they are reported, never skipped in silence.

_QUOTED = frozenset({GateTrigger.every_user_message, GateTrigger.every_agent_response})


class Escalation(NamedTuple):
    """The resolved action for a block, and whether the owner is to be told of it."""

    action: EscalationAction
    reported: bool

    @property
    def words(self) -> str:
        """What the sender gets."""
        return self.action.message or BLOCKED_WORDS


def resolve(name: str, own: Mapping[str, EscalationAction]) -> tuple[EscalationAction, bool]:
    """The action for a name: the goal's own, else the built-in, else `report` and unknown."""
    found = own.get(name) or BUILT_IN.get(name)
    return (found, True) if found is not None else (BUILT_IN["report"], False)


class Escalator:
    """Logs a block and says what follows from it.

    Args:
        audit: Where every block is recorded.
        own: The active goal's `escalation` map; it goes before the built-in one.
    """

    def __init__(self, audit: Audit, own: Mapping[str, EscalationAction]) -> None:
        self._audit = audit
        self._own = dict(own)

    async def escalate(self, gate: Gate, result: GateResult, sender_id: str) -> Escalation:
        """Always audited with gate, reason and sender; unknown names become a report."""
        action, known = resolve(gate.on_block, self._own)
        await self._audit.log(
            "gate_blocked",
            gate=gate.name,
            reason=_without_the_text(gate, result),
            sender_id=sender_id,
            trigger=gate.on.value,
            escalation=action.action,
        )
        if not known:
            await self._audit.log("escalation_unknown", gate=gate.name, name=gate.on_block)
        return await self._reported(gate, action)

    async def fall_back(self, gate: Gate, escalation: Escalation) -> Escalation:
        """What is left when an action did not help or has been done: its fallback, once."""
        action = escalation.action
        if action.fallback is None or action.action == "respond":
            return escalation
        fallback, known = resolve(action.fallback, self._own)
        await self._audit.log(
            "escalation_fallback",
            gate=gate.name,
            name=action.fallback,
            action=fallback.action,
            known=known,
        )
        if action.message is not None and action.action != "suppress_and_rephrase":
            fallback = fallback.model_copy(update={"message": action.message})
        return await self._reported(gate, fallback)

    async def _reported(self, gate: Gate, action: EscalationAction) -> Escalation:
        if action.action not in _REPORTED:
            return Escalation(action, reported=False)
        await self._audit.log(
            "escalation_reported", gate=gate.name, wanted=action.action, queue=action.queue
        )
        return Escalation(action, reported=True)


def _without_the_text(gate: Gate, result: GateResult) -> str:
    # providers quote what they judged; a suppressed message must not live on in the audit
    text = result.value
    if gate.on not in _QUOTED or not isinstance(text, str) or not text:
        return result.reason
    reason = result.reason
    for quoted in (repr(text), repr(text[:80]), text, text[:80]):
        reason = reason.replace(quoted, "the text")
    return reason
