"""Which time a question names (spec 6.3: a window relative to the question)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.memory import NoVectors
from silas.memory.retrieve import HybridRetriever
from silas.memory.time_window import window
from silas.testing import MockClock
from tests.memory.memories import NOW, a_memory, a_store

FRIDAY = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What happened on 2023-05-08?", "2023-05-08", "2023-05-09"),
        ("on 8 May 2023", "2023-05-08", "2023-05-09"),
        ("on the 8th of May, 2023", "2023-05-08", "2023-05-09"),
        ("May 8th, 2023", "2023-05-08", "2023-05-09"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("in Sept. 2023?", "2023-09-01", "2023-10-01"),
        ("in december 2023", "2023-12-01", "2024-01-01"),
        ("What did I do in March?", "2025-03-01", "2025-04-01"),
        ("what was on January 1", "2026-01-01", "2026-01-02"),
        ("and on 3 January?", "2025-01-03", "2025-01-04"),
        ("in 2024", "2024-01-01", "2025-01-01"),
        ("what about today", "2026-01-02", "2026-01-03"),
        ("Yesterday?", "2026-01-01", "2026-01-02"),
        ("for tomorrow", "2026-01-03", "2026-01-04"),
        ("three days ago", "2025-12-30", "2025-12-31"),
        ("a week ago", "2025-12-22", "2025-12-29"),
        ("2 months ago", "2025-11-01", "2025-12-01"),
        ("one year ago", "2025-01-01", "2026-01-01"),
        ("last week", "2025-12-22", "2025-12-29"),
        ("this month", "2026-01-01", "2026-02-01"),
        ("last month", "2025-12-01", "2026-01-01"),
        ("next year", "2027-01-01", "2028-01-01"),
        ("on Monday", "2025-12-29", "2025-12-30"),
        ("last Friday", "2025-12-26", "2025-12-27"),
        ("AN YEAR AGO", "2025-01-01", "2026-01-01"),
        ("ten DAYS ago", "2025-12-23", "2025-12-24"),
        ("THIS DAY", "2026-01-02", "2026-01-03"),
        ("TONIGHT", "2026-01-02", "2026-01-03"),
        ("since 1999, or before", "1999-01-01", "2000-01-01"),
        ("the 3rd of DECEMBER", "2025-12-03", "2025-12-04"),
    ],
)
def test_a_named_time_is_a_window_seen_from_now(text: str, since: str, until: str):
    found = window(text, FRIDAY)
    assert found is not None
    assert (found.since, found.until) == tuple(
        datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (since, until)
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "Who may march?", "the 2024 others", "12345-01-01"),
        *("on the day", "for 12345", "a month of it", "long ago", "in 02024"),
        *("in 0000-00-00", "999 years ago in the year 9999999", "day", "x" * 100_000),
    ],
    ids=lambda text: text[:20],
)
def test_what_names_no_time_has_no_window(text: str):
    assert window(text, FRIDAY.replace(year=900)) is None


@given(st.text(), st.datetimes(timezones=st.just(UTC)))
def test_any_text_at_any_time_has_a_window_or_none(text: str, now: datetime):
    for asked in (text, f"{text} ago", f"next year {text}", f"999 years ago {text}"):
        found = window(asked, now)
        assert found is None or found.since < found.until


async def test_a_question_about_a_time_finds_what_was_then(tmp_path: Path):
    class Asked:
        strategy, query, max_results, max_tokens = "temporal", "the market yesterday", 2, 2_000

    yesterday = NOW - timedelta(days=1)
    with a_store(tmp_path) as store:
        retriever = HybridRetriever(store, NoVectors(), len, MockClock())
        for name, text, made in (
            ("then", "Bought cherries at the market", yesterday),
            ("also", "It rained", yesterday + timedelta(minutes=5)),
            ("before", "The market was closed", NOW - timedelta(days=40)),
            ("now", "The market is loud", NOW),
        ):
            await store.store(a_memory(name, text, created_at=made))
        found = await retriever.recall("What was at the market yesterday?", "owner", 3)
        assert found[0].item.memory_id == "then"
        found = await retriever.recall("What did I do yesterday?", "owner", 5)
        assert {each.item.memory_id for each in found} == {"then", "also"}
        items = await retriever.retrieve(Asked())
        assert [item.memory_id for item in items] == ["then", "also"]
