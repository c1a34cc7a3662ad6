"""Deterministic gates: models, the runner with its two lanes, providers. Knows no plan or tool."""

from silas.gates.models import (
    ALLOWED_MUTATIONS,
    AccessLevel,
    EscalationAction,
    Expectation,
    Gate,
    GateLane,
    GateProvider,
    GateResult,
    GateTrigger,
    GateType,
)

__all__ = [
    "ALLOWED_MUTATIONS",
    "AccessLevel",
    "EscalationAction",
    "Expectation",
    "Gate",
    "GateLane",
    "GateProvider",
    "GateResult",
    "GateTrigger",
    "GateType",
]
