"""What evaluates a gate, and what runs gates (spec 4.8, 4.9)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from silas.gates.models import Gate, GateResult, GateTrigger


class GateCheckProvider(Protocol):
    """Evaluates one gate against a context; the runner enforces lanes and mutations."""

    async def check(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        """What this gate says. The context is a copy; changing it changes nothing."""
        ...


class GateOutcome(NamedTuple):
    """All results of one trigger, in order, and the context after the allowed mutations.

    Attributes:
        policy: One result per matching policy gate; the first `block` decides.
        quality: One result per matching quality gate; always `continue`.
        context: The merged context; a new dictionary.
    """

    policy: list[GateResult]
    quality: list[GateResult]
    context: dict[str, Any]

    @property
    def block(self) -> GateResult | None:
        """The first policy block: the one that is escalated."""
        return next((r for r in self.policy if r.action == "block"), None)

    @property
    def approvals(self) -> list[GateResult]:
        """Policy gates that want a person to say yes; each is asked."""
        return [r for r in self.policy if r.action == "require_approval"]


class Gates(Protocol):
    """Runs gates in their two lanes."""

    async def check_gates(
        self, gates: Sequence[Gate], trigger: GateTrigger, context: dict[str, Any]
    ) -> GateOutcome:
        """Evaluate the gates of this trigger, policy lane first."""
        ...

    async def check_gate(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        """Evaluate a single gate, with lane and allowlist enforced."""
        ...

    def for_turn(self) -> "Gates":
        """The same gates with a count of evaluations of their own, for one turn."""
        ...
