"""Which gates over answers can do their work on an answer that is still coming.

A gate that may stop an answer or ask about it judges the whole of it, so nothing may be shown
before it did. A gate that only rewrites what its patterns find is a different thing: it can rewrite
the part of a text in which nothing can be found any more that goes on beyond it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from silas.gates.models import Gate, GateProvider, GateTrigger, GateType
from silas.patterns import Matches, PatternRefused, matches_in_part, substitute

Settle = Callable[[str], str]
"""A text that goes on, as far as gates have rewritten it for good: always more, never other."""


class _Rule(NamedTuple):
    pattern: str
    replace: str
    matches: Matches


def settle_answers(gates: Sequence[Gate]) -> Settle | None:
    """How these gates rewrite an answer in parts; None where one of them must see it whole."""
    rules: list[_Rule] = []
    for gate in (g for g in gates if g.on is GateTrigger.every_agent_response):
        found = _rules(gate)
        if found is None:
            return None
        rules += found
    return (lambda text: _settled_part(text, rules)) if rules else _as_it_is


def _as_it_is(text: str) -> str:
    return text


def _rules(gate: Gate) -> list[_Rule] | None:
    """The rules of a gate that only rewrites; None for every other."""
    plain = Gate(
        name=gate.name,
        on=gate.on,
        type=GateType.regex,
        provider=GateProvider.predicate,
        config={"normalize": gate.config.get("normalize")},
        on_block=gate.on_block,
    )
    if gate != plain:
        return None
    given = gate.config["normalize"]
    rules: list[_Rule] = []
    for one in cast(list[Any], given if isinstance(given, list) else [given]):
        rule = _rule(one)
        if rule is None:
            return None
        rules.append(rule)
    return rules


def _rule(given: Any) -> _Rule | None:
    if not isinstance(given, dict):
        return None
    entry = cast(dict[str, Any], given)
    pattern, replace = str(entry.get("pattern", "")), str(entry.get("replace", ""))
    try:
        matches = matches_in_part(pattern)
    except PatternRefused:
        return None
    return None if matches is None else _Rule(pattern, replace, matches)


def _settled_part(text: str, rules: Sequence[_Rule]) -> str:
    """Up to a blank after which every match begins anew, and before what a match may hold."""
    settled = _to_a_blank(text)
    for rule in rules:
        if rule.matches.blanks:
            settled = _before(settled, rule.matches.begin)
            continue
        try:
            settled = substitute(rule.pattern, rule.replace, settled)
        except PatternRefused:  # the gate will stop the answer
            return ""
    return settled


def _to_a_blank(text: str) -> str:
    """Without the last word, which may not be whole; the blank before it is the end."""
    at = len(text)
    while at and not text[at - 1].isspace():
        at -= 1
    return text[:at]


def _before(text: str, begin: str) -> str:
    """Up to a blank before the first place where this may begin."""
    at = text.find(begin)
    if at >= 0:
        text = _to_a_blank(text[:at])
    while begun := [n for n in range(1, len(begin)) if text.endswith(begin[:n])]:
        text = _to_a_blank(text[: len(text) - begun[-1]])
    return text
