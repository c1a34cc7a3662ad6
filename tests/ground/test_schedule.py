"""When a cron expression is due."""

from datetime import UTC, datetime, timedelta

import pytest

from silas.schedule import is_due

NEW_YEAR = datetime(2026, 1, 1, 0, 0, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("expression", "moment", "due"),
    [
        ("* * * * *", datetime(2026, 11, 22, 11, 59, tzinfo=UTC), True),
        ("*/15 * * * *", datetime(2026, 1, 1, 5, 45, tzinfo=UTC), True),
        ("*/15 * * * *", datetime(2026, 1, 1, 5, 46, tzinfo=UTC), False),
        ("0 7 * * 1-5", datetime(2026, 1, 2, 7, 0, tzinfo=UTC), True),
        ("0 7 * * 1-5", datetime(2026, 1, 3, 7, 0, tzinfo=UTC), False),
        ("0 0 * * 0", datetime(2026, 1, 4, 0, 0, tzinfo=UTC), True),
        ("0 0 * * 7", datetime(2026, 1, 4, 0, 0, tzinfo=UTC), True),
        ("0 0 13 * 5", datetime(2026, 1, 13, 0, 0, tzinfo=UTC), True),
        ("0 0 13 * 5", datetime(2026, 1, 16, 0, 0, tzinfo=UTC), True),
        ("0 0 13 * 5", datetime(2026, 1, 14, 0, 0, tzinfo=UTC), False),
        ("0 0 13 * *", datetime(2026, 1, 16, 0, 0, tzinfo=UTC), False),
        ("59 23 31 12 *", datetime(2026, 12, 31, 23, 59, tzinfo=UTC), True),
        ("1,15 2 * * *", datetime(2026, 1, 1, 2, 15, tzinfo=UTC), True),
    ],
)
def test_an_expression_is_due_in_the_minutes_it_names(
    expression: str, moment: datetime, due: bool
) -> None:
    assert is_due(expression, moment) is due


@pytest.mark.parametrize(
    ("expression", "times"),
    [("*/15 * * * *", 96), ("0 6-22/2 * * *", 9), ("0,30 * * * *", 48), ("5 4 1 1 *", 1)],
)
def test_in_a_day_it_is_due_as_often_as_it_says(expression: str, times: int) -> None:
    minutes = (NEW_YEAR + timedelta(minutes=n) for n in range(24 * 60))
    assert sum(is_due(expression, minute) for minute in minutes) == times
