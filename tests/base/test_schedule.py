"""When a cron expression is due next, and which zone this machine is in."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from silas.schedule import SchedulerConfig, machine_zone, next_due

VIENNA = ZoneInfo("Europe/Vienna")


def times(expression: str, start: datetime, count: int) -> list[str]:
    """The next moments of an expression, on the wall in Vienna."""
    found: list[str] = []
    for _ in range(count):
        start = next_due(expression, VIENNA, start)
        found.append(f"{start.astimezone(VIENNA):%d.%m. %H:%M %z}")
    return found


@pytest.mark.parametrize(
    ("expression", "after", "due"),
    [
        ("*/15 * * * *", (2026, 1, 1, 5, 44), (2026, 1, 1, 5, 45)),
        ("*/15 * * * *", (2026, 1, 1, 5, 45), (2026, 1, 1, 6, 0)),
        ("0 7 * * 1-5", (2026, 1, 2, 7, 0), (2026, 1, 5, 7, 0)),
        ("0 0 * * 0", (2026, 1, 1, 0, 0), (2026, 1, 4, 0, 0)),
        ("0 0 * * 7", (2026, 1, 1, 0, 0), (2026, 1, 4, 0, 0)),
        ("0 0 13 * 5", (2026, 1, 9, 0, 0), (2026, 1, 13, 0, 0)),  # either day, as in every cron
        ("0 0 13 * 5", (2026, 1, 13, 0, 0), (2026, 1, 16, 0, 0)),
        ("59 23 31 12 *", (2026, 1, 1, 0, 0), (2026, 12, 31, 23, 59)),
        ("0 9 29 2 *", (2026, 1, 1, 0, 0), (2028, 2, 29, 9, 0)),
    ],
)
def test_the_next_moment_of_an_expression_is_found(
    expression: str, after: tuple[int, ...], due: tuple[int, ...]
) -> None:
    def at(numbers: tuple[int, ...]) -> datetime:
        year, month, day, hour, minute = numbers
        return datetime(year, month, day, hour, minute, tzinfo=UTC)

    assert next_due(expression, ZoneInfo("UTC"), at(after)) == at(due)


def test_a_time_that_daylight_saving_skips_comes_after_the_gap_and_one_that_it_repeats_once() -> (
    None
):
    spring = datetime(2026, 3, 27, 12, tzinfo=UTC)
    assert times("30 2 * * *", spring, 3) == [
        "28.03. 02:30 +0100", "29.03. 03:00 +0200", "30.03. 02:30 +0200"
    ]  # fmt: skip
    autumn = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert times("30 2 * * *", autumn, 2) == ["25.10. 02:30 +0200", "26.10. 02:30 +0100"]
    assert times("0 * * * *", datetime(2026, 10, 24, 23, 30, tzinfo=UTC), 3) == [
        "25.10. 02:00 +0200", "25.10. 02:00 +0100", "25.10. 03:00 +0100"
    ]  # fmt: skip


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
