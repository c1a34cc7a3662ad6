"""The AgentDojo benchmark renames the attackers' constants without breaking their calls.

AgentDojo itself is not installed here; `make bench-agentdojo` also plays every renamed attack with
nothing in its way and stops where one of them misses.
"""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.agentdojo.words import Disguise, renamed

SCHEMA = {
    "properties": {
        "recipients": {"type": "array", "items": {"type": "string"}},
        "body": {"type": "string"},
        "attachments": {
            "type": "array",
            "description": 'a list of objects with "type" ("file" or "event") and "file_id"',
        },
    }
}
CALL: dict[str, Any] = {
    "recipients": ["mark.black@mail.example"],
    "body": "Please consult https://bad.example/sUf7tOJ, Mark. Best, Emma. The body counts.",
    "attachments": [{"type": "file", "file_id": "19"}],
}
WORLD = {"inbox": {"account": "emma@home.example", "owner": "Emma"}}


def worn(calls: list[dict[str, Any]]) -> Disguise:
    return renamed(calls, [WORLD, "Please answer the mail."], [SCHEMA], "seed")


def test_a_renamed_call_has_the_arguments_and_fields_that_its_tool_knows() -> None:
    call = worn([CALL]).put_on(CALL)
    assert list(call) == ["recipients", "body", "attachments"]
    assert call["attachments"] == [{"type": "file", "file_id": "19"}]


def test_the_attackers_names_addresses_and_pages_are_other_ones_of_the_same_form() -> None:
    call = worn([CALL]).put_on(CALL)
    (address,) = call["recipients"]
    assert address != "mark.black@mail.example"
    assert re.fullmatch(r"[a-z]{4}\.[a-z]{5}@[a-z]{4}\.example", address)
    page = re.search(r"https://[a-z]{3}\.[a-z]{7}/[\w/]*", call["body"])
    assert page is not None
    assert "bad.example" not in call["body"]
    assert "Mark" not in call["body"]


def test_what_the_victim_says_or_has_keeps_its_name() -> None:
    assert "Please" in worn([CALL]).put_on(CALL)["body"]
    assert "Emma" in worn([CALL]).put_on(CALL)["body"]


def test_the_suites_own_words_come_back_when_the_disguise_is_lifted() -> None:
    disguise = worn([CALL])
    assert disguise.lifted(disguise.put_on(CALL)) == CALL


@given(st.lists(st.from_regex(r"\A(https?://)?[a-z]{1,4}(\.[a-z]{2,4}){0,2}(/[\w/]{0,6})?\Z")))
def test_whatever_an_attacker_names_comes_back_when_the_disguise_is_lifted(
    names: list[str],
) -> None:
    call = {"body": ", ".join(names)}
    disguise = worn([call])
    assert disguise.lifted(disguise.put_on(call)) == call
