"""The catalogue of what Silas says: complete, with the same values, and the page's part of it."""

import ast
import json
import re
from string import Formatter

import pytest

from scripts.words import CATALOGUE, PAGE, ROOT, package_sentences, page_sentences
from silas.language import LANGUAGES, language_of, speak, spoken_language, tr, tr_many


def _german() -> dict[str, str]:
    return json.loads(CATALOGUE.read_text(encoding="utf-8"))


def _values(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def _ends(sentence: str) -> tuple[bool, bool]:
    return sentence[:1].isspace(), sentence[-1:].isspace()


def test_every_sentence_of_the_cockpit_cards_and_results_has_its_german() -> None:
    said, known = {*page_sentences(), *package_sentences()}, _german()
    assert len(said) > 1000
    assert not [one for one in said if not known.get(one)]
    assert not known.keys() - said, "sentences that nobody says: `make words` takes them out"


def test_a_sentence_has_the_same_values_in_every_language() -> None:
    wrong = [one for one, german in _german().items() if _values(one) != _values(german)]
    assert not wrong


def test_the_blanks_around_a_part_of_a_sentence_are_the_same() -> None:
    wrong = [one for one, said in _german().items() if _ends(one) != _ends(said)]
    assert not wrong


_OTHER_WORDS = {r"Handy": "Telefon", r"Computer": "Rechner", r"Maschine\b": "Rechner"}


def test_a_thing_has_one_german_word_everywhere() -> None:
    pages = [ROOT / "web" / "index.html", *(ROOT / "silas/language").glob("*.json"), PAGE]
    pages += [one for one in (ROOT / "silas/plans/library").glob("*.md")]
    said = {one.name: one.read_text(encoding="utf-8") for one in pages}
    german = {one: re.sub(r'"(?:[^"\\]|\\.)*": ', "", text) for one, text in said.items()}
    for other, word in _OTHER_WORDS.items():
        found = [name for name, text in german.items() if re.search(other, text)]
        assert not found, f"{word} is said elsewhere for {other} of {found}"


def test_the_page_has_its_own_part_of_the_catalogue() -> None:
    known = _german()
    page = json.loads(PAGE.read_text(encoding="utf-8"))
    assert page == {one: known[one] for one in page_sentences()}


_SAID = re.compile(r'(?<![\w.])t\(\s*("(?:[^"\\]|\\.)*")')


def test_no_sentence_inside_of_another_is_left_out_of_the_catalogue() -> None:
    known = page_sentences()
    said = {
        (file.name, json.loads(one))
        for file in sorted((ROOT / "web").glob("*.js"))
        for one in _SAID.findall(file.read_text(encoding="utf-8"))
    }
    assert len(said) > 500
    assert not sorted((name, one) for name, one in said if one not in known)


_PLACES = (r"button\(", r"toast\(", r"announce\(", r'"aria-label": ', r"words\.push\(")
_UNTOLD = re.compile(rf"(?:{'|'.join(_PLACES)})\"[A-Za-z][^\"]*")


def test_no_button_label_or_notice_of_the_page_is_said_past_the_catalogue() -> None:
    found = [
        f"{file.name}: {said[0]}"
        for file in sorted((ROOT / "web").glob("*.js"))
        for said in _UNTOLD.finditer(file.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


_OF_CARDS = frozenset(("intent", "rationale", "heading", "label", "effect", "affected"))


def test_no_field_of_a_card_is_said_past_the_catalogue() -> None:
    found = [
        f"{file.name}: {ast.unparse(field.value)}"
        for file in sorted((ROOT / "silas").rglob("*.py"))
        if "testing" not in file.parts
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(("Card", "Detail", "Action"))
        for field in call.keywords
        if field.arg in _OF_CARDS and _is_words(field.value)
    ]
    assert not found, "\n".join(found)


def _is_words(value: ast.expr) -> bool:
    """A text with words of its own, written where it is used."""
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    return any(
        isinstance(part, ast.Constant) and re.search(r"[A-Za-z]{3}", str(part.value))
        for part in parts
    )


def test_no_command_prints_words_past_the_catalogue() -> None:
    said = re.compile(r"[A-Za-z]{3,}\S* [A-Za-z]{2,}")
    found = [
        f"{file.name}: {ast.unparse(words)}"
        for file in sorted((ROOT / "silas" / "main").rglob("*.py"))
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in ("click.echo", "click.confirm", "click.prompt", "confirm")
        for words in call.args
        if isinstance(words, ast.Constant | ast.JoinedStr)
        and said.search(_literal(words))
        and "silas.audit.verify" not in _literal(words)  # a command line
    ]
    assert not found, "\n".join(found)


def _literal(words: ast.Constant | ast.JoinedStr) -> str:
    parts = words.values if isinstance(words, ast.JoinedStr) else [words]
    return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de"}, "de"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "de_AT.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LC_MESSAGES": "de_CH", "LANG": "C"}, "de"),
        ({"LC_ALL": "", "LANG": "de_DE"}, "de"),
        ({"LANG": "den_XX"}, "en"),
    ],
)
def test_the_machines_locale_says_which_language(environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language


def test_what_no_catalogue_has_is_said_in_english(german: None) -> None:
    assert tr("A sentence that nobody translated, with {value}.", value="{x}") == (
        "A sentence that nobody translated, with {x}."
    )


def test_how_many_takes_the_right_form(german: None) -> None:
    assert tr_many(1, "{count} file", "{count} files") == "1 Datei"
    assert tr_many(3, "{count} file", "{count} files") == "3 Dateien"
    assert tr_many(10_000, "{count} file", "{count} files") == "10.000 Dateien"


def test_a_language_that_silas_does_not_speak_is_refused() -> None:
    assert set(LANGUAGES) == {"en", "de"}
    with pytest.raises(ValueError, match="it speaks en, de"):
        speak("fr")
    assert spoken_language() == "en"
