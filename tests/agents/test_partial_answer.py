"""The text for the user is read out of an answer while it comes: exactly it, never half of it."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.agents.partial_answer import AnswerTextField, PartialAnswerReader, breaks_off

PROXY = AnswerTextField(("response", "message"), given=("route", "direct"))
PLANNER = AnswerTextField(("message",))

_TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_TEXT | st.just("message"), inner, max_size=3)
    ),
    max_leaves=8,
)


def read(spoken: AnswerTextField, pieces: list[str]) -> str:
    text = PartialAnswerReader(spoken)
    return "".join(map(text.feed, pieces))


@given(message=_TEXT, other=_JSON, cuts=st.lists(st.integers(0, 300)), ascii_only=st.booleans())
def test_however_an_answer_is_cut_its_text_is_read_exactly(
    message: str, other: Any, cuts: list[int], ascii_only: bool
) -> None:
    answer = {"x": other, "message": message, "y": other}
    whole = json.dumps(answer, ensure_ascii=ascii_only)
    at = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    parts = [whole[a:b] for a, b in itertools.pairwise(at)]
    assert read(PLANNER, parts) == message
    inside = json.dumps({"route": "direct", "z": other, "response": answer})
    assert read(PROXY, [inside[:7], *inside[7:]]) == message


@given(st.lists(st.text(max_size=20), max_size=10))
def test_what_is_no_json_is_read_without_an_error(parts: list[str]) -> None:
    said = read(PLANNER, parts)
    said.encode()  # and never half a character
    assert len(said) <= len("".join(parts))


@given(message=_TEXT, ends=st.integers(0, 200))
def test_what_was_read_of_a_part_is_the_beginning_of_the_whole(message: str, ends: int) -> None:
    whole = json.dumps({"message": message})
    assert message.startswith(read(PLANNER, [whole[:ends]]))


@pytest.mark.parametrize(
    "answer",
    [
        {"route": "planner", "response": {"message": "not for you"}},
        {"response": {"message": "who says so?"}, "route": "direct"},
        {"route": "direct", "message": "elsewhere", "other": {"message": "elsewhere"}},
        {"route": "direct", "response": [{"message": "in a list"}]},
        {"note": {"route": "direct"}, "response": {"message": "a route of another"}},
    ],
)
def test_a_text_that_is_not_the_answer_is_not_read(answer: dict[str, Any]) -> None:
    assert read(PROXY, [json.dumps(answer)]) == ""


def test_the_end_of_the_text_is_the_end_of_reading() -> None:
    text = PartialAnswerReader(PLANNER)
    said = [
        text.feed(piece) for piece in ('{"message":"one","ti', 'tle":"two"', ',"message":"six"}')
    ]
    assert said == ["one", "", ""]
    assert text.over


@pytest.mark.parametrize("before", ["Here it is: ", "```json\n"])
def test_an_answer_is_found_behind_other_words(before: str) -> None:
    assert read(PLANNER, [*before, *'{"message":"one"}']) == "one"


@pytest.mark.parametrize("half", ['\\ud83d"', "\\ud83dx", "\\ude00", "\\ud83d\\ud83d\\ude00"])
def test_half_a_character_ends_the_reading(half: str) -> None:
    assert read(PLANNER, [*'{"message":"so', *half, *', far"}']) == "so"


@given(message=_TEXT, other=_JSON, ends=st.integers(0, 300))
def test_an_answer_that_ends_in_its_middle_is_known_from_a_whole_one(
    message: str, other: Any, ends: int
) -> None:
    whole = json.dumps({"message": message, "z": other})
    assert breaks_off(whole[:ends]) == (ends < len(whole))
    assert not breaks_off(f"```json\n{whole}\n```")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("", True),
        (" \n", True),
        ("I cannot do that.", False),
        ('{"message": "Yes', True),
        ('{"message": "Yes"} and more', False),
        ('{"message": nothing', False),
        ('{"message": }', False),
        ('{"message": "Yes"]', False),
    ],
)
def test_what_is_wrong_is_not_taken_for_what_is_cut(text: str, cut: bool) -> None:
    assert breaks_off(text) is cut
