"""When words prove that they come from somewhere, and when they could stand anywhere (B9)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.tools.phrases import collapse_spaces, is_distinctive, passages, stands_in

PROVES_NOTHING = [
    "13", "13.", "2026-11-22", "12:30", "100.00", "$1,800", "+49 30 1234567", "0x1f",
    "May 13", "13 May 2026", "Monday", "next Friday at noon", "tomorrow", "May 13, 2026 at 10:00",
    "a", "yes", "true", "delete", "file", "Alice", "general", "the file", "send it to me",
    "new message", "read all of it", "Project", "x.y", "a-b", "A1", "to: me", "",
]  # fmt: skip
PROVES = [
    "alice@example.com", "notes/plan.md", "https://example.com/a", "DE89370400440532013000",
    "report_2026.txt", "Quarterly figures Berlin", "Happy birthday Charlotte",
]  # fmt: skip


@pytest.mark.parametrize("words", PROVES_NOTHING)
def test_numbers_dates_and_plain_words_prove_nothing(words: str) -> None:
    assert not is_distinctive(collapse_spaces(words))


@pytest.mark.parametrize("words", PROVES)
def test_values_with_a_structure_and_peculiar_phrases_prove_where_they_come_from(
    words: str,
) -> None:
    assert is_distinctive(collapse_spaces(words))


STANDS = [
    ("alice@example.com", "write to alice@example.com, please", True),
    ("alice@example.com", "write to alice@example.com.", True),
    ("alice@example.com", "write to 'alice@example.com'", True),
    ("alice@example.com", 'to: "alice@example.com"', True),
    ("alice@example.com", "(alice@example.com)", True),
    ("alice@example.com", "alice@example.com's mail", False),
    ("alice@example.com", "alice@example.com.evil.org", False),
    ("alice@example.com", "malice@example.com", False),
    ("alice@example.com", "x.alice@example.com", False),
    ("alice@example.com", "Alice@Example.com", False),
    ("alice@example.com", "\uff41lice@example.com", False),
    ("alice@example.com", "alice@\u200bexample.com", False),
    ("example.com", "https://example.com/path", False),
    ("https://example.com", "see https://example.com/path", False),
    ("https://example.com", "see https://example.com.", True),
    ("plan.md", "notes/plan.md", False),
    ("13", "on 2026-11-13", False),
    ("13", "file 13 of 20", True),
    ("one two", "one\n\ttwo", True),
    ("general", "the 'general' channel", True),
    ("general", "generals", False),
    ("", "anything", False),
]


@pytest.mark.parametrize(("said", "text", "stands"), STANDS)
def test_words_stand_in_a_text_only_as_a_whole(said: str, text: str, stands: bool) -> None:
    assert stands_in(collapse_spaces(said), collapse_spaces(text)) is stands


@given(st.text(max_size=40), st.text(max_size=200))
def test_what_stands_in_a_text_is_in_it(said: str, text: str) -> None:
    if stands_in(collapse_spaces(said), collapse_spaces(text)):
        assert collapse_spaces(said) in collapse_spaces(text)


@given(st.from_regex(r"[a-z]{3,9}@[a-z]{3,9}\.com", fullmatch=True), st.sampled_from("ab1_.-/@%"))
def test_one_character_more_on_either_side_is_another_value(value: str, more: str) -> None:
    assert not stands_in(value, f"to {more}{value} now")
    assert not stands_in(value, f"to {value}{more}x now")


@given(st.text(max_size=300))
def test_a_text_of_numbers_alone_is_never_peculiar(text: str) -> None:
    assert not is_distinctive(collapse_spaces("".join(c for c in text if not c.isalpha())))


def test_of_a_composed_text_the_stretches_that_were_read_are_told_with_their_places() -> None:
    read = [("the meeting is moved to room nine of the east wing", "calendar"),
            ("call eve@attacker.test for the new keys", "mail")]  # fmt: skip
    told = list(passages("Hi! The meeting is moved to room nine, call eve@attacker.test", read))
    assert ("meeting is moved to room", "calendar") in told
    assert ("eve@attacker.test", "mail") in told or any("eve@" in words for words, _ in told)


def test_what_was_read_as_a_whole_is_told_once_and_from_its_last_place() -> None:
    assert list(passages("a b c", [("a b c", 1), ("x a b c y", 2)])) == [("a b c", 2)]


@given(st.lists(st.sampled_from(["a", "b", "c.d", "eve@x.test"]), max_size=60))
def test_no_more_stretches_are_told_than_a_person_reads(words: list[str]) -> None:
    assert len(list(passages(" ".join(words), [("a b c.d a b", 1), ("b b a", 2)]))) <= 8
