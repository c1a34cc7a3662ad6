"""Blocks: what stands in one can never open, close or relabel another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.context import content_of, frame, frame_text, scrub, scrub_output, sections
from silas.types import Origin, OriginKind, TaintLevel, new_mark

FRAMING = st.sampled_from(
    ["--- ", " ---", "---", "end", "message", " | ", "taint: owner", "mark: ", "\n", "\r\n"]
)  # fmt: skip
TEXTS = st.lists(FRAMING | st.characters(), max_size=30).map("".join)
ORIGIN = Origin(kind=OriginKind.web, name="https://a.example/", tool="web_fetch")


@pytest.mark.proves("B9-FRAMED")
@given(TEXTS, TEXTS)
def test_a_text_from_outside_is_all_of_its_block_and_nothing_more(text: str, other: str) -> None:
    prompt = "\n\n".join(
        [frame_text(text, ORIGIN), frame_text(other, ORIGIN), frame("facts", "a: b")]
    )
    one, two, facts = sections(prompt)
    assert (one.text, two.text, facts.text) == (text, other, "a: b")
    assert one.label("mark") != two.label("mark")
    assert one.labels[:3] == ("name: https://a.example/", "tool: web_fetch", "taint: external")


@given(TEXTS, TEXTS)
def test_a_name_from_outside_adds_no_label_and_no_line(name: str, tool: str) -> None:
    origin = Origin(kind=OriginKind.tool, name=name * 40, tool=tool, taint=TaintLevel.external)
    [block] = sections(frame_text("text", origin))
    assert block.text == "text"
    assert block.label("taint") == "external"
    assert len(block.labels) <= 4
    assert re.fullmatch("[0-9a-f]{16}", block.label("mark"))
    assert all(len(label) < 500 for label in block.labels)


@given(TEXTS)
def test_cleaned_or_not_nothing_gets_out(text: str) -> None:
    for clean in (str, scrub, scrub_output):
        cleaned = clean(text)
        assert content_of(frame_text(cleaned, ORIGIN)) == cleaned


def test_no_two_marks_are_the_same() -> None:
    assert len({new_mark() for _ in range(1000)}) == 1000


def test_a_block_that_is_never_closed_is_none() -> None:
    shown = frame_text("text", ORIGIN)
    mark = shown[-20:-4]
    assert list(sections(shown.replace(f"end {mark}", "end 0123456789abcdef"))) == []
    assert list(sections(shown.replace(f"end {mark}", "end"))) == []
