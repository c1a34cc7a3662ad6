"""Which questions about the folder are understood, and which words only sound like one."""

import pytest

from silas.agents.runbook import folder_questions
from silas.agents.runbook.folder import LookRequest, look_request
from silas.plans import PlanLibrary, shipped_plans

SHIPPED = PlanLibrary([shipped_plans()])

UNDERSTOOD: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[str, ...]] = {
    ("list", ()): (
        "list all files",
        "What files are there?",
        "what's in this folder?",
        "show me my files, please",
        "ls",
        "zeig mir alle Dateien",
        "Welche Dateien gibt es hier?",
    ),
    ("count", (("kind", "*.pdf"),)): (
        "how many pdfs are there?",
        "How many PDF files do I have",
        "count the pdfs",
        "wie viele PDFs gibt es hier?",
    ),
    ("count", (("kind", "*"),)): (
        "how many files are there?",
        "count all files",
        "Wie viele Dateien sind hier?",
    ),
    ("find", (("kind", "*.py"),)): (
        "list the python files",
        "show me all *.py files",
        "are there any python files?",
        "which python files are there",
    ),
    ("ordered", (("order", "biggest"), ("kind", "*"))): (
        "what is the biggest file?",
        "which files are the largest?",
        "show me the largest files",
        "Was ist die größte Datei?",
    ),
    ("ordered", (("count", "3"), ("order", "newest"), ("kind", "*"))): (
        "what are the three newest files",
        "show me the 3 latest files",
        "list three newest files",
    ),
    ("changed", (("day", "today"),)): (
        "which files changed today?",
        "what has changed today",
        "what did I change today",
        "welche Dateien wurden heute geändert?",
    ),
    ("aged", (("kind", "*"), ("side", "before"), ("age", "60"))): (
        "list files older than two months",
        "which files are older than 60 days?",
        "zeige alle Dateien, die älter als zwei Monate sind",
    ),
    ("aged", (("kind", "*.pdf"), ("side", "after"), ("age", "7"))): (
        "show me all pdf files that are newer than a week",
        "welche PDFs sind neuer als eine Woche?",
        "list pdf files newer than 7 days",
    ),
    ("named", (("file", "tax.pdf"),)): (
        "where is tax.pdf?",
        "is there a file called tax.pdf",
        "wo liegt die Datei tax.pdf?",
    ),
    ("facts", (("file", "tax.pdf"),)): (
        "how big is tax.pdf?",
        "when was tax.pdf last changed?",
        "Wie groß ist die Datei tax.pdf",
    ),
    ("show", (("file", "notes.txt"),)): (
        "open notes.txt",
        "what's in notes.txt?",
        "can you read the file notes.txt",
        "zeig mir bitte notes.txt",
    ),
    ("show", (("well_known", "readme"),)): (
        "read the readme",
        "show me the README",
        "what does the readme say?",
    ),
    ("extract", (("file", "notes.txt"),)): (
        "summarise notes.txt",
        "what is notes.txt about?",
        "fass notes.txt zusammen",
    ),
    ("words", (("file", "notes.txt"),)): (
        "how many words are in notes.txt?",
        "count the lines in notes.txt",
        "how many lines does notes.txt have?",
    ),
    ("compare", (("one", "a.txt"), ("two", "b.txt"))): (
        "compare a.txt and b.txt",
        "what is the difference between a.txt and b.txt?",
        "vergleiche a.txt mit b.txt",
    ),
    ("holds", (("text", "Odile"),)): (
        "which file mentions Odile?",
        "grep Odile",
        "search the files for Odile",
        "wo steht Odile?",
    ),
    ("holds", (("todo", "TODO"),)): ("find TODO", "show me all TODOs", "list the todos"),
    ("status", ()): ("git status", "what changed in git?", "are there any uncommitted changes?"),
    ("diff", ()): ("git diff", "show me the diff", "show uncommitted changes"),
    ("log", (("count", "5"),)): (
        "show the last 5 commits",
        "list 5 commits",
        "show me the last five commits",
    ),
    ("project", ()): (
        "what kind of project is this?",
        "what's this project",
        "Was für ein Projekt ist das?",
    ),
    ("size", ()): (
        "how big is this folder?",
        "disk usage",
        "how much space does this folder use?",
    ),
}


def test_every_kind_is_asked_in_three_ways_or_more() -> None:
    assert {look: texts for look, texts in UNDERSTOOD.items() if len(set(texts)) < 3} == {}


@pytest.mark.parametrize(
    ("look", "text"), [(look, text) for look, texts in UNDERSTOOD.items() for text in texts]
)
def test_a_question_about_the_folder_is_understood(
    look: tuple[str, tuple[tuple[str, str], ...]], text: str
) -> None:
    found = folder_questions.wanted_look(text, SHIPPED)
    assert found is not None
    assert (found.kind, dict(found.given)) == (look[0], dict(look[1]))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "delete the pdfs",
        "delete notes.txt",
        "how many people live in Ghent?",
        "how many pdfs did Odile send me?",
        "show me the money",
        "find the bug",
        "find me a hotel",
        "list the reasons",
        "list all files and delete the pdfs",
        "show notes.txt and delete it",
        "what is the biggest city?",
        "what is the largest file on the internet",
        "what is new?",
        "which files changed the world",
        "what changed today in the news",
        "where is Bob?",
        "where is my passport?",
        "how big is the moon?",
        "open google.com",
        "open the door",
        "read the news",
        "compare Rust and Go",
        "git push",
        "git commit -m x",
        "show the last commit message of Bob in main",
        "what kind of cheese is this?",
        "is this a joke?",
        "rename notes.txt to plan.txt",
        "back up this folder",
        "don't show notes.txt",
        "list the files in /etc",
        "show the file notes.txt in /srv/x",
        "wie viele Menschen leben in Wien?",
        "zeig mir die Nachrichten",
    ],
)
def test_what_only_sounds_like_it_is_not(text: str) -> None:
    assert folder_questions.wanted_look(text, SHIPPED) is None


def test_a_place_that_is_named_is_not_this_folder() -> None:
    assert look_request("how many pdfs are there") == LookRequest("count", {"kind": "*.pdf"})
    assert look_request("how many pdfs are there in /srv/x") is None
