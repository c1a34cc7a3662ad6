"""What happens when a gate blocks, and what it falls back to (spec 5.1.1)."""

from collections.abc import Mapping
from typing import NamedTuple

from silas.audit import Audit
from silas.gates import EscalationAction, Gate, GateResult

BUILT_IN: Mapping[str, EscalationAction] = {
    "polite_redirect": EscalationAction(
        action="respond", message="I can't help with that. How else can I assist you?"
    ),
    "report": EscalationAction(action="report"),
}
"""Fallbacks for standard names, so that system gates work without an active goal."""

_BLOCKED_WORDS = "I can't continue with this: a safety rule of this Silas stopped it."

# Actions that need a room that is not there yet are reported, never skipped in silence.
_FALL_BACK_TO_REPORT = frozenset({"escalate_human", "transfer_to_queue", "spawn_task", "retry"})


class Escalation(NamedTuple):
    """The resolved action for a block, and the text the sender gets."""

    action: EscalationAction
    text: str


def resolve(name: str, own: Mapping[str, EscalationAction]) -> tuple[EscalationAction, bool]:
    """The action for a name: the goal's own, else the built-in, else `report` and unknown."""
    found = own.get(name) or BUILT_IN.get(name)
    return (found, True) if found is not None else (BUILT_IN["report"], False)


class Escalator:
    """Logs a block and says what the sender is told."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit

    async def escalate(
        self, gate: Gate, result: GateResult, own: Mapping[str, EscalationAction], sender_id: str
    ) -> Escalation:
        """Always audited with gate, reason and sender; unknown names become a report."""
        action, known = resolve(gate.on_block, own)
        await self._audit.log(
            "gate_blocked",
            gate=gate.name,
            reason=result.reason,
            sender_id=sender_id,
            trigger=gate.on.value,
            escalation=action.action,
        )
        if not known:
            await self._audit.log("escalation_unknown", gate=gate.name, name=gate.on_block)
        if action.action in _FALL_BACK_TO_REPORT:
            await self._audit.log(
                "escalation_reported", gate=gate.name, wanted=action.action, queue=action.queue
            )
        return Escalation(action, action.message or _BLOCKED_WORDS)

    async def final(self, escalation: Escalation, own: Mapping[str, EscalationAction]) -> str:
        """What is sent when rephrasing did not help or was not asked for: the fallback's words.

        A fallback is followed once; what it would need from a room that is not there is reported.
        """
        action = escalation.action
        if action.fallback is None or action.action == "respond":
            return escalation.text
        fallback, known = resolve(action.fallback, own)
        await self._audit.log(
            "escalation_fallback", name=action.fallback, action=fallback.action, known=known
        )
        return action.message or fallback.message or _BLOCKED_WORDS
