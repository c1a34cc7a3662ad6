"""Deterministic gates: models, the runner with its two lanes, providers. Knows no plan or tool."""

from silas.gates.access import AccessController, OwnerAccess, read_customer
from silas.gates.expect import Evaluation, evaluate
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
from silas.gates.port import GateCheckProvider, GateOutcome, Gates
from silas.gates.predicate import PredicateProvider
from silas.gates.runner import GateRunner
from silas.gates.settings import GatesConfig

__all__ = [
    "ALLOWED_MUTATIONS",
    "AccessController",
    "AccessLevel",
    "EscalationAction",
    "Evaluation",
    "Expectation",
    "Gate",
    "GateCheckProvider",
    "GateLane",
    "GateOutcome",
    "GateProvider",
    "GateResult",
    "GateRunner",
    "GateTrigger",
    "GateType",
    "Gates",
    "GatesConfig",
    "OwnerAccess",
    "PredicateProvider",
    "evaluate",
    "read_customer",
]
