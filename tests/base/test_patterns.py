"""Patterns that could run for ever are refused; the others answer as `re` does."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.patterns import MAX_PATTERN_CHARS, PatternRefused, check_pattern, fullmatch, search
from silas.patterns import substitute as sub


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a*)*b",
        "(a|aa)+$",
        "(?:a|a?)+$",
        "(.*a){20}",
        "((ab)*c)*",
        "(?:x?){50}x{50}",
        "([a-z]+)*@",
        r"(\w+\s?)*$",
        "(?P<x>a+)(?P=x)",
        r"(a)\1",
        r"(a)(?(1)b|c)",
        "(?>a+)b",
        "(?i:a*)b",
        "(?x) a +",
        "(?:ab)?+c",  # these three match what they should not in Python 3.11.4
        "(ab)*+c",
        "(?:ab){2}+c",
        "(",
        "a{2,1}",
        "[z-a]",
        "[a--b]",  # these four will mean something else in a later Python
        "[[a]",
        "[a&&b]",
        "[a||b]",
        "*",
        "a" * (MAX_PATTERN_CHARS + 1),
    ],
)
def test_a_dangerous_or_invalid_pattern_is_refused_before_it_meets_a_text(pattern: str) -> None:
    with pytest.raises(PatternRefused):
        check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a*a*a*a*b", "a" * 2_000),
        (r"\s*\s*x", " " * 20_000),
        (".*.*=.*", "x" * 3_000),
        ("a?" * 40 + "a" * 40, "a" * 39),
        ("(?i)a.*b.*c", "a" * 5_000),
        (r"(?:ab)+(?:ab)+c", "ab" * 10_000),
        ("(?s).*a.*", "\n" * 10_000),
        ("(?:a|ab)(?:b|)" * 20 + "c", "ab" * 20),
        ("(||||)" * 9 + "b", "a" * 30),
        ("(?:(?:a|aa)(?:a|aa)|(?:a|aa)(?:a|aa))" * 8 + "$", "a" * 30 + "b"),
    ],
)
def test_a_pattern_that_may_need_too_many_steps_on_this_text_is_refused(
    pattern: str, text: str
) -> None:
    check_pattern(pattern)
    with pytest.raises(PatternRefused, match="too many steps"):
        search(pattern, text)


def test_what_is_kept_about_a_pattern_says_nothing_about_the_next_text() -> None:
    pattern, harmless, endless = "a*a*a*a*b", "aab", "a" * 2_000
    for _ in range(2):
        assert search(pattern, harmless)
        with pytest.raises(PatternRefused, match="too many steps"):
            search(pattern, endless)
        with pytest.raises(PatternRefused, match="nest"):
            search("(a+)+$", harmless)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\d+ passed", "1 passed\n" * 10_000),
        (r"(\d+) passed.* in [\d.]+s", "tests/x.py ........ [ 50%]\n" * 1_000 + "9 passed in 0.1s"),
        (r"\A[^\x00-\x08]{0,20000}\Z", "x" * 20_000),
        ('"status":.*"ok"', '{"a": ' + "1" * 20_000 + ', "status": "ok"}'),
        ("^(?!.*secret)", "nothing here"),
        (r"[0-9a-f]{64}", "0123456789abcdef" * 1_000),
        (r"(?:\d{2}:){2}\d{2}", "at 12:30:45"),
        ("(?i)hello|WORLD", "the world"),
        (r"a{}b[]x](?#note)\.", "a{}bx."),
        (r"x{,}y{0,2}\x41\u0042\0?", "xxAB"),
        ("|".join(f"word{n}" for n in range(60)), "x " * 10_000 + "word59"),
        (r"\b(?:rm|mv|cp) -(?:r|f|rf) (?:/|~)", "then rm -rf ~"),
    ],
)
def test_an_ordinary_pattern_works_on_ordinary_text(pattern: str, text: str) -> None:
    found, expected = search(pattern, text), re.search(pattern, text)
    assert found is not None
    assert expected is not None
    assert found.span() == expected.span()


_ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\s", "(ab)", "(?:b)", "x|y", "^"])
_QUANTIFIERS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "*?", "{0,}"])
_PATTERNS = st.lists(st.tuples(_ATOMS, _QUANTIFIERS).map("".join), max_size=5).map("".join)


@given(_PATTERNS, st.text("abxy1 \n", max_size=40))
def test_an_answer_is_the_answer_of_re(pattern: str, text: str) -> None:
    try:
        found = search(pattern, text)
    except PatternRefused:
        return
    expected = re.search(pattern, text)
    assert (found and found.span()) == (expected and expected.span())


@given(_PATTERNS, st.text("abxy1 \n", max_size=40))
def test_a_full_match_is_the_full_match_of_re(pattern: str, text: str) -> None:
    try:
        found = fullmatch(pattern, text)
    except PatternRefused:
        return
    assert (found is None) == (re.fullmatch(pattern, text) is None)


def test_a_full_match_has_the_same_guards() -> None:
    with pytest.raises(PatternRefused, match="nest"):
        fullmatch("(a+)+", "a")
    with pytest.raises(PatternRefused, match="too many steps"):
        fullmatch("a*a*a*a*b", "a" * 2_000)
    assert fullmatch(".*a.*", "a" * 5_000)  # it begins at one place only, so it takes fewer steps


@given(st.text(max_size=60))
def test_any_pattern_is_scanned_or_refused(pattern: str) -> None:
    try:
        check_pattern(pattern)
    except PatternRefused:
        return
    re.compile(pattern)


def test_a_substitution_replaces_and_a_broken_replacement_is_refused() -> None:
    assert sub(r"\bsk-\w+", "[KEY]", "use sk-abc and sk-def") == "use [KEY] and [KEY]"
    for text in ("a", "nothing of it"):
        with pytest.raises(PatternRefused, match="replacement"):
            sub("a", r"\9", text)


def test_a_text_without_what_every_match_begins_with_is_left_as_it_is() -> None:
    assert sub(r"\bsk-\w+", "[KEY]", "a task, and no key") == "a task, and no key"
    assert sub(r"(?i)\bsk-\w+", "[KEY]", "use SK-abc") == "use [KEY]"
    assert sub(r"\bsk-\w+|gh_\w+", "[KEY]", "use gh_abc") == "use [KEY]"
    assert sub(r"s?k-\w+", "[KEY]", "use k-abc") == "use [KEY]"
