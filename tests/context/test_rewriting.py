"""What makes the rules cheap says exactly what the engine's own, slower way says."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.context.rewriting import any_case, rewrite

_TEXTS = st.text(st.sampled_from("ab<>[]\n- x:"), max_size=60)

_TEMPLATES = {
    "one group": (r"<([^<>]*)>", r"(\1)", ("(", ")")),
    "signs on one side": (r"\n(a*):", r"\n\1;", ("\n", ";")),
    "nothing but the group": (r"\[([^\[\]]*)\]", r"\1", ("", "")),
    "three groups": (r"(a+)-(b*)-( *)", r"\1~\2~~\3", ("", "~", "~~", "")),
}


@pytest.mark.parametrize("name", _TEMPLATES)
@given(text=_TEXTS)
def test_a_match_is_put_together_as_a_template_has_it(name: str, text: str) -> None:
    pattern, template, signs = _TEMPLATES[name]
    found = re.compile(pattern)
    assert rewrite(found, text, *signs) == found.sub(template, text)


_WORDS = ("img", "iframe", "script", "style", "s", "kind", "Tool_(?:a|b)", "meta")
_EVERY_CASE = "".join(map(chr, range(0x20, 0x250))) + "\u1e9e\u2126\u212a\u212b\ufb05\ufb06"


@pytest.mark.parametrize("word", ["img", "script", "kind", "style"])
def test_a_first_letter_has_every_case_that_the_engine_knows(word: str) -> None:
    ours, theirs = re.compile(any_case([word])), re.compile(word, re.IGNORECASE)
    for letter in _EVERY_CASE:
        assert bool(ours.fullmatch(letter + word[1:])) == bool(theirs.fullmatch(letter + word[1:]))


@given(st.lists(st.sampled_from("imgframesctylkdTool_abIMGSKſıİ\u212a "), max_size=12).map("".join))
def test_words_in_any_case_are_found_where_the_engine_finds_them(text: str) -> None:
    ours = re.compile(rf"(?:{any_case(_WORDS)})")
    theirs = re.compile("|".join(_WORDS), re.IGNORECASE)
    assert [found.span() for found in ours.finditer(text)] == [
        found.span() for found in theirs.finditer(text)
    ]
