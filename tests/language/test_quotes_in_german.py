"""German sentences quote as German does: „so“, also around a title, a rule or a request."""

import json
import re
from pathlib import Path

import pytest

from scripts.words import CATALOGUE, PAGE
from silas.language.refusal_words import refusal_words
from silas.main.typed import shorten
from silas.testing import Harness, ScriptedChannel
from tests.cockpit.house import a_house
from tests.support.plans import a_workspace, writing_plan
from tests.work.kit import owner

_TYPED = re.compile(r"`[^`]*`|silas ask \"[^\"]*\"|\{\"value\": \"\.\.\.\"\}")
"""What is typed or sent as it stands: a command, or data."""
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)|(?<=[sxzß])['’](?=[\s-])")
_GERMAN = re.compile(r"„[^„“”]*“")
_ANY = re.compile(r"[\"'“”„‚‘’«»‹›]|!r")


def _wrong(german: str) -> list[str]:
    for right in (_TYPED, _GERMAN, _APOSTROPHE):
        german = right.sub("", german)
    return _ANY.findall(german)


@pytest.mark.parametrize("catalogue", [CATALOGUE, PAGE], ids=["silas", "web"])
def test_every_german_sentence_quotes_as_german_does(catalogue: Path) -> None:
    sentences = json.loads(catalogue.read_text(encoding="utf-8"))
    assert len(sentences) > 700
    assert {one: said for one, said in sentences.items() if _wrong(said)} == {}


@pytest.mark.parametrize(
    "said",
    ["„{title}”", "“{title}”", "'{title}'", '"{title}"', "‚{title}‘", "„{title}", "{name!r}"],
)
def test_what_is_quoted_otherwise_is_seen(said: str) -> None:
    assert _wrong(f"Der Plan {said} wartet.")


@pytest.mark.usefixtures("german")
async def test_the_activity_quotes_titles(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path / "project")
    async with a_house(owner(), settings={"language": "de"}) as house:
        await house.harness.silas.run(writing_plan(workspace, title="Die Eingabe kopieren"))
        found = await house.get("/activity")
    words = [one["words"] for one in found["entries"]]
    assert "Du hast den Plan „Die Eingabe kopieren“ genehmigt." in words


@pytest.mark.usefixtures("german")
async def test_a_request_of_which_something_is_left_out_is_quoted(tmp_path: Path) -> None:
    channel = ScriptedChannel()
    async with Harness(channel, settings={"language": "de"}) as h:
        await h.silas.ask("list the files and then delete everything", workspace=tmp_path)
    (card,) = channel.cards
    assert "Ich lasse weg: „delete everything“, denn" in card.rationale


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("english", "told"),
    [
        (
            "The check 'tests' asks 'example.org', and it has no network; give it the host under "
            "`network`, or let it look at a file.",
            "Die Prüfung „tests“ fragt „example.org“ und hat kein Netz;",
        ),
        (
            'The model provider is limiting requests; wait and try again. It says: "3 a minute". '
            "(proxy: llama at http://127.0.0.1:9)",
            "Der Server sagt: „3 a minute“. (proxy: llama at http://127.0.0.1:9)",
        ),
    ],
)
def test_what_an_error_names_is_quoted(english: str, told: str) -> None:
    assert told in refusal_words(english)


@pytest.mark.usefixtures("german")
def test_a_long_quotation_is_told_without_its_middle() -> None:
    said = shorten(f"Einen Tag „{'sehr ' * 80}lang“ gibt es nicht.")
    assert said.startswith("Einen Tag „sehr")
    assert said.endswith("lang“ gibt es nicht.")
    assert len(said) < 220
