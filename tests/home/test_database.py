import ast
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import silas
from silas.config import SilasConfig
from silas.errors import ConfigError
from silas.home.database import MIGRATED, database_path, open_database, open_existing_database
from silas.testing import MockClock

SOURCE = Path(str(silas.__file__)).parent
OPENS = "silas/home/database.py"


def _config(tmp_path: Path) -> SilasConfig:
    return SilasConfig(data_dir=tmp_path / "data")


def _domains(config: SilasConfig) -> set[str]:
    with closing(sqlite3.connect(database_path(config))) as driver:
        return {row[0] for row in driver.execute("SELECT domain FROM schema_migrations")}


def test_an_opened_database_has_the_tables_of_every_domain(tmp_path: Path) -> None:
    config = _config(tmp_path)
    with open_database(config, MockClock()):
        assert _domains(config) == {package.rpartition(".")[2] for package in MIGRATED}
    with open_database(config, MockClock()):  # safe to repeat
        pass


def test_only_the_named_domains_are_brought_up_to_date(tmp_path: Path) -> None:
    config = _config(tmp_path)
    with open_database(config, MockClock(), ("silas.audit",)):
        assert _domains(config) == {"audit"}


def test_a_database_is_closed_whatever_its_use_raised(tmp_path: Path) -> None:
    config, clock = _config(tmp_path), MockClock()
    log = database_path(config).with_name("silas.db-wal")  # SQLite's, gone with the last user
    seen: list[bool] = []

    def use() -> None:
        with open_database(config, clock):
            seen.append(log.exists())
            raise KeyError

    with pytest.raises(KeyError):
        use()
    assert (seen, log.exists()) == ([True], False)


def test_a_home_that_was_not_set_up_is_refused_and_not_made(tmp_path: Path) -> None:
    config = _config(tmp_path)
    with (
        pytest.raises(ConfigError, match="run `silas init`") as refused,
        open_existing_database(config, MockClock()),
    ):
        pass
    assert refused.value.code == "E_CFG_NOT_INITIALISED"
    assert not config.data_dir.exists()


def _opens_or_migrates(text: str) -> bool:
    if not re.search(r"\b(Database|migrate)\b", text):
        return False
    calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return any(
        (isinstance(call, ast.Name) and call.id == "Database")
        or (isinstance(call, ast.Attribute) and call.attr in ("Database", "migrate"))
        for call in calls
    )


def test_one_place_of_the_product_opens_and_migrates_the_database() -> None:
    found = {
        f"silas/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*.py")
        if _opens_or_migrates(path.read_text(encoding="utf-8"))
    }
    assert found == {OPENS}
