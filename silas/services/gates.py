"""Who evaluates gates here, and what a configured gate would do to every turn (spec 5.4)."""

from collections.abc import Callable, Mapping
from typing import Any

from silas.config import SilasConfig
from silas.errors import PlanFamilyError
from silas.gates import (
    Gate,
    GateCheckProvider,
    GateProvider,
    GateTrigger,
    PredicateProvider,
)
from silas.home.findings import DoctorFinding
from silas.plans import WorkItem
from silas.plans.unsupported import why_unsupported

_ORDINARY = ("Hello!", "Please run the tests of this project.")
"""Texts of which a gate for everything has to let one through."""

_REFUSES = {
    GateTrigger.every_user_message: "refuses every message",
    GateTrigger.every_agent_response: "withholds every answer",
    GateTrigger.on_tool_call: "refuses every tool call",
    GateTrigger.after_step: "stops work after every step",
}
_NO_PROVIDER = (
    "this version has no provider {}; give the gate `provider: predicate`, which is built in, or "
    "take it out of gates.system"
)


_MAKERS: Mapping[GateProvider, Callable[[SilasConfig], GateCheckProvider]] = {
    GateProvider.predicate: lambda config: PredicateProvider([config.data_dir])
}

PROVIDERS = frozenset(_MAKERS)
"""Who evaluates gates in this version; a plan that names another is refused (decision D365)."""


def gate_providers(config: SilasConfig) -> Mapping[GateProvider, GateCheckProvider]:
    """Every provider of this version."""
    return {provider: make(config) for provider, make in _MAKERS.items()}


def require_supported(item: WorkItem) -> None:
    """See `why_unsupported`.

    Raises:
        PlanFamilyError: `E_PLAN_UNSUPPORTED`: this version could not run it though it were
            approved.
    """
    why = why_unsupported(item, PROVIDERS)
    if why:
        raise PlanFamilyError(why, code="E_PLAN_UNSUPPORTED", work_item_id=item.id)


async def gate_findings(config: SilasConfig) -> list[DoctorFinding]:
    """Each gate of `gates.system`: whether its provider is here, and something passes."""
    providers, gates = gate_providers(config), config.gates.system
    found = [await _finding(gate, providers.get(gate.provider)) for gate in gates]
    every_turn = (GateTrigger.every_user_message, GateTrigger.every_agent_response)
    needed = sum(gate.on in every_turn for gate in gates)
    limit = config.limits.max_gate_evals_per_turn
    if needed > limit:
        words = (
            f"every turn needs {needed} evaluations and limits.max_gate_evals_per_turn is {limit}, "
            "so answers are withheld; raise it"
        )
        found.append(DoctorFinding("gates", "failed", words))
    return found


async def _finding(gate: Gate, provider: GateCheckProvider | None) -> DoctorFinding:
    part = f"gate {gate.name}"
    if provider is None:
        why = _NO_PROVIDER.format(gate.provider.value)
        return DoctorFinding(part, "failed", f"{_REFUSES[gate.on]}: {why}")
    reasons: list[str] = []
    for context in _contexts(gate):
        given = await provider.check(gate, context)
        if given.action != "block":
            return DoctorFinding(part, "ok", "its provider is here")
        reasons.append(given.reason)
    if not reasons:
        return DoctorFinding(part, "ok", "its provider is here")
    return DoctorFinding(
        part,
        "failed",
        f"{_REFUSES[gate.on]} that was tried: {reasons[0]}; correct it in gates.system",
    )


def _contexts(gate: Gate) -> tuple[dict[str, Any], ...]:
    """What the gate would be given; none where that depends on what it extracts."""
    if gate.extract is not None:
        return ()
    match gate.on:
        case GateTrigger.every_user_message:
            return tuple({"message": text} for text in _ORDINARY)
        case GateTrigger.every_agent_response:
            return tuple({"response": text} for text in _ORDINARY)
        case GateTrigger.on_tool_call:
            return ({"tool_name": "shell_exec", "tool_args": {"argv": ["true"]}},)
        case GateTrigger.after_step:
            outputs = (*_ORDINARY, "2")  # what steps print is often a number
            return tuple({"step": gate.after_step, "step_output": text} for text in outputs)
