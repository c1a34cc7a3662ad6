"""When a cron expression is due."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from silas.schedule import SchedulerConfig, is_due, machine_zone

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


@pytest.mark.parametrize(
    ("variable", "link", "written", "zone"),
    [
        ("", "/usr/share/zoneinfo/Europe/Vienna", "", "Europe/Vienna"),
        ("", "/var/db/timezone/zoneinfo/America/Lima", "", "America/Lima"),
        ("", "/usr/share/zoneinfo/posix/Asia/Tokyo", "", "Asia/Tokyo"),
        ("", "/usr/share/zoneinfo/Etc/UTC", "Europe/Vienna\n", "Etc/UTC"),
        ("", "", "Europe/Rome\n", "Europe/Rome"),
        ("Asia/Kolkata", "/usr/share/zoneinfo/Europe/Vienna", "", "Asia/Kolkata"),
        (":Asia/Kolkata", "", "", "Asia/Kolkata"),
        ("CET-1CEST", "/usr/share/zoneinfo/Europe/Vienna", "", "Europe/Vienna"),
        ("../../etc/passwd", "", "../../etc/passwd", "UTC"),
        ("", "", "", "UTC"),
    ],
)
def test_the_zone_of_this_machine_is_the_one_that_it_is_set_to(
    variable: str, link: str, written: str, zone: str, tmp_path: Path
) -> None:
    if link:
        (tmp_path / "localtime").symlink_to(link)
    if written:
        (tmp_path / "timezone").write_text(written)
    environ = {"TZ": variable} if variable else {}
    assert machine_zone(environ, tmp_path).key == zone


def test_a_name_that_the_owner_sets_is_taken_and_any_other_word_refused() -> None:
    assert SchedulerConfig(timezone="Asia/Tokyo").zone.key == "Asia/Tokyo"
    assert SchedulerConfig().timezone == "local"
    with pytest.raises(ValidationError, match="this machine"):
        SchedulerConfig(timezone="Local")
