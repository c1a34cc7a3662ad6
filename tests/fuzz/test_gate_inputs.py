"""A short run of the fuzz target of gates: random rules, rules with a change, random subjects."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.one_change import one_change
from silas.gates import GateType
from tests.fuzz.gate_inputs import run
from tests.support.chance import examples

CONFIGS: tuple[dict[str, Any], ...] = (
    {"pattern": "(a|b)*c"},
    {"clamp": {"min": 1, "max": 2}},
    {"normalize": []},
)
GATES: list[dict[str, Any]] = [
    {"name": "g", "on": "every_user_message", "type": kind.value, "check": "a+", "config": config}
    for kind in GateType
    for config in CONFIGS
]
RULES = [*GATES, {"regex": "(x+)+y"}, {"output_lt": 1e308}, {"file_exists": "../x"}]


@settings(max_examples=examples(150), deadline=None)
@given(rule=st.sampled_from(RULES), draw=st.randoms(use_true_random=False), subject=st.binary())
def test_a_rule_with_a_change_decides_or_is_refused(
    rule: dict[str, Any], draw: Random, subject: bytes
) -> None:
    _, changed = one_change(rule, draw)
    for document in (rule, changed):
        run(json.dumps(document).encode() + b"\xff" + subject)


@settings(max_examples=examples(150), deadline=None)
@given(st.binary(max_size=200))
@example(b'{"name":"g","on":"every_user_message","type":"regex","config":{"pattern":"("}}\xffa')
@example(b'{"equals":"\\ud800"}\xff\xed\xa0\x80')
def test_any_bytes_are_no_surprise(data: bytes) -> None:
    run(data)


def test_the_target_evaluates_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def look(given: object, text: str) -> None:
        seen.append(text)

    monkeypatch.setattr("tests.fuzz.gate_inputs._gated", look)
    run(json.dumps(GATES[0]).encode() + b"\xffhello")
    assert seen == ["hello"]
