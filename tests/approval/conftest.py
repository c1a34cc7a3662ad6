from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from silas.approval import ApprovalConfig, NonceConfig, NonceStore
from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import SqlNonceStore
from silas.audit import AuditLog
from silas.db import Database
from silas.home.database import migrate
from silas.keys import Ed25519Signer, KeyRing
from silas.testing import MockClock, NeverStopped
from silas.testing.approval import MemoryNonceStore, a_signer


@pytest.fixture
def clock() -> MockClock:
    return MockClock()


@pytest.fixture
def signer() -> Ed25519Signer:
    return a_signer()


@pytest.fixture
def database(tmp_path: Path, clock: MockClock) -> Iterator[Database]:
    db = Database(tmp_path / "silas.db", clock)
    migrate(db, ("silas.audit", "silas.approval"))
    yield db
    db.close()


@pytest.fixture
def audit(database: Database, clock: MockClock, signer: Ed25519Signer) -> AuditLog:
    return AuditLog(database, clock, signer)


@pytest.fixture(params=["database", "memory"])
def nonces(request: pytest.FixtureRequest, database: Database, clock: MockClock) -> NonceStore:
    if request.param == "database":
        return SqlNonceStore(database, clock, NonceConfig())
    return MemoryNonceStore(clock, NonceConfig())


@pytest.fixture
def engine(
    signer: Ed25519Signer, nonces: NonceStore, audit: AuditLog, clock: MockClock
) -> ApprovalEngine:
    return ApprovalEngine(
        signer,
        nonces,
        audit,
        clock,
        ApprovalConfig(),
        NeverStopped(),
        KeyRing.alone(signer.public_key),
        ZoneInfo("Europe/Vienna"),
    )
