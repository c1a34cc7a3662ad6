"""Without a language model: questions about CSV files and the last change, answered at once."""

import os
from pathlib import Path

import pytest

from silas.agents.runbook import folder_questions
from silas.plans import PlanLibrary, shipped_plans
from silas.stream.models import Reply
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import soon

LIBRARY = PlanLibrary([shipped_plans()])
FOLDER = {
    "sales.csv": "name,amount,city\nAda,10.10,Ghent\nBo,20.20,Bruges\nCy,0.30,Ghent\n",
    "quoted.csv": '\ufeff"Full name",Amount,Note\n"Ruiz, Ana","1,234.50","two\nlines"\n'
    "Bo,-0.05,x\n",
    "umsatz.csv": "Name;Betrag;Stadt\nAda;1.234,50;Gent\nBo;0,25;Brügge\nCy;7;Gent\n",
    "gaps.csv": "name,amount\nAda,1\nBo,unknown\n\nCy,\nDee,2,3\n",
    "either.csv": 'name,amount\nAda,"1,234"\nBo,950\n',
    "mixed.csv": 'name;amount\nAda;"1,5"\nBo;2.5\n',
    "thirds.csv": "amount\n1\n0\n0\n",
    "heads.csv": "name,amount\n",
    "empty.csv": "",
    "twice.csv": "amount,amount\n1,2\n",
    "index.csv": ",amount\n0,5\n1,6\n",
    "deep/far.csv": "amount\n0.1\n0.2\n",
    "long.csv": "amount,word\n" + "0.01,aaaaaaaaaa\n" * 2_000,
    "huge.csv": "amount,word\n" + "0.01,aaaaaaaaaa\n" * 20_000,
    "notes.md": "# Notes\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "my folder"
    for number, (name, text) in enumerate(FOLDER.items()):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8", newline="")
        os.utime(place / name, (1_700_000_000 + number, 1_700_000_000 + number))
    return place


async def said(text: str, place: Path) -> tuple[Reply, ScriptedChannel]:
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        return await soon(h.silas.ask(text, workspace=place)), channel


ANSWERS = {
    "how many rows are in sales.csv?": ("3 rows below the heading (name, amount, city)",),
    "How many records does sales.csv have": ("3 rows below",),
    "wie viele Einträge sind in sales.csv?": ("3 rows below",),
    "how many rows are in heads.csv": ("0 rows below the heading (name, amount)",),
    "how many rows are in gaps.csv": ("3 rows", "1 row, line 6"),
    "which columns are in quoted.csv": ("3 columns: Full name, Amount, Note",),
    "what is the total amount in sales.csv": ("total amount: 30.60 (of 3 rows)",),
    "sum of amount in far.csv": ("deep/far.csv, total amount: 0.3 (of 2 rows)",),
    "was ist die Summe von Betrag in umsatz.csv": ("total Betrag: 1241.75 (of 3 rows)",),
    "total amount in quoted.csv": ("total Amount: 1234.45 (of 2 rows)",),
    "total amount in gaps.csv": (
        "total amount: 1 (of 1 row)",
        "left out: line 3 (unknown), line 5 (empty)",
        "Not counted, because they have not 2 cells as the heading has: 1 row, line 6",
    ),
    "total amount in index.csv": ("total amount: 11",),
    "total amount in long.csv": ("total amount: 20.00 (of 2,000 rows)",),
    "average amount in sales.csv": ("average amount: 10.2 (of 3 rows)",),
    "what is the average of the amount column in thirds.csv": ("about 0.333333",),
    "highest amount in sales.csv": ("20.20", "- line 3: name Bo, amount 20.20, city Bruges"),
    "who has the lowest amount in sales.csv?": ("0.30", "name Cy"),
    "lowest amount in quoted.csv": ("-0.05", "line 4: Full name Bo"),
    "highest amount in quoted.csv": ("Full name Ruiz, Ana, Amount 1,234.50, Note two lines",),
    "which city has the most rows in sales.csv": ("By number of rows (highest): Ghent, 2.",),
    "what is the most common city in sales.csv": ("rows (highest): Ghent, 2.",),
    "which city has the most sales in sales.csv?": (
        "By number of rows (highest): Ghent, 2.",
        "By total amount (highest): Bruges, 20.20.",
    ),
    "which city has the lowest average amount in sales.csv": (
        "By average amount (lowest): Ghent, 5.2.",
    ),
    "amount per city in sales.csv": ("total amount per city:\n- Ghent: 10.40\n- Bruges: 20.20",),
    "average amount per city in sales.csv": ("- Ghent: 5.2\n- Bruges: 20.2",),
    "how many rows per city are in sales.csv": ("rows per city:\n- Ghent: 2\n- Bruges: 1",),
    "Betrag pro Stadt in umsatz.csv": ("- Gent: 1241.50\n- Brügge: 0.25",),
    "show me the last changed file": ("Changed last of 15 files (Europe/Vienna):\n- notes.md",),
    "which file did I change last?": ("Changed last of 15 files", "\n- notes.md"),
    "newest files": ("The newest of 15 files:\n- notes.md",),
    "what changed last": ("The newest of 15 files:\n- notes.md",),
}


@pytest.mark.parametrize("text", ANSWERS)
async def test_a_question_is_answered_at_once_without_a_plan_or_a_card(
    text: str, place: Path
) -> None:
    reply, channel = await said(text, place)
    assert (reply.outcome, reply.plan, channel.cards) == ("answered", None, [])
    assert [one for one in ANSWERS[text] if one not in reply.text] == [], reply.text


REFUSED = {
    "total city in sales.csv": "The column city of sales.csv has no numbers",
    "total price in sales.csv": "sales.csv has no column price; its columns are: name, amount, c",
    "amount per country in sales.csv": "sales.csv has no column country",
    "total amount in twice.csv": "twice.csv has several columns amount",
    "total amount in either.csv": "nothing tells which number '1,234' is",
    "total amount in mixed.csv": "nothing tells which number '1,5' is",
    "how many rows are in empty.csv": "empty.csv is empty",
    "how many rows are in nothere.csv": "There is no file nothere.csv in this folder.",
    "how many rows are in huge.csv": "no figure is told of a part of it",
}


@pytest.mark.parametrize("text", REFUSED)
async def test_what_cannot_be_told_is_said_and_never_guessed(text: str, place: Path) -> None:
    reply, channel = await said(text, place)
    assert REFUSED[text] in reply.text
    assert (reply.outcome, reply.plan, channel.cards) == ("failed", None, [])


async def test_a_sum_of_a_table_that_no_look_holds_is_planned(place: Path) -> None:
    reply, channel = await said("what is the total amount in huge.csv", place)
    assert reply.plan is not None
    assert len(channel.cards) == 1


@pytest.mark.parametrize(
    "text",
    [
        "how many rows are in notes.md",
        "total amount in the world",
        "which city has the most people?",
        "how many rows are in sales.csv and delete it",
        "total amount and then delete notes.md in sales.csv",
        "amount per city",
        "delete the highest amount in sales.csv",
    ],
)
def test_what_only_sounds_like_it_is_not(text: str) -> None:
    assert folder_questions.wanted_look(text, LIBRARY) is None


async def test_help_has_a_question_about_a_table_of_the_folder(place: Path) -> None:
    reply, _ = await said("help", place)
    assert '(say: "how many rows are in ' in reply.text
    assert '(say: "when does the lease end")' in reply.text
    assert '(say: "rename the photos to holiday 1, holiday 2")' in reply.text


UNNAMED = {
    "which city has the most sales?": ("sales.csv", "Ghent, 2.", "Bruges, 20.20."),
    "what is the total amount?": ("total amount: 30.60",),
    "who has the highest amount": ("name Bo",),
    "amount per city": ("- Ghent: 10.40",),
}


@pytest.mark.parametrize("text", UNNAMED)
async def test_a_question_without_a_name_is_about_the_one_table_that_fits(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "sales.csv").write_text(FOLDER["sales.csv"], encoding="utf-8")
    (tmp_path / "people.csv").write_text("person,age\nAda,36\n", encoding="utf-8")
    reply, channel = await said(text, tmp_path)
    assert (reply.outcome, reply.plan, channel.cards) == ("answered", None, [])
    assert [one for one in UNNAMED[text] if one not in reply.text] == [], reply.text


async def test_where_several_tables_fit_or_none_no_figure_is_told(tmp_path: Path) -> None:
    for name in ("sales.csv", "more.csv"):
        (tmp_path / name).write_text(FOLDER["sales.csv"], encoding="utf-8")
    for text in ("what is the total amount?", "what is the total price?"):
        reply, _ = await said(text, tmp_path)
        assert "30.60" not in reply.text
