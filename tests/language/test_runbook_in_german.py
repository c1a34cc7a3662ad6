"""Without a language model Silas answers a German owner in German, and its plans are named so."""

import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from silas.agents.runbook import calculator, folder_questions
from silas.cards import PlanCard
from silas.plans import PlanLibrary, PlanParser, shipped_plans
from silas.testing import Harness, ScriptedChannel

LIBRARY = PlanLibrary([shipped_plans()])
PLANS = LIBRARY.plans()
VIENNA = ZoneInfo("Europe/Vienna")
NOW = datetime(2026, 11, 26, 9, 30, tzinfo=VIENNA)
_ENGLISH = re.compile(
    r"\b(the|of|is|are|with|without|your|its|that|this|nothing|when|what|for|to|files?|days?|from)\b"
)


@pytest.mark.parametrize("name", [plan.name for plan in PLANS])
def test_every_shipped_runbook_has_a_german_title_and_what_it_says_is_understood(name: str) -> None:
    plan = LIBRARY.plan_named(name)
    assert plan is not None
    assert plan.in_german is not None
    assert not _ENGLISH.search(plan.in_german.title.lower()), plan.in_german.title
    if said := plan.in_german.say:
        look = folder_questions.wanted_look(said, LIBRARY)
        assert LIBRARY.find(said) == plan or look is not None, said


@pytest.mark.usefixtures("german")
def test_a_plan_of_a_runbook_bears_its_german_title() -> None:
    plan = LIBRARY.find("lösche notes.txt")
    assert plan is not None
    filled = LIBRARY.fill(plan, {"workspace": "/srv/x", "file": "notes.txt"}, "task-1")
    assert PlanParser().parse(filled).title == "Eine Datei löschen"


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("what day is it today", "Heute ist Donnerstag, 26. November 2026."),
        ("what time is it", "Es ist 09:30 Uhr, Donnerstag, 26. November 2026 (Europe/Vienna)."),
        ("wie viele tage bis weihnachten", "29 Tage von heute bis Freitag, 25. Dezember 2026."),
        ("weeks until 27 november 2026", "0 Wochen und 1 Tag (1 Tag) von heute bis Freitag, "
         "27. November 2026."),
        ("10 days before 3 may", "10 Tage vor 3. Mai 2027: Freitag, 23. April 2027."),
        ("is 2028 a leap year", "2028 ist ein Schaltjahr."),
        ("when is easter", "Sonntag, 28. März 2027, in 122 Tagen."),
        ("what day was 1 may 2026", "1. Mai 2026 war ein Freitag, vor 209 Tagen."),
        ("how old is someone born on 2 march 2000", "26 Jahre, gezählt von Donnerstag, "
         "2. März 2000 bis heute."),
        ("1 / 0", "Das kann ich nicht ausrechnen: Durch null lässt sich nichts teilen."),
    ],
)  # fmt: skip
def test_dates_and_sums_are_told_in_german(asked: str, answer: str) -> None:
    assert calculator.answer(asked, NOW, VIENNA) == answer


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    "asked",
    [
        "hallo", "danke", "wie geht es dir", "tschüss", "übersetze das", "stopp", "rückgängig",
        "list the files", "show the biggest files", "how many files are there",
        "how many txt files are there", "which files changed today", "find the file x.txt",
        "show the file nope.txt", "how many rows are in table.csv", "average amount in table.csv",
        "which name has the highest amount in table.csv", "which files mention unicorn",
        "how many words are in notes.txt", "remember that I like tea", "buche einen flug",
    ],
)  # fmt: skip
async def test_answers_have_no_english_word_of_their_own(asked: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Milch kaufen\n")
    (tmp_path / "table.csv").write_text("name,amount\na,3\nb,5\n")
    async with Harness(ScriptedChannel(), settings={"language": "de"}) as h:
        said = (await h.silas.ask(asked, workspace=tmp_path)).text
    found = [word[0] for word in _ENGLISH.finditer(said.replace("I like tea", ""))]
    assert found == [], said


@pytest.mark.usefixtures("german")
async def test_a_proposed_plan_and_its_card_are_german(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Milch kaufen\n")
    channel = ScriptedChannel(lambda card: card.safe)
    async with Harness(channel, settings={"language": "de"}) as h:
        await h.silas.ask("lösche notes.txt", workspace=tmp_path)
    (card,) = channel.cards
    assert isinstance(card, PlanCard)
    assert "Eine Datei löschen" in card.intent
    assert (tmp_path / "notes.txt").exists()
