"""Gates that only rewrite can do it in parts; every other one sees the whole answer first."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.gates import Gate, PredicateProvider
from silas.gates.partial import settle_answers
from silas.gates.settings import GatesConfig
from silas.patterns import matches_in_part

SHIPPED = GatesConfig().system
KEY = "sk-" + "a1B2" * 6
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
_WORDS = st.sampled_from(
    [
        " ",
        "\n",
        "task-based",
        KEY,
        PEM,
        "ghp_" + "a" * 20,
        "AKIA" + "A" * 16,
        "-----BEGIN ",
        "no",
        "-",
    ]
)


def over_answers(**changes: Any) -> Gate:
    plain = {"normalize": {"pattern": "secret [a-z]+", "replace": "gone"}}
    fields = {"name": "g", "on": "every_agent_response", "type": "regex", "config": plain}
    return Gate.model_validate({**fields, **changes})


async def rewritten(text: str, gates: tuple[Gate, ...]) -> str:
    """What the gates themselves make of a whole answer."""
    for gate in gates:
        if gate.on.value == "every_agent_response":
            result = await PredicateProvider([]).check(gate, {"response": text})
            assert result.action == "continue"
            text = (result.modified_context or {"response": text})["response"]
    return text


@settings(deadline=None)
@given(words=st.lists(_WORDS, max_size=12), own=st.booleans())
async def test_what_is_settled_is_the_beginning_of_what_the_gates_make_of_the_whole(
    words: list[str], own: bool
) -> None:
    gates = (*SHIPPED, over_answers()) if own else SHIPPED
    settle = settle_answers(gates)
    assert settle is not None
    text = "".join(words) if not own else "secret tea".join(words)
    whole, before = await rewritten(text, gates), ""
    for end in range(len(text) + 1):
        settled = settle(text[:end])
        assert whole.startswith(settled)
        assert settled.startswith(before) or before.startswith(settled)
        before = settled


async def test_ordinary_words_are_settled_one_by_one_under_the_shipped_gates() -> None:
    settle = settle_answers(SHIPPED)
    assert settle is not None
    assert settle("It is a task-based on") == "It is a task-based "
    assert settle(f"The key {KEY} is") == "The key [API key removed] "
    assert settle(f"The key {KEY[:9]}") == "The key "
    assert settle("And -----BEGIN TEA-----, you know, is") == "And "
    assert settle("And ----") == "And "


@pytest.mark.parametrize(
    "changes",
    [
        {"config": {"normalize": {"pattern": "x", "replace": ""}, "pattern": "y"}},
        {"config": {"pattern": "y"}},
        {"config": {}},
        {"config": {"normalize": {"pattern": "x", "replace": ""}, "clamp": {"max": 1}}},
        {"config": {"normalize": "x"}},
        {"config": {"normalize": {"pattern": "(", "replace": ""}}},
        {"check": "y"},
        {"type": "string_match"},
        {"type": "approval_always"},
        {"type": "custom_check"},
        {"provider": "llm"},
        {"provider": "llm", "promote_to_policy": True},
        {"provider": "script", "check_command": "true"},
        {"provider": "guardrails_ai"},
        {"extract": "sender_id"},
        {"allowed_values": ["yes"]},
        {"config": {"normalize": {"pattern": "secret$", "replace": ""}}},
        {"config": {"normalize": {"pattern": r"secret\Z", "replace": ""}}},
        {"config": {"normalize": {"pattern": "secret(?= tea)", "replace": ""}}},
        {"config": {"normalize": {"pattern": "secret(?! tea)", "replace": ""}}},
        {"config": {"normalize": {"pattern": "(?i)secret", "replace": ""}}},
        {"config": {"normalize": {"pattern": "secret|tea", "replace": ""}}},
        {"config": {"normalize": {"pattern": ".*", "replace": ""}}},
    ],
    ids=str,
)
def test_a_gate_that_may_stop_an_answer_or_looks_ahead_must_see_it_whole(changes: Any) -> None:
    assert settle_answers([over_answers(**changes)]) is None
    assert settle_answers([*SHIPPED, over_answers(**changes)]) is None


def test_gates_of_other_moments_say_nothing_about_answers() -> None:
    settle = settle_answers([over_answers(on="every_user_message", config={"pattern": "y"})])
    assert settle is not None
    assert settle("half a wo") == "half a wo"


@pytest.mark.parametrize(
    ("pattern", "blanks"),
    [("ab[^c]", True), ("ab.", True), (r"ab\s", True), (r"ab\S\b", False), (r"ab[\w-]{3}", False)],
)
def test_a_pattern_says_whether_it_goes_over_a_blank(pattern: str, blanks: bool) -> None:
    found = matches_in_part(pattern)
    assert found is not None
    assert found == ("ab", blanks)
