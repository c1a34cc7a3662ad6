"""What a command cannot put on record it does not delete (decision B5)."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.cli.test_memory import PAGE, a_home, recorded, remember, say

SOURCE = "tool:web_fetch https://example.org/a"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    return a_home(tmp_path / "home", monkeypatch)


@contextmanager
def no_entry(home: dict[str, str]) -> Generator[None]:
    """Nothing can be appended to the record."""
    path = Path(home["SILAS_HOME"]) / "data" / "silas.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        db.commit()
        yield
        db.execute("DROP TRIGGER broken")
        db.commit()


def test_a_source_is_not_forgotten_where_that_cannot_be_recorded(home: dict[str, str]) -> None:
    remember(home, PAGE)
    with no_entry(home):
        refused = say("memory", "forget", SOURCE, "--yes")
        one = say("memory", "forget", "--id", "page", "--yes")
    assert (refused.exit_code, one.exit_code) == (2, 2), refused.output + one.output
    assert "museum" in say("memory", "list").output
    assert say("memory", "forget", SOURCE, "--yes").exit_code == 0
    assert "museum" not in say("memory", "list").output
    assert f"Forgotten: 1 memory, {SOURCE}" in recorded()


def test_a_secret_is_not_removed_where_that_cannot_be_recorded(home: dict[str, str]) -> None:
    assert say("secrets", "add", "TOKEN", stdin="a-value-nobody-sees\n").exit_code == 0
    with no_entry(home):
        assert say("secrets", "remove", "TOKEN").exit_code == 2
        assert say("secrets", "add", "OTHER", stdin="a-value-nobody-sees\n").exit_code == 2
    listed = say("secrets", "list").output
    assert "TOKEN" in listed
    assert "OTHER" not in listed
    assert say("secrets", "remove", "TOKEN").exit_code == 0
