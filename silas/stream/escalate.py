"""What happens when a gate blocks, and what it falls back to (spec 5.1.1)."""

from collections.abc import Iterator, Mapping
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

AGAIN = frozenset({"suppress_and_rephrase", "retry"})
"""Actions that try the step once more, and fall back when that did not help."""

_GOES_ON = AGAIN | {"suppress_and_escalate"}
"""Actions that are never the last word: their fallback is carried out."""

_QUOTED = frozenset({GateTrigger.every_user_message, GateTrigger.every_agent_response})


class Escalation(NamedTuple):
    """What follows from a block, and why it was blocked in words that quote nothing."""

    action: EscalationAction
    reason: str


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
        reason = _without_the_text(gate, result)
        await self._audit.log(
            "gate_blocked",
            gate=gate.name,
            reason=reason,
            sender_id=sender_id,
            trigger=gate.on.value,
            escalation=action.action,
        )
        if not known:
            await self._audit.log("escalation_unknown", gate=gate.name, name=gate.on_block)
        return Escalation(action, reason)

    async def last(self, gate: Gate, action: EscalationAction) -> EscalationAction:
        """What is left to be done, its words those of the first that had any.

        An action that goes on falls back to the one it names, each at most once; one that names
        none ends in a report.
        """
        words = None if action.action == "suppress_and_rephrase" else action.message
        for name, fallback, known in self._chain(action):
            await self._audit.log(
                "escalation_fallback",
                gate=gate.name,
                name=name,
                action=fallback.action,
                known=known,
            )
            action = fallback
            words = words or action.message
        if action.action in _GOES_ON:
            action = BUILT_IN["report"]
        return action.model_copy(update={"message": words})

    def _chain(self, action: EscalationAction) -> Iterator[tuple[str, EscalationAction, bool]]:
        seen = set[str]()
        while action.action in _GOES_ON and action.fallback and action.fallback not in seen:
            seen.add(action.fallback)
            name = action.fallback
            action, known = resolve(name, self._own)
            yield name, action, known


def _without_the_text(gate: Gate, result: GateResult) -> str:
    # providers quote what they judged; a suppressed message must not live on in the audit
    text = result.value
    if gate.on not in _QUOTED or not isinstance(text, str) or not text:
        return result.reason
    reason = result.reason
    for quoted in (repr(text), repr(text[:80]), text, text[:80]):
        reason = reason.replace(quoted, "the text")
    return reason
