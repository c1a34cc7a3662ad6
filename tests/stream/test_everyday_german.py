"""Without a language model, in German: everyday questions of a folder, answered by a look."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest

from silas.testing import Harness, MockClock, ScriptedChannel
from tests.stream.kit import saying_yes, soon

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)  # a Friday
FOLDER = {
    "todo.txt": ("Milch kaufen\nRad putzen\n", 0),
    "notizen/steuer.txt": ("Die Steuer ist bis 31. Mai fällig.\n", 1),
    "notizen/garten.txt": ("Beet umgraben.\n", 3),
    "Downloads/rechnung.pdf": ("%PDF-1.4\n", 9),
    "Downloads/eins.txt": ("gleich\n", 40),
}
ANSWERED = {
    "zähle die Wörter in todo.txt": "4 Wörter",
    "wie viele Zeilen hat todo.txt": "2 Zeilen",
    "was steht auf meiner Todo-Liste": "Rad putzen",
    "wie viele PDFs sind in Downloads": "1 Datei",
    "was ist in Downloads": "rechnung.pdf",
    "öffne Downloads": "rechnung.pdf",
    "was ist die größte Datei in Downloads": "Die größten von 2 Dateien",
    "neueste Datei in Downloads": "Die neuesten von 2 Dateien",
    "wie viel Platz brauchen meine Downloads": "16 Byte in 2 Dateien",
    "wie alt ist todo.txt?": "todo.txt  24 Byte",
    "zeig mir die letzte Zeile von todo.txt": "Rad putzen",
    "kommt Milch in todo.txt vor?": "todo.txt:1: Milch kaufen",
    "steht Eier in todo.txt?": "todo.txt enthält „Eier“ nicht",
    "steht Milch auf meiner Todo-Liste?": "todo.txt:1: Milch kaufen",
    "zeig mir die Dateien in notizen": "garten.txt",
    "liste die Dateien auf": "todo.txt",
    "zeig mir diesen Ordner an": "todo.txt",
    "finde die Datei rechnung.pdf": "Downloads/rechnung.pdf",
    "finde Dateien namens *.pdf": "Downloads/rechnung.pdf",
    "was kannst du?": "sag: „liste die Dateien auf“",
    "suche das Wort Steuer": "notizen/steuer.txt:1",
    "welche Dateien haben sich diese Woche geändert": "3 Dateien diese Woche geändert",
    "was hat sich hier seit gestern geändert": "2 Dateien seit 2026-11-26 geändert",
    "welche Dateien sind seit gestern neu": "dass eine Datei neu ist, sehe ich nicht",
    "welche Dateien wurden letzte Woche geändert": "1 Datei letzte Woche geändert",
    "welche Dateien haben sich in den letzten drei Tagen geändert": "3 Dateien seit 2026-11-24",
}
IN_ENGLISH = {
    "what changed in this folder since yesterday": "2 files changed since 2026-11-26",
    "which files changed this week": "3 files changed this week",
    "which files did I change since Wednesday": "2 files changed since 2026-11-25",
    "which files changed in the last 10 days": "4 files changed since 2026-11-17",
    "what changed last week": "1 file changed last week",
    "new files today": "that it is new I cannot see",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, (text, days) in FOLDER.items():
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        then = (NOW - timedelta(days=days)).timestamp()
        os.utime(path, (then, then))
    return tmp_path / "home"


async def answer(text: str, place: Path, language: str) -> str:
    """What is answered at once; no card was shown."""
    channel = ScriptedChannel()
    settings = {"language": language, "scheduler": {"timezone": "UTC"}}
    async with Harness(channel, clock=MockClock(NOW), settings=settings) as h:
        reply = await soon(h.silas.ask(text, workspace=place))
    assert (reply.plan, channel.cards, reply.outcome) == (None, [], "answered"), reply.text
    return reply.text


@pytest.mark.parametrize("text", ANSWERED)
async def test_an_everyday_question_in_german_is_answered(text: str, place: Path) -> None:
    assert ANSWERED[text] in await answer(text, place, "de")


@pytest.mark.parametrize("text", IN_ENGLISH)
async def test_what_changed_in_a_time_is_answered(text: str, place: Path) -> None:
    assert IN_ENGLISH[text] in await answer(text, place, "en")


async def test_what_could_not_be_searched_is_told_in_german(place: Path) -> None:
    (place / "gross.txt").write_text("x" * 3_000_000)
    said = await answer("suche das Wort Steuer", place, "de")
    assert "1 Datei war nicht zu lesen: zu groß oder keine gewöhnliche Datei" in said


@pytest.mark.parametrize("text", ["finde Duplikate", "finde doppelte Dateien"])
async def test_duplicates_are_looked_for_by_what_files_hold(text: str, place: Path) -> None:
    channel = ScriptedChannel()
    async with Harness(channel, clock=MockClock(NOW), settings={"language": "de"}) as h:
        await soon(h.silas.ask(text, workspace=place))
    assert [card.intent for card in channel.cards] == ["Dateien mit gleichem Inhalt finden"]


@pytest.mark.parametrize(
    "text",
    [
        "make a backup of my notizen",
        "make a backup of the folder notizen",
        "mach eine Sicherung von meinem Ordner notizen",
        "sichere meinen Ordner notizen",
        "packe notizen in eine zip Datei",
    ],
)
async def test_one_folder_is_backed_up_into_a_zip_file(text: str, place: Path) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel) as h:
        reply = await soon(h.silas.ask(text, workspace=place))
        assert reply.plan is not None, reply.text
        await soon(h.silas.wait(reply.plan.id))
    names = ZipFile(place / "notizen.zip").namelist()
    assert sorted(names) == ["notizen/garten.txt", "notizen/steuer.txt"]


async def test_all_that_is_here_is_no_folder_of_that_name(place: Path) -> None:
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        for text in ("mach ein Backup von allem", "sichere meinen Ordner"):
            await soon(h.silas.ask(text, workspace=place))
    assert "Put a folder into a zip file" not in [card.intent for card in channel.cards]
