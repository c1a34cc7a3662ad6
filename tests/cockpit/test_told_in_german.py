"""What the pages under More answer to their owner is in his language, whole sentences of it."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from silas.audit.narrate import narrate
from silas.language import speak
from silas.work.batches.folder_scan import FoundFile, about_of
from silas.work.batches.models import FileIdentity
from tests.cockpit.house import a_house

GERMAN = {"language": "de"}


@pytest.fixture(autouse=True)
def _german() -> Iterator[None]:
    speak("de")
    yield
    speak("en")


async def test_what_became_of_a_device_is_told_in_german() -> None:
    async with a_house(settings=GERMAN) as house:
        named = await house.signed("/devices/device-2/name", name="Telefon")
        ended = await house.signed("/devices/device-2/revoke")
    assert named.json()["words"] == "Es heißt jetzt Telefon."
    assert ended.json()["words"].startswith("Dieses Gerät ist nicht mehr gekoppelt;")


async def test_who_answers_without_a_model_is_called_alike_on_both_pages() -> None:
    async with a_house(settings=GERMAN) as house:
        facts = (await house.get("/settings"))["parts"][0]["facts"]
        roles = (await house.get("/models"))["roles"]
    assert {one["value"] for one in facts} == {"Silas' eingebaute Antworten"}
    assert {one["model"] for one in roles} == {"Silas' eingebaute Antworten"}


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        ("approve", "genehmigt"),
        ("decline", "abgelehnt"),
        ("edit_selection", "nur einige davon sind ausgewählt"),
    ],
)
def test_the_answer_to_a_batch_is_told_in_words(verdict: str, told: str) -> None:
    facts = {"batch_id": "batch-1", "folder": "/home/x/Downloads", "items": 2, "verdict": verdict}
    said = narrate("batch_reviewed", facts)
    assert said.endswith(f"mit 2 Dateien in /home/x/Downloads beantwortet: {told}.")
    assert f"mit einer Datei in /home/x/Downloads beantwortet: {told}." in narrate(
        "batch_reviewed", {**facts, "items": 1}
    )
    assert "in batch-1" in narrate("batch_undone", {"batch_id": "batch-1", "items": 2})


def test_the_date_of_a_file_on_the_card_of_a_batch_is_german() -> None:
    at = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
    found = FoundFile("a.png", FileIdentity(1, 1, 3, 1, 1), ".png", b"", at)
    assert about_of(found).endswith(", 28. November 2026")
    speak("en")
    assert about_of(found).endswith(", 28 November 2026")
