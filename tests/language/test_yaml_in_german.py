"""What a file's YAML has wrong is told in the owner's language, with its place and what to do."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml.parser
import yaml.scanner

from silas.language import refusal_words
from silas.language.file_faults import YAML_FAULTS
from silas.strict_yaml import PROBLEMS, Subset, YamlError, problem_words, read_yaml
from tests.support.command import environment, run, silas

WRONG = {
    "a tab": ("a:\n\tb: 1", "ein Tabulator rückt nicht ein; nimm Leerzeichen"),
    "a sign": ("a: @x", "darf nicht mit @ beginnen; setze ihn in Anführungszeichen"),
    "no colon": ("a: 1\nb\nc: 1", "diese Zeile ist kein `schlüssel: wert`"),
    "a list": ("a: - 1", "eine Liste darf hier nicht beginnen"),
    "a question": ("a: ? b", "ein ? darf hier nicht stehen"),
    "a colon": ("a: b: c", "hier darf kein Doppelpunkt stehen"),
    "a directive": ("%x\n%\n--- a", "eine Zeile darf nicht mit % beginnen"),
    "an anchor": ("a: & b", "auf & und * folgt ein Name"),
    "a tag": ("a: !<b", "Tags (!) sind nicht erlaubt"),
    "an indicator": ("a: |0\n b", "steht eine Zahl von 1 bis 9 oder keine"),
    "text behind a bar": ("a: | b\n c", "hinter | und > darf in ihrer Zeile nichts folgen"),
    "an escape": ('a: "\\q"', "beginnt ein Backslash eine Escape-Folge"),
    "no hex": ('a: "\\xzz"', "beginnt ein Backslash eine Escape-Folge"),
    "no character": ('a: "\\UFFFFFFFF"', "steht für kein Zeichen; entferne sie"),
    "an open quote": ("a: 'b", "wird nie geschlossen; schließ es"),
    "a separator": ("a: 'b\n--- c'", "beginnt eine Zeile mit --- oder ..."),
    "more": ("{a: 1} b", "hier steht noch etwas nach dem Ende der Daten"),
    "no value": ("[a, ,]", "hier fehlt ein Wert"),
    "no item": ("- a\nb: c", "diese Zeile ist kein Eintrag der Liste davor"),
    "no key": ("a: 'b' c\n", "diese Zeile passt nicht zu den Schlüsseln davor"),
    "an open list": ("a: [b", "der Liste fehlt ein Komma oder ihre schließende Klammer"),
    "an open mapping": ("a: {b: c", "der Zuordnung fehlt ein Komma oder ihre schließende Klammer"),
    "a control": ("a: \x07", "ein Zeichen, das YAML nicht erlaubt; entferne es"),
}


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_in_yaml_is_told_in_german(wrong: str) -> None:
    text, said = WRONG[wrong]
    with pytest.raises(YamlError) as refused:
        read_yaml(text, Subset(deepest=8))
    told = refusal_words(f"line 1, column 2: {refused.value}")
    assert told.startswith("Zeile 1, Spalte 2: ")
    assert said in told


@pytest.mark.usefixtures("german")
def test_a_problem_that_nobody_knows_is_told_in_german_too() -> None:
    english = f"line 3, column 4: the YAML cannot be read: {problem_words('while juggling: oops')}"
    assert refusal_words(english) == (
        "Zeile 3, Spalte 4: das YAML lässt sich nicht lesen: hier ist es kein YAML; vergleiche die "
        "Zeile mit denen um sie herum"
    )


def _problems() -> Iterator[str]:
    """Every `context: problem` that the installed library raises, as its source has them."""
    for module in (yaml.scanner, yaml.parser):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            made = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(made, ast.Call) and len(made.args) == 4:
                yield ": ".join(filter(None, map(_said, (made.args[0], made.args[2]))))


def _said(part: ast.expr) -> str:
    if isinstance(part, ast.BinOp):  # "found %r" % what
        return (
            _said(part.left)
            .replace("%r", "'x'")
            .replace("an %s", "an alias")
            .replace("%s", "tag")
            .replace("%d", "2")
        )
    if isinstance(part, ast.Constant):
        return str(part.value or "")
    return "what a codec says"  # of a tag's escapes


def test_each_problem_of_the_library_has_its_sentence() -> None:
    found = set(_problems())
    assert len(found) > 25
    general = problem_words("")
    assert not [one for one in found if problem_words(one) == general]


def test_each_sentence_is_one_that_is_told() -> None:
    said = {words for _, words in PROBLEMS}
    assert said <= set(YAML_FAULTS)


def _run(home: Path, *words: str) -> str:
    ran = run(silas(*words), environment(home, SILAS_LANGUAGE="de"))
    assert ran.code != 0
    return ran.err


def test_a_plan_that_cannot_be_read_is_told_in_german_by_a_command(tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text("---\nid: a\ntype: task\ntitle: Fix: it\n---\nDo.\n", encoding="utf-8")
    assert (
        f"{file}, Zeile 4, Spalte 11: das YAML lässt sich nicht lesen: hier darf kein Doppelpunkt "
        "stehen;" in _run(tmp_path, "plan", "check", str(file))
    )
    file.write_text("---\nid: a\ntype: task\ntitel: b\n---\nDo.\n", encoding="utf-8")
    assert f"{file}, Zeile 4, Spalte 1: unbekannter Schlüssel `titel`" in _run(
        tmp_path, "plan", "check", str(file)
    )
    assert f"Der Plan {tmp_path} lässt sich nicht lesen: Es ist ein Verzeichnis." in _run(
        tmp_path, "plan", "check", str(tmp_path)
    )
    file.write_bytes(b"---\n\xff")
    assert "nicht lesen: sie ist kein Text in UTF-8." in _run(tmp_path, "plan", "check", str(file))


def test_a_configuration_that_is_no_text_is_told_in_german(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"silas:\n  owner_id: \xff\n")
    assert "ist nicht lesbar: sie ist kein Text in UTF-8." in _run(tmp_path, "status")
