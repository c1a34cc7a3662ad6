"""What the pages under More answer to their owner is in his language, whole sentences of it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from silas.audit.narrate import narrate
from silas.language import speak
from silas.work.batches.folder_scan import FoundFile, about_of
from silas.work.batches.models import FileIdentity
from tests.cockpit.house import a_house
from tests.support.plans import a_workspace, writing_plan
from tests.work.kit import owner

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


async def test_tools_and_rules_are_called_by_what_they_do() -> None:
    async with a_house(settings=GERMAN) as house:
        tools = {one["name"]: one["title"] for one in await house.get("/tools")}
        told = await house.get("/settings")
        findings = (await house.get("/doctor"))["findings"]
    assert tools["shell_exec"] == "Befehl ausführen"
    assert not [name for name, title in tools.items() if name == title]
    values = [fact["value"] for part in told["parts"] for fact in part["facts"]]
    said = "sieht an, was du schreibst (input_guard), nimmt Schlüssel aus Antworten (secret_scrub)"
    assert said in values
    parts = [one["part"] for one in findings]
    assert {"Modell fürs Gespräch", "Prüfung der Nachrichten"} <= {*parts}
    assert not [one for one in parts if "proxy" in one or "guard" in one]
    [room] = [one["words"] for one in findings if one["part"] == "Kontext"]
    assert room.endswith("(Planen)")


async def test_what_ran_and_what_changed_is_told_in_german(tmp_path: Path) -> None:
    async with a_house(owner(), settings=GERMAN) as house:
        workspace = a_workspace(tmp_path / "project")
        result = await house.harness.silas.run(writing_plan(workspace, title="Copy the input"))
        assert result.status == "done", result.summary
        entries = (await house.get("/activity", last=200, all=True))["entries"]
        changed = next(one["seq"] for one in entries if one["event"] == "workspace_applied")
        entry = await house.get(f"/activity/{changed}")
        work = await house.get(f"/work/{result.work_item_id}")
    ran = [one["words"] for one in entry["ran"]]
    assert "Silas hat „Befehl ausführen“ benutzt." in ran
    assert not [words for words in ran if "_exec" in words]
    assert entry["diff"] == work["diff"]


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
