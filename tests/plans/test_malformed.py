"""Every malformed plan gives a place and a reason, never a traceback (spec 4.15)."""

import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.agents.runbook.briefing import steps_of
from silas.errors import PlanFamilyError
from silas.plans import PlanError, PlanParser, WorkItem
from silas.plans.envelope import MAX_PLAN_BYTES
from silas.testing.builders import plan_text
from tests.plans.malformed import MALFORMED, Malformed
from tests.support.chance import examples


@pytest.mark.proves(
    "S3.3-STATE-IS-RUNTIME", "S3.3-FILE-EXISTS-NO-DOTDOT", "S3.3-EXPECT-EXACTLY-ONE"
)
@pytest.mark.parametrize("case", MALFORMED, ids=lambda case: case.name)
def test_a_malformed_plan_is_refused_with_its_place_and_reason(case: Malformed) -> None:
    with pytest.raises(PlanError) as refused:
        PlanParser().parse(case.text)
    found = refused.value
    assert case.reason in found.reason
    assert (found.line, found.column) == (case.line, case.column), found
    assert str(found) == f"line {found.line}, column {found.column}: {found.reason}"
    assert found.code.startswith("E_PLAN_")
    assert isinstance(found, PlanFamilyError)
    assert "\n" not in found.reason
    assert len(found.reason) < 6000


def test_there_are_at_least_sixty_malformed_plans_with_names_of_their_own() -> None:
    assert len({case.name for case in MALFORMED}) == len(MALFORMED) >= 60


def _outcome(text: str) -> WorkItem | PlanError:
    try:
        return PlanParser().parse(text)
    except PlanError as error:
        return error


def _item_or_error(text: str) -> None:
    outcome = _outcome(text)
    if isinstance(outcome, WorkItem):
        assert outcome.needs_approval
        return
    assert 1 <= outcome.line <= text.count("\n") + 1
    assert outcome.column >= 1
    assert outcome.reason


_PIECES = st.sampled_from(
    [
        "---",
        "\n",
        "\n---\n",
        "```",
        "```markdown\n",
        "~~~",
        "id: a",
        "type: task",
        "title: T",
        ": ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        ">",
        "&a",
        "*a",
        "? ",
        "%",
        "!!str ",
        "#",
        "\t",
        "\r",
        "\\u202e",
        "verify:",
        "expect:",
        "exit_code: 0",
        "gates",
        "budget: {",
        "  ",
        "\ufeff",
        "\x85",
    ]
)


@settings(max_examples=examples(400), deadline=None)
@given(st.one_of(st.text(), st.lists(st.one_of(_PIECES, st.text(max_size=4))).map("".join)))
def test_any_text_is_a_plan_or_a_plan_error(text: str) -> None:
    _item_or_error(text)
    _item_or_error("---\n" + text + "\n---\nDo it.")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(sorted(WorkItem.model_fields)), _JSON)
def test_any_value_of_any_field_is_a_plan_or_a_plan_error(field: str, value: object) -> None:
    if field != "body":
        _item_or_error(plan_text(**{field: value}))


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_a_plan_cut_anywhere_is_a_plan_or_a_plan_error(data: st.DataObject) -> None:
    text = plan_text(budget={"max_tokens": 5}, gates=[{"name": "g", "on": "on_tool_call"}])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    _item_or_error(text[:start] + text[end:])


def _too_slow(*_: object) -> None:
    raise AssertionError("it is still looking")


@pytest.mark.parametrize("marks", ["```", "~~~", "   ```", "`" * 100_000, "~" * 100_000])
def test_a_line_that_is_almost_a_fence_is_known_for_none_in_one_pass(marks: str) -> None:
    text = marks + " " * (MAX_PLAN_BYTES - len(marks) - 2) + "`\n"
    before = signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, 5)  # the engine would look for hours, and hears signals
    try:
        with pytest.raises(PlanError, match="no front matter"):
            PlanParser().parse(text)
        assert steps_of(text) == ()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
