"""Counting tokens without a tokenizer (spec 5.13, decision A22)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.context import TokenCounter
from silas.testing import FakeTokenCounter

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "vectors" / "tokens.json").read_text()
)
"""Texts, and what two tokenizers of OpenAI's, one of Anthropic's and LLaMA's first count."""

CASES = [pytest.param(one, id=one["kind"]) for one in VECTORS["cases"]]
count = TokenCounter().count


@pytest.mark.proves("A22-COUNTER")
@pytest.mark.parametrize("case", CASES)
def test_it_is_at_least_86_hundredths_of_what_any_tokenizer_counts(case: dict[str, Any]) -> None:
    assert count(case["text"]) >= 0.86 * max(case["tokens"])


def test_prose_and_code_are_not_counted_far_too_high() -> None:
    ordinary = [c for c in VECTORS["cases"] if c["kind"] in ("english", "python", "markdown prose")]
    assert len(ordinary) == 3
    for case in ordinary:
        assert count(case["text"]) <= 1.6 * max(case["tokens"])


@given(st.text(max_size=500))
def test_every_text_has_a_count_that_is_no_less_than_the_specified_one(text: str) -> None:
    assert count(text) >= int(len(text) / 3.5)
    assert count(text + "x" * 7) >= count("x" * 7) - 1


@given(st.lists(st.text(max_size=80), max_size=20))
def test_a_whole_is_about_the_sum_of_its_parts(parts: list[str]) -> None:
    lines = [f"{part}\n" for part in parts]
    assert abs(count("".join(lines)) - sum(map(count, lines))) <= len(lines) + 0.1 * sum(
        map(count, lines)
    )


def test_lone_surrogates_are_counted_too() -> None:
    assert count("\ud800" * 10) > 0


def test_the_counter_for_tests_counts_words() -> None:
    assert FakeTokenCounter().count("one two\n three") == 3
