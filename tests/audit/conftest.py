from collections.abc import Iterator
from pathlib import Path

import pytest

from silas.audit import AuditLog
from silas.db import Database
from silas.keys import Ed25519Signer
from silas.testing import MockClock
from silas.testing.approval import a_signer


@pytest.fixture
def clock() -> MockClock:
    return MockClock()


@pytest.fixture
def signer() -> Ed25519Signer:
    return a_signer()


@pytest.fixture
def database(tmp_path: Path, clock: MockClock) -> Iterator[Database]:
    db = Database(tmp_path / "silas.db", clock)
    db.migrate("silas.audit")
    yield db
    db.close()


@pytest.fixture
def audit(database: Database, clock: MockClock, signer: Ed25519Signer) -> AuditLog:
    return AuditLog(database, clock, signer)
