"""Batches of files for an owner who speaks German: reasons, sizes and counts, and what is bound."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card, Detail
from silas.cards.models import BatchReviewCard, DecisionAnswer, DecisionCard
from silas.testing import Harness, MockClock, ScriptedChannel, ScriptedModel
from silas.work.batches.folder_names import FOLDERS
from silas.work.batches.plan import plan_folder
from silas.work.batches.words import plan_words, tidied_words, undone_words
from tests.batches.folders import NOW, PDF, PNG, put

_ENGLISH = re.compile(
    r"\b(the|and|is|are|with|without|it|its|that|this|for|file|files|bytes?|begins|ends?|unchanged|"
    r"year|rule|knows|stays|moved|you|said|empty|same|batch|name|more|would|be|asked)\b"
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / "Downloads"
    put(place, "a.pdf", PDF)
    put(place, "alt.pdf", PDF + b"alt", days=500)
    put(place, "bild.png", PNG)
    put(place, "bild (1).png", PNG)
    put(place, "leer.txt", b"")
    put(place, "notiz.txt", b"Liebe Anna,\nbis morgen.\n")
    put(place, "falsch.pdf", b"MZ")
    put(place, "x.xyz", b"x")
    put(place, "ohne", b"o")
    put(place, "gross.zip", b"PK\x03\x04" + b"0" * 1_500)
    put(place, "neu.pdf", PDF, days=0)
    put(place, "halb.zip.part", b"PK")
    (place / "verweis.pdf").symlink_to("a.pdf")
    return place


def _house(
    base: Path, answer: Callable[[Card[Any]], Any], language: str = "de"
) -> tuple[Harness, ScriptedChannel]:
    channel = ScriptedChannel(answer)
    models = {"proxy": ScriptedModel([])}
    (base / "silas").mkdir(exist_ok=True)
    settings = {"language": language}
    home = base / "silas"
    return Harness(
        channel, models=models, clock=MockClock(NOW), home=home, settings=settings
    ), channel


def _yes(card: Card[Any]) -> Any:
    if isinstance(card, DecisionCard) and "xyz" in card.intent:
        return DecisionAnswer(selected_value="Other", approved=True)
    return card.actions[0].value


def _details(parts: tuple[Detail, ...]) -> list[str]:
    return [
        line for part in parts for line in (part.heading, *part.lines) if not line.startswith("  |")
    ]


def _words(card: Card[Any]) -> list[str]:
    rows = (
        [f"{r.group}: {r.reason}" for r in card.rows] if isinstance(card, BatchReviewCard) else []
    )
    labels = [action.label for action in card.actions]
    return [
        card.intent, card.rationale, card.affected, card.effect, *labels, *rows,
        *_details(card.details),
    ]  # fmt: skip


async def test_cards_reasons_sizes_and_what_became_of_it(
    place: Path, tmp_path: Path, german: None
) -> None:
    harness, channel = _house(tmp_path, _yes)
    plan = plan_folder(place, [tmp_path / "silas"], NOW)
    async with harness as h:
        tidied = await h.silas.tidy(place)
        moved = tidied.batches[0].moved[0].move
        (place / moved.goal).write_bytes(b"anders")
        undone = await h.silas.undo_batch("all")
    cards = [line for card in channel.cards for line in _words(card)]
    told = [*plan_words(plan, 10), *tidied_words(tidied), *undone_words(undone)]
    text = "\n".join([*cards, *told])
    for said in (
        ".pdf, seit einem Jahr unverändert",
        "ihr Name endet auf .pdf",
        "gleicher Inhalt wie bild.png, und der Name sagt, dass es eine Kopie ist",
        "sie ist leer",
        "1,5 kB",
        "9 Byte",
        "beginnt: Liebe Anna,",
        "keine Regel kennt .xyz",
        "keine Regel kennt Dateien ohne Endung",
        "du hast es so gesagt",
        "sie heißt .pdf und beginnt wie ein Programm",
        "1 nach Sonstiges",
        "bleibt: neu.pdf: sie hat sich eben erst geändert",
        "bleibt: verweis.pdf: sie ist ein symbolischer Link",
        f"bleibt: {moved.goal}: sie hat sich geändert, seit sie verschoben wurde",
    ):
        assert said in text
    own = [re.sub(r"`[^`]*`|batch-\w+", "", line) for line in (*cards, *told)]
    assert not [line for line in own if _ENGLISH.search(line)]


async def test_folders_have_german_names_and_those_that_are_there_are_used(
    place: Path, tmp_path: Path, german: None
) -> None:
    (place / "Pictures").mkdir()
    (place / "Older").mkdir()
    harness, _ = _house(tmp_path, _yes)
    async with harness as h:
        await h.silas.tidy(place)
        made = {one.name for one in place.iterdir() if one.is_dir()}
        assert made == {
            *("Pictures", "Older", "Dokumente", "Archive", "Duplikate", "Sonstiges", "Zu prüfen"),
        }
        assert (place / "Older" / "Documents" / "alt.pdf").is_file()
        await h.silas.undo_batch("all")
    assert (place / "a.pdf").is_file()
    assert not (place / "Dokumente").exists()


async def test_what_a_token_binds_is_the_same_in_each_language(
    place: Path, tmp_path: Path, german: None
) -> None:
    for name in FOLDERS:
        (place / name).mkdir()
    bound: list[list[tuple[str, ...]]] = []
    for language in ("de", "en"):
        harness, channel = _house(tmp_path, lambda card: card.safe, language)
        async with harness as h:
            await h.silas.tidy(place)
        bound.append([c.item_ids for c in channel.cards if isinstance(c, BatchReviewCard)])
    assert bound[0] == bound[1]
    assert bound[0]
