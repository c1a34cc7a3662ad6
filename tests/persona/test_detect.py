"""What a message is about, and what it says about Silas itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.persona.detect import FEEDBACK, context_of, feedback_in
from silas.persona.models import PersonalityConfig

CONFIG = PersonalityConfig()


def context(text: str, hint: str | None = None) -> str:
    return context_of(text, CONFIG.context_words, hint, CONFIG.contexts)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please review this pull request", "code_review"),
        ("Hi! How are you?", "casual_chat"),
        ("URGENT: the shop is down", "crisis"),
        ("Compare the sources in depth", "deep_research"),
        ("everyone, lunch at noon", "group_chat"),
        ("Write a letter to my landlord", "default"),
        ("history of hierarchies", "default"),
        ("", "default"),
        ("a" * 3000 + " urgent", "default"),
    ],
)
def test_a_situation_is_recognised_by_its_words(text: str, found: str) -> None:
    assert context(text) == found


def test_a_hint_decides_if_it_is_a_known_situation() -> None:
    assert context("hi", "crisis") == "crisis"
    assert context("hi", "nonsense") == "casual_chat"


@given(st.text(max_size=300))
def test_recognising_is_total_and_always_the_same(text: str) -> None:
    assert context(text) == context(text)
    assert context(text) in {*CONFIG.contexts, "default"}
    assert feedback_in(text) == feedback_in(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Too harsh.", "feedback_too_harsh"),
        ("You're a bit too harsh, please calm down", "feedback_too_harsh"),
        ("you are way too wordy", "feedback_too_wordy"),
        ("That was much too long!", "feedback_too_wordy"),
        ("Fix the test. Your answer was too brief.", "feedback_too_brief"),
        ("shorter please", "feedback_too_wordy"),
        ("Thank you!", "compliment"),
        ("thanks for the quick help", "compliment"),
        ("Well done", "compliment"),
        ("this function is too long", None),
        ("the line is too long, split it", None),
        ("thanks for nothing", None),
        ("thankless work", None),
        ("tell me when it is too late", None),
        ("", None),
    ],
)
def test_feedback_is_what_is_said_about_silas_and_nothing_else(
    text: str, found: str | None
) -> None:
    assert feedback_in(text) == found


def test_every_kind_of_feedback_moves_something_a_little() -> None:
    for kind, weights in FEEDBACK.items():
        moved = [abs(value) for value in weights.axes.model_dump().values()]
        assert 0 < max(moved) <= 0.05, kind
