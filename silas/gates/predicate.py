"""The predicate provider: deterministic checks without any dependency (spec 5.5.2)."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from silas.gates.expect import parse_number
from silas.gates.models import Gate, GateAction, GateResult, GateTrigger, GateType
from silas.gates.paths import resolve_within
from silas.patterns import PatternRefused, search, substitute

_SUBJECT = {
    GateTrigger.every_user_message: "message",
    GateTrigger.every_agent_response: "response",
    GateTrigger.on_tool_call: "tool_args",
    GateTrigger.after_step: "step_output",
}
"""The context key a gate looks at, or into, by trigger."""

_INSIDE = ("tool_args", "step_output")
"""Context keys whose values `extract` may name a part of."""


class _Value(NamedTuple):
    """What a gate checks, and where a changed value goes back (empty: nowhere)."""

    found: str | float | None
    key: str
    part: str


class _Judgement(NamedTuple):
    action: GateAction
    reason: str


class PredicateProvider:
    """Numeric ranges, string sets, patterns, files, and "always ask".

    **The value.** Without `extract`: the message, the response, the tool's arguments or the step's
    output, by trigger. With it: the context key of that name, else that entry of the tool's
    arguments or the step's output; from a step's output that is text, the one value written as
    `name: value` or `name = value`. A missing value blocks.

    **Mutations** happen only where `config` says so, before the check, which sees the new value:
    `normalize: {pattern, replace}` (or a list of them) on text, `clamp: {min, max}` on a number. A
    gate that has a mutation and no criteria continues.

    **Patterns** of `regex` gates stand in `config.pattern`, else in `check`.

    Args:
        roots: The directories in which `file_valid` may look.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)
        self._rules: Mapping[GateType, Callable[[Gate, str], _Judgement]] = {
            GateType.numeric_range: _numeric_range,
            GateType.string_match: _string_match,
            GateType.regex: _regex,
            GateType.file_valid: self._file_valid,
            GateType.approval_always: _approval_always,
        }

    async def check(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        """Judge one gate; anything unclear blocks."""
        value = _extract(gate, context)
        rule = self._rules.get(gate.type)
        if rule is None:
            return _result(gate, value, "block", f"the predicate provider has no type {gate.type}")
        if gate.type is GateType.approval_always:
            return _result(gate, value, *rule(gate, ""))
        if value.found is None:
            return _result(gate, value, "block", f"there is no {value.part or value.key} to check")
        try:
            changed = _mutate(gate, value.found)
            judgement = rule(gate, _text(changed))
        except PatternRefused as refused:
            return _result(gate, value, "block", str(refused))
        result = _result(gate, value._replace(found=changed), *judgement)
        if changed == value.found or judgement.action == "block":
            return result
        if value.key not in ("message", "response", "tool_args"):
            return _result(gate, value, "block", f"{value.part or value.key} cannot be rewritten")
        rewritten: Any = {value.part: changed} if value.part else changed
        return result.model_copy(update={"modified_context": {value.key: rewritten}})

    def _file_valid(self, gate: Gate, text: str) -> _Judgement:
        path = resolve_within(text, self._roots)
        if path is None:
            return _Judgement("block", "Path outside permitted directories")
        if not path.is_file():
            return _Judgement("block", "File not found")
        limit = gate.config.get("max_size_bytes")
        if limit is None:
            return _Judgement("continue", "the file exists")
        if not isinstance(limit, int) or isinstance(limit, bool):
            return _Judgement("block", "max_size_bytes is not a whole number")
        size = path.stat().st_size
        if size > limit:
            return _Judgement("block", f"the file has {size} bytes, more than {limit}")
        return _Judgement("continue", f"the file exists and has {size} bytes")


def _extract(gate: Gate, context: Mapping[str, Any]) -> _Value:
    subject = _SUBJECT[gate.on]
    if gate.extract is None:
        return _Value(_scalar(context.get(subject)), subject, "")
    if gate.extract in context:
        return _Value(_scalar(context[gate.extract]), gate.extract, "")
    for key in _INSIDE:
        inner = context.get(key)
        if isinstance(inner, dict) and gate.extract in inner:
            entries = cast(dict[str, Any], inner)
            return _Value(_scalar(entries[gate.extract]), key, gate.extract)
        if isinstance(inner, str) and key == "step_output":
            return _Value(_written_value(gate.extract, inner), key, gate.extract)
    return _Value(None, subject, gate.extract)


def _scalar(value: Any) -> str | float | None:
    """Text and numbers as they are; true and false, lists and objects are nothing to compare."""
    if isinstance(value, bool):
        return None
    return value if isinstance(value, str | int | float) else None


def _written_value(name: str, output: str) -> str | None:
    """The value of `name: value` in text; None where it is not there or not only one value."""
    line = rf"^[ \t]*{re.escape(name)}[ \t]*[:=][ \t]*(\S.*)$"
    values = {found.strip() for found in re.findall(line, output, re.MULTILINE)}
    return values.pop() if len(values) == 1 else None


def _text(value: str | float) -> str:
    return value if isinstance(value, str) else repr(value)


def _mutate(gate: Gate, value: str | float) -> str | float:
    rules = gate.config.get("normalize", [])
    for rule in cast(list[Any], rules if isinstance(rules, list) else [rules]):
        if not isinstance(rule, dict) or not isinstance(value, str):
            raise PatternRefused("normalize is {pattern, replace}, for text")
        entry = cast(dict[str, Any], rule)
        value = substitute(str(entry.get("pattern", "")), str(entry.get("replace", "")), value)
    clamp = gate.config.get("clamp")
    if clamp is None:
        return value
    number = parse_number(_text(value))
    if number is None:
        return value
    low, high = _range(clamp)
    clamped = min(max(number, low), high)
    if clamped == number:
        return value
    return repr(clamped) if isinstance(value, str) else clamped


def _range(given: Any) -> tuple[float, float]:
    """The inclusive bounds of `{min, max}`; a bound that is absent is no bound."""
    if not isinstance(given, Mapping):
        raise PatternRefused("a range is {min, max}")
    entry = cast(Mapping[str, Any], given)
    if not entry or not set(entry) <= {"min", "max"}:
        raise PatternRefused("a range is {min, max}")
    return float(entry.get("min", float("-inf"))), float(entry.get("max", float("inf")))


def _numeric_range(gate: Gate, text: str) -> _Judgement:
    """Block range, auto-approve range, approval range, in this order; bounds are inclusive."""
    number = parse_number(text)
    if number is None:
        return _Judgement("block", f"{text[:80]!r} is not a number")
    if gate.block is not None:
        outside = gate.block.get("outside", [])
        if len(outside) != 2:
            return _Judgement("block", "block is {outside: [low, high]}")
        if not outside[0] <= number <= outside[1]:
            return _Judgement("block", f"{number:g} is outside {outside[0]:g} to {outside[1]:g}")
    ranges: tuple[tuple[dict[str, float] | None, GateAction], ...] = (
        (gate.auto_approve, "continue"),
        (gate.require_approval, "require_approval"),
    )
    for given, action in ranges:
        if given is None:
            continue
        low, high = _range(given)
        if low <= number <= high:
            return _Judgement(action, f"{number:g} is within {low:g} to {high:g}")
    if "clamp" in gate.config and (gate.block, gate.auto_approve, gate.require_approval) == (
        None,
        None,
        None,
    ):
        return _Judgement("continue", f"{number:g} after the clamp")
    return _Judgement("block", f"{number:g} is in no range of this gate")


def _string_match(gate: Gate, text: str) -> _Judgement:
    if text in (gate.allowed_values or ()):
        return _Judgement("continue", f"{text[:80]!r} is allowed")
    if text in (gate.approval_values or ()):
        return _Judgement("require_approval", f"{text[:80]!r} needs approval")
    if _only_normalises(gate) and gate.allowed_values is None and gate.approval_values is None:
        return _Judgement("continue", "normalized")
    return _Judgement("block", f"{text[:80]!r} is not among the allowed values")


def _regex(gate: Gate, text: str) -> _Judgement:
    pattern = gate.config.get("pattern", gate.check)
    if pattern is None and _only_normalises(gate):
        return _Judgement("continue", "normalized")
    if not isinstance(pattern, str) or not pattern:
        return _Judgement("block", "the gate has no pattern")
    if search(pattern, text) is None:
        return _Judgement("block", "the value does not match the pattern")
    return _Judgement("continue", "the value matches the pattern")


def _only_normalises(gate: Gate) -> bool:
    return "normalize" in gate.config


def _approval_always(gate: Gate, _: str) -> _Judgement:
    return _Judgement("require_approval", f"{gate.name} always asks")


def _result(gate: Gate, value: _Value, action: GateAction, reason: str) -> GateResult:
    return GateResult(
        gate_name=gate.name, lane=gate.lane, action=action, reason=reason, value=value.found
    )
