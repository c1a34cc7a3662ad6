"""What the suite makes once is what an owner gets, and what it makes cheap is no owner's."""

from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

from nacl.pwhash import argon2id

from silas.db import Database
from silas.home import database as homes
from silas.keys import sealed
from silas.testing import MockClock
from tests.support.made_once import as_ever

NOON = datetime(2027, 3, 4, 12, tzinfo=UTC)


def _content(path: Path) -> tuple[list[str], list[Any]]:
    """Each statement that would make the database again, and when its tables were made."""
    with closing(Database(path, MockClock())) as db, db.read() as tx:
        lines = sorted(line for line in tx.driver.iterdump() if "schema_migrations" not in line)
        made = tx.driver.execute(
            "SELECT domain, number, name, checksum, applied_at FROM schema_migrations ORDER BY 1, 2"
        ).fetchall()
        assert tx.driver.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert tx.driver.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return lines, made


def test_a_copied_home_is_the_one_that_an_owner_gets(tmp_path: Path) -> None:
    for name, make in (("owner", as_ever), ("test", homes.migrate), ("later", homes.migrate)):
        with closing(Database(tmp_path / name / "silas.db", MockClock(NOON))) as db:
            make(db)
    owner = _content(tmp_path / "owner/silas.db")
    assert {row[-1] for row in owner[1]} == {NOON.isoformat()}
    assert len(owner[0]) > len(owner[1]) > len(homes.MIGRATED)
    assert _content(tmp_path / "test/silas.db") == owner
    assert _content(tmp_path / "later/silas.db") == owner


def test_what_a_database_has_is_never_copied_over(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "silas.db", MockClock())) as db:
        with db.write() as tx:
            tx.driver.execute("CREATE TABLE kept (word TEXT)")
            tx.driver.execute("INSERT INTO kept VALUES ('here')")
        homes.migrate(db)
        with db.read() as tx:
            assert tx.driver.execute("SELECT word FROM kept").fetchall() == [("here",)]
            assert tx.driver.execute("SELECT count(*) FROM audit_log").fetchone() == (0,)


def test_an_owners_key_file_costs_as_much_as_ever() -> None:
    spec = find_spec(sealed.__name__)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(owners := module_from_spec(spec))
    assert (owners._OPERATIONS, owners._MEMORY) == (
        argon2id.OPSLIMIT_INTERACTIVE,
        argon2id.MEMLIMIT_INTERACTIVE,
    )
