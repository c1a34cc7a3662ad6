"""A refusal with values in it is told in German, as long as the code says that very sentence."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import silas
from scripts.refusals import refusal_sentences
from scripts.words import REFUSALS, refusals_with_values
from silas.language.refusal_words import WITH_VALUES, refusal_words
from silas.plans import PlanError, PlanParser
from tests.plans.malformed import MALFORMED, Malformed

_VALUE = re.compile(r"\{[^{}]*\}")


def _said() -> Iterator[str]:
    """Every sentence with values that the package makes, `{}` where a value stands."""
    for file in Path(silas.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (
                    one.value if isinstance(one, ast.Constant) else "{}" for one in node.values
                )
                yield "".join(map(str, parts)).replace("{}{}", "{}")


def test_each_refusal_with_values_is_one_that_the_code_says() -> None:
    said = set(_said())
    assert not [one for one in WITH_VALUES if _VALUE.sub("{}", one) not in said]


def test_what_a_refusal_is_searched_among_is_what_the_code_raises() -> None:
    assert json.loads(REFUSALS.read_text(encoding="utf-8")) == refusals_with_values()
    assert len(refusals_with_values()) > 150


@pytest.mark.usefixtures("german")
def test_every_refusal_that_is_raised_is_told_in_german() -> None:
    raised = [_VALUE.sub("x9", one) for one in refusal_sentences()]
    assert not [one for one in raised if refusal_words(one) == one]


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("english", "told"),
    [
        ("“morgn” is no date.", "„morgn“ ist kein Datum."),
        (
            "The MCP server 'fake' cannot be used: nobody answers at http://127.0.0.1:9",
            "Der MCP-Server „fake“ ist nicht zu gebrauchen: unter http://127.0.0.1:9 antwortet "
            "niemand",
        ),
        (
            "The MCP server 'fake' cannot be used: it ended: exit code 1, no such file",
            "Der MCP-Server „fake“ ist nicht zu gebrauchen: er endete mit Exit-Code 1: no such",
        ),
        (
            "The time to undo this batch ended on Saturday 28 November 2026, 18:40; `silas batch "
            "show` names each file and where it is, to move it by hand.",
            "Die Zeit, diesen Stapel rückgängig zu machen, endete am Samstag, 28. November 2026, "
            "18:40; `silas batch show`",
        ),
        ("it ended: exit code 1", "er endete mit Exit-Code 1"),
        (
            "The configuration names no server 'fake'; see `silas mcp list`.",
            "Die Konfiguration nennt keinen Server „fake“; siehe `silas mcp list`.",
        ),
        ("No month has a day 32.", "Kein Monat hat einen Tag 32."),
        (
            "No reminder that waits is called “x”; `silas remind list` shows them.",
            "Keine wartende Erinnerung heißt „x“; `silas remind list` zeigt sie.",
        ),
        ("This work is not running, so there is nothing to stop.", "Diese Arbeit läuft nicht,"),
        (
            "The model 'x' needs a package that is not installed: No module named 'cohere'.",
            "Das Modell „x“ braucht ein Paket, das nicht installiert ist: No module named",
        ),
        (  # a sentence of Silas's own inside of one
            "Nothing was run: There is no secret named 'K'; `silas secrets list` shows them..",
            "Nichts wurde ausgeführt: Es gibt kein Geheimnis namens „K“; `silas secrets list`",
        ),
        (
            "The task a could not run. The check 'up' asks with pgrep for processes of this",
            "Die Aufgabe a könnte nicht laufen. The check",
        ),
        ("A sentence that nobody knows.", "A sentence that nobody knows."),
    ],
)
def test_a_refusal_is_told_in_german_with_its_values(english: str, told: str) -> None:
    assert refusal_words(english).startswith(told)


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("case", MALFORMED, ids=lambda case: case.name)
def test_how_a_plan_is_wrong_is_told_in_german(case: Malformed) -> None:
    with pytest.raises(PlanError) as refused:
        PlanParser().parse(case.text)
    error = refused.value
    told = refusal_words(str(error))
    assert told.startswith(f"Zeile {error.line}, Spalte {error.column}: ")
    assert error.reason not in told


@pytest.mark.usefixtures("german")
def test_why_a_model_that_was_tried_does_not_answer_is_told_in_german() -> None:
    tried = "qwen at http://127.0.0.1:9/v1: it cannot be reached; start the server, or check"
    told = refusal_words(f"Nothing was changed: {tried} `base_url`.")
    assert told.startswith("Nichts wurde geändert: qwen unter http://127.0.0.1:9/v1: ")
    assert "ist nicht erreichbar; starte den Server" in told
