"""Letters that look like others are marked on cards; a human language stays readable (B2)."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.plans.characters import as_shown, show, show_exactly
from silas.plans.lookalikes import alike

DISGUISED = {
    "Cyrillic in a Latin word": ("p\u0430ypal", "p<U+0430>ypal"),
    "Cyrillic in a host": (
        "https://\u0435xample.com/x",
        "https://<U+0435>xample.com/x",
    ),
    "a path of two alphabets": ("/home/\u0430nna", "/home/<U+0430>nna"),
    "Greek in a Latin word": ("g\u03bfogle", "g<U+03BF>ogle"),
    "a word of Cyrillic letters alike to Latin ones": (
        "run \u0441\u043e\u0440\u0443 now",
        "run <U+0441><U+043E><U+0440><U+0443> now",
    ),
    "fullwidth letters": ("\uff52\uff4d -rf", "<U+FF52><U+FF4D> -rf"),
    "fullwidth digits": ("port \uff18\uff10", "port <U+FF18><U+FF10>"),
    "mathematical letters": ("\U0001d42b\U0001d426 x", "<U+1D42B><U+1D426> x"),
    "a Kelvin sign": ("\u212aill", "<U+212A>ill"),
    "a ligature": ("\ufb01le", "<U+FB01>le"),
    "a letter of phonetics": ("\u0261it push", "<U+0261>it push"),
    "small capitals": ("\u0280\u1d0d", "<U+0280><U+1D0D>"),
    "a slash that is none": ("a\u2215b", "a<U+2215>b"),
    "a dot that is none": ("example\u2024com", "example<U+2024>com"),
    "a letter in two parts": ("e\u0301t\u0301", "e<U+0301>t\u0301"),
    "marks that reach into other lines": (
        "x\u0336\u0337\u0338\u0335",
        "x\u0336\u0337\u0338<U+0335>",
    ),
    "a mark on nothing": ("\u0336 x", "<U+0336> x"),
    "Cherokee in a Latin word": ("\u13a2ello", "<U+13A2>ello"),
    "Armenian in a Latin word": ("l\u0578ve", "l<U+0578>ve"),
}

READABLE = (
    "Größe ändern, Straße für Straße – „schnell“",
    "L’été à Orléans, ça va ?",
    "Đừng quên cập nhật",
    "Привет, мир! Что с этим делать и кто это сделал?",
    "Καλημέρα κόσμε",
    "東京で Python3を使う、README.mdを読む。",
    "한국어 문장입니다 ok",
    "שלום עולם",
    "مرحبا بالعالم",
    "हिन्दी में लिखा हुआ",
    "ภาษาไทยทำได้",
    "Բարև աշխարհ",
    "It’s 5°C — 20×30 … done",
    "emoji \U0001f600 and ✓",
    "İstanbul'da ılık",
)


@pytest.mark.parametrize("name", DISGUISED)
def test_a_letter_that_looks_like_another_is_marked(name: str) -> None:
    text, shown = DISGUISED[name]
    assert show(text) == shown


@pytest.mark.parametrize("text", READABLE)
def test_prose_in_a_human_language_stays_readable(text: str) -> None:
    assert show(unicodedata.normalize("NFC", text)) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("text", [*READABLE, *(text for text, _ in DISGUISED.values())])
def test_where_every_character_counts_no_disguise_is_left(text: str) -> None:
    shown = show_exactly(text)
    left = [c for c in shown if not c.isascii()]
    assert all(c.isalpha() and unicodedata.normalize("NFKC", c) == c for c in left)
    assert all(unicodedata.bidirectional(c) == "L" for c in left)
    assert ("<U+" in show(text)) <= ("<U+" in shown)


EXACTLY = {
    "an umlaut": ("/home/anna/Übersicht März.txt", ""),
    "every letter of German": ("äöüßÄÖÜẞ", ""),
    "other marks": ("naïve_café-Ångström.Łódź", ""),
    "a word of Cyrillic": ("/home/me/документы/фото.png", ""),
    "Chinese, Japanese, Korean": ("日本/ひらがな/한국", ""),
    "a mark of its own": ("U\u0308ber", "U<U+0308>ber"),
    "parts of a syllable": ("\u1100\u1161", "<U+1100><U+1161>"),
    "a letter of another alphabet": ("\u0430pple", "<U+0430>pple"),
    "letters of another alphabet alone": ("/\u0435\u0442\u0441/x", "/<U+0435><U+0442><U+0441>/x"),
    "a letter that is drawn as a slash": ("a\u30ceb", "a<U+30CE>b"),
    "a letter that is drawn as a colon": ("a\u02d0b", "a<U+02D0>b"),
    "a letter without its dot": ("f\u0131le", "f<U+0131>le"),
    "a letter with a dot below": ("p\u1ea1y", "p<U+1EA1>y"),
    "two letters in one": ("\ufb01le", "<U+FB01>le"),
    "what is read from the right": ("a/\u05d0/b", "a/<U+05D0>/b"),
    "what turns the line round": ("a\u202eb", "a<U+202E>b"),
    "what nobody sees": ("a\u200bb\u00a0c", "a<U+200B>b<U+00A0>c"),
    "another sign for a slash": ("a\u2215b", "a<U+2215>b"),
}


@pytest.mark.parametrize("name", EXACTLY)
def test_a_letter_that_is_like_no_other_stays_where_every_character_counts(name: str) -> None:
    text, shown = EXACTLY[name]
    assert show_exactly(text) == (shown or text)


@given(st.text(max_size=30))
def test_what_was_shown_is_not_marked_a_second_time(text: str) -> None:
    assert as_shown(show(text)) == show(text)
    assert as_shown(show_exactly(text)) == show_exactly(text)


@given(st.text(alphabet="aр\u0430\u03bf /.\uff41e\u0301\u2024", max_size=12))
def test_no_run_that_is_shown_has_two_alphabets(text: str) -> None:
    for run in re.sub("<U\\+[0-9A-F]+>", "", show(text)).split():
        scripts = {unicodedata.name(c).split()[0] for c in run if c.isalpha()}
        assert len(scripts) <= 1 or "LATIN" not in scripts


@given(st.text(max_size=20), st.text(max_size=20))
def test_different_texts_are_shown_differently_in_both_ways(one: str, other: str) -> None:
    assert (show_exactly(one) == show_exactly(other)) == (one == other)
    assert (show(one) == show(other)) == (one == other)


def test_ascii_is_never_marked() -> None:
    assert alike("rm -rf /; echo 'x' | cat") == frozenset()
