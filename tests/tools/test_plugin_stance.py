"""What a toolset answers when it is asked about a call: what is not understood blocks."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.tools import Stance
from silas.tools.plugins.toolset_stance import Opinion, ToolsetStance, parse_stance


@pytest.mark.parametrize(
    ("answer", "is_"),
    [
        (False, ToolsetStance(Stance.pre_approved)),
        (True, ToolsetStance(Stance.ask)),
        ({}, ToolsetStance(Stance.ask)),
        ({"description": "Pay"}, ToolsetStance(Stance.ask, "Pay")),
        (Opinion("blocked", "never"), ToolsetStance(Stance.blocked, "never")),
        (Opinion("ask", "hm"), ToolsetStance(Stance.ask, "hm")),
        (Opinion("pre_approved"), ToolsetStance(Stance.pre_approved)),
        (SimpleNamespace(stance="ask", description="x"), ToolsetStance(Stance.ask, "x")),
    ],
)
def test_each_answer_of_the_convention_is_understood(answer: Any, is_: ToolsetStance) -> None:
    assert parse_stance(answer) == is_


@pytest.mark.parametrize(
    "answer",
    [
        None, 0, 1, "", "no", [], (), b"", 0.0,
        {"description": 7}, {"description": "x", "pre_approved": True}, {"pre_approved": True},
        SimpleNamespace(stance="allow", description=""),
        SimpleNamespace(stance="pre_approved", description=None),
        SimpleNamespace(stance=True, description=""),
        SimpleNamespace(stance="pre_approved"),
        SimpleNamespace(description="x"),
    ],
)  # fmt: skip
def test_anything_else_blocks(answer: Any) -> None:
    assert parse_stance(answer).stance is Stance.blocked


@given(
    st.recursive(
        st.none() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_answer_but_false_itself_lets_a_call_pass(answer: Any) -> None:
    assert parse_stance(answer).stance in (Stance.ask, Stance.blocked)
