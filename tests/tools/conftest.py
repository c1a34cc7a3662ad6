from collections.abc import Iterator
from pathlib import Path

import pytest

from silas.db import Database
from silas.testing import MockClock
from tests.tools.door import Door


@pytest.fixture
def clock() -> MockClock:
    return MockClock()


@pytest.fixture
def db(tmp_path: Path, clock: MockClock) -> Iterator[Database]:
    database = Database(tmp_path / "silas.db", clock)
    database.migrate("silas.tools")
    yield database
    database.close()


@pytest.fixture
def door(db: Database, clock: MockClock) -> Door:
    return Door(db, clock)
