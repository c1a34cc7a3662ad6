"""Fuzz target: whatever a gate says and whatever it is asked about, it decides and never lets go.

The input is two texts, a gate or expectation as JSON and what it looks at, parted by `0xff`.
"""

import asyncio
from typing import Any

from pydantic import ValidationError

from silas.canonical import read_json
from silas.errors import SilasError
from silas.gates import (
    Expectation,
    Gate,
    GateProvider,
    GateRunner,
    GateTrigger,
    PredicateProvider,
    evaluate,
)
from silas.testing.stores import MemoryAudit

_EDGE = b"\xff"
_LIMIT = 10
_KEYS = ("message", "response", "tool_args", "step_output")


def run(data: bytes) -> None:
    """Evaluate what can be read.

    Raises:
        AssertionError: An answer that is none. Any other exception is a fault, too.
    """
    rule, _, subject = data.partition(_EDGE)
    text = subject.decode("utf-8", errors="surrogateescape")
    try:
        given = read_json(rule)
    except ValueError:
        return
    _expected(given, text)
    _gated(given, text)


def _expected(given: Any, text: str) -> None:
    try:
        expectation = Expectation.model_validate(given)
    except ValidationError:
        return
    judged = evaluate(expectation, text, len(text) % 256, [])
    assert isinstance(judged.passed, bool)
    assert judged.reason


def _gated(given: Any, text: str) -> None:
    try:
        gate = Gate.model_validate(given)
    except ValidationError:
        return
    runner = GateRunner({GateProvider.predicate: PredicateProvider([])}, MemoryAudit(), _LIMIT)
    trigger = GateTrigger(gate.on)
    context: dict[str, Any] = {"tool_name": text, "step": gate.after_step}
    context |= dict.fromkeys(_KEYS, text)
    context["tool_args"] = {"x": text, "y": len(text)}
    try:
        policy, quality, merged = asyncio.run(runner.check_gates([gate], trigger, context))
    except SilasError:
        return
    assert merged.keys() >= context.keys()
    for result in (*policy, *quality):
        assert result.action in ("continue", "block", "require_approval")
        assert result.gate_name == gate.name
