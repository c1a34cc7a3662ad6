"""Without a language model: what was spent in a month or for something, added up of a table."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from silas.stream.models import Reply
from silas.testing import Harness, MockClock, ScriptedChannel
from tests.stream.kit import soon

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
EXPENSES = """Date,Category,Amount,Note
2026-02-27,food,12.50,lunch
2026-03-02,rent,800.00,
2026-03-10,food,45.20,market
2026-11-03,food,30.00,pizza
"""
ANSWERED = {
    "how much did I spend in March": ("Date = 2026-03: 845.20 (2 of 4 rows)",),
    "How much did I spend in March 2026?": ("Date = 2026-03: 845.20",),
    "how much did I spend in May": ("Date = 05: 0 (0 of 4 rows)",),
    "how much did I spend on food": ("Category = food: 87.70 (3 of 4 rows)",),
    "how much did I spend on food in March": ("Category = food, Date = 2026-03: 45.20",),
    "how much have I spent this month": ("Date = 2026-11: 30.00 (1 of 4 rows)",),
    "what did I spend in March in expenses.csv": ("Date = 2026-03: 845.20",),
    "sum of amount in expenses.csv for March": ("total Amount", "845.20"),
    "wie viel habe ich im März ausgegeben": ("Date = 2026-03: 845.20",),
    "wie viel habe ich für food ausgegeben": ("Category = food: 87.70",),
}


async def asked(text: str, place: Path, **tables: str) -> Reply:
    """The answer; no card was shown."""
    for name, held in tables.items():
        (place / f"{name}.csv").write_text(held)
    channel = ScriptedChannel()
    async with Harness(channel, clock=MockClock(NOW)) as h:
        reply = await soon(h.silas.ask(text, workspace=place))
    assert (reply.plan, channel.cards) == (None, [])
    return reply


@pytest.mark.parametrize("text", ANSWERED)
async def test_what_was_spent_is_added_up_of_the_one_table_that_tells(
    text: str, tmp_path: Path
) -> None:
    reply = await asked(text, tmp_path, expenses=EXPENSES, people="name,age\nAnna,41\n")
    assert reply.outcome == "answered"
    assert [one for one in ANSWERED[text] if one not in reply.text] == [], reply.text
    assert reply.text.startswith("expenses.csv")


async def test_each_year_with_that_month_is_told_by_itself(tmp_path: Path) -> None:
    more = f"{EXPENSES}2025-03-04,food,7.00,\n"
    reply = await asked("how much did I spend in March", tmp_path, expenses=more)
    assert [line.partition("where ")[2] for line in reply.text.split("\n")] == [
        "Date = 2025-03: 7.00 (1 of 5 rows).",
        "Date = 2026-03: 845.20 (2 of 5 rows).",
    ]


async def test_of_several_tables_none_is_guessed(tmp_path: Path) -> None:
    reply = await asked("how much did I spend in March", tmp_path, one=EXPENSES, two=EXPENSES)
    assert reply.outcome == "failed"
    assert "Several tables fit: one.csv, two.csv" in reply.text


@pytest.mark.parametrize(
    "table",
    [
        "Date,In,Out\n2026-03-02,1,2\n",  # which of two columns is meant nobody says
        "Date,Amount\n03/02/2026,5\n",  # 3 February or 2 March
        "Date,Amount\nsoon,5\n",
    ],
)
async def test_what_can_be_read_in_two_ways_is_not_added_up(table: str, tmp_path: Path) -> None:
    reply = await asked("how much did I spend in March", tmp_path, money=table)
    assert reply.outcome == "failed"
    assert "No table here tells that" in reply.text


async def test_an_amount_that_is_no_number_is_told_to_be_left_out(tmp_path: Path) -> None:
    table = f"{EXPENSES}2026-03-12,food,about 9,\n"
    reply = await asked("how much did I spend in March", tmp_path, expenses=table)
    assert "845.20 (2 of 5 rows)" in reply.text
    assert "(Left out, as no plain rows: line 6)" in reply.text
