"""The audit log through its port: what is written, what is refused, what is undone."""

import io
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silas.audit import Audit, AuditHead, AuditLog
from silas.audit.models import GENESIS
from silas.canonical import canonical_json
from silas.db import Database
from silas.errors import DatabaseError
from silas.keys import Ed25519Signer
from silas.testing import MemoryAudit, MockClock
from silas.testing.approval import a_signer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.fixture(params=["database", "memory"])
def any_audit(request: pytest.FixtureRequest, audit: AuditLog) -> Audit:
    return audit if request.param == "database" else MemoryAudit()


async def test_every_entry_gets_an_id_of_its_own(any_audit: Audit) -> None:
    ids = [await any_audit.log("stream_started", channel="cli"), any_audit.log_now("x")]
    assert len(set(ids)) == 2
    assert await any_audit.verify_chain() == (True, 2, "")


@pytest.mark.parametrize("bad", [b"bytes", object(), float("nan"), {1, 2}, {"deep": float("inf")}])
async def test_data_that_is_not_json_is_refused(any_audit: Audit, bad: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        await any_audit.log("x", value=bad)
    assert await any_audit.verify_chain() == (True, 0, "")


async def test_an_empty_log_holds(audit: AuditLog) -> None:
    assert await audit.verify_chain() == (True, 0, "")
    assert await audit.head() == AuditHead(0, GENESIS)
    assert await audit.entries() == []


async def test_entries_come_oldest_first_and_name_the_hash_before(audit: AuditLog) -> None:
    ids = [await audit.log("work_item_attempt", attempt=n) for n in range(5)]
    first, second = await audit.entries(limit=2)
    rest = await audit.entries(after=2)
    assert [e.entry_id for e in (first, second, *rest)] == ids
    assert (first.previous_hash, second.previous_hash) == (GENESIS, first.entry_hash)
    assert str(await audit.head()) == f"5:{rest[-1].entry_hash}"


@pytest.mark.proves("A24-STORED-BYTES", "B5-HASH-CHAIN")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=st.text(), data=JSON)
async def test_the_stored_bytes_are_the_canonical_ones(
    audit: AuditLog, event: str, data: Any
) -> None:
    before = await audit.head()
    entry_id = audit.log_now(event, data=data)
    (entry,) = await audit.entries(after=before.seq)
    at = json.loads(entry.body)["at"]
    said = {"seq": entry.seq, "id": entry_id, "at": at, "event": event, "data": {"data": data}}
    assert entry.body == canonical_json(said)
    assert entry.entry_hash == sha256(f"{before.entry_hash}\n{entry.body}".encode()).hexdigest()


async def test_an_entry_joins_the_open_transaction_and_goes_with_it(
    database: Database, audit: AuditLog
) -> None:
    def effect() -> None:
        with database.write():
            audit.log_now("gone", n=1)
            audit.log_now("gone", n=2)
            raise RuntimeError("the effect failed")

    await audit.log("kept")
    with pytest.raises(RuntimeError):
        effect()
    await audit.log("kept")
    assert await audit.verify_chain() == (True, 2, "")


def fill_the_disk(database: Database) -> None:
    with database.write() as tx:
        pages = tx.driver.execute("PRAGMA page_count").fetchone()[0]
        tx.driver.execute(f"PRAGMA max_page_count={pages}")


def refuse_entries(database: Database) -> None:
    with database.write() as tx:
        tx.driver.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END"
        )


@pytest.mark.proves("B5-NO-ENTRY-NO-EFFECT")
@pytest.mark.parametrize("calamity", [fill_the_disk, refuse_entries])
async def test_an_effect_whose_entry_cannot_be_written_does_not_happen(
    database: Database, audit: AuditLog, calamity: Callable[[Database], None]
) -> None:
    def effect() -> None:
        with database.write() as tx:
            tx.driver.execute("INSERT INTO effects VALUES (1)")
            audit.log_now("effect", padding="x" * 100_000)

    with database.write() as tx:
        tx.driver.execute("CREATE TABLE effects (n INTEGER)")
    calamity(database)
    with pytest.raises(DatabaseError) as raised:
        effect()
    assert raised.value.code.startswith("E_DB_")
    with database.read() as tx:
        assert tx.driver.execute("SELECT count(*) FROM effects").fetchone() == (0,)
    assert await audit.verify_chain() == (True, 0, "")


@pytest.mark.proves("S15-NEVER-AUDIT")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET body = '{}' WHERE seq = 2",
        "DELETE FROM audit_log WHERE seq = 3",
        "INSERT OR REPLACE INTO audit_log SELECT * FROM audit_log WHERE seq = 1",
        "INSERT INTO audit_log SELECT seq + 7, body, entry_hash FROM audit_log WHERE seq = 1",
        "INSERT INTO audit_log SELECT * FROM audit_log WHERE seq = 1 "
        "ON CONFLICT (seq) DO UPDATE SET body = '{}'",
        "UPDATE audit_checkpoints SET body = '{}'",
        "DELETE FROM audit_checkpoints",
        "INSERT OR REPLACE INTO audit_checkpoints SELECT * FROM audit_checkpoints",
    ],
)
async def test_the_tables_refuse_to_change_what_is_written(
    database: Database, audit: AuditLog, statement: str
) -> None:
    for _ in range(3):
        await audit.log("x")
    await audit.write_checkpoint()
    with pytest.raises(DatabaseError), database.write() as tx:
        tx.driver.execute(statement)
    assert await audit.verify_chain() == (True, 3, "")


@pytest.mark.proves("S4.16-VERIFY-FROM-CHECKPOINT")
async def test_a_checkpoint_makes_verification_incremental(audit: AuditLog) -> None:
    for _ in range(4):
        await audit.log("x")
    first = await audit.write_checkpoint()
    for _ in range(3):
        await audit.log("y")
    assert await audit.verify_from_checkpoint() == (True, 3, "")
    second = await audit.write_checkpoint()
    assert first != second
    assert await audit.verify_from_checkpoint() == (True, 0, "")
    assert await audit.verify_from_checkpoint(first) == (True, 3, "")
    assert await audit.verify_chain() == (True, 7, "")


async def test_the_same_head_is_signed_once(audit: AuditLog, clock: MockClock) -> None:
    await audit.log("x")
    first = await audit.write_checkpoint()
    clock.advance(3600)
    assert await audit.write_checkpoint() == first


async def test_without_a_checkpoint_everything_is_verified(audit: AuditLog) -> None:
    await audit.log("x")
    assert await audit.verify_from_checkpoint() == (True, 1, "")


async def test_an_unknown_checkpoint_verifies_nothing(audit: AuditLog) -> None:
    assert await audit.verify_from_checkpoint("checkpoint-0") == (
        False,
        0,
        "There is no checkpoint checkpoint-0.",
    )


@pytest.mark.proves("B5-SIGNED-CHECKPOINTS")
async def test_a_checkpoint_of_another_key_does_not_count(
    database: Database, clock: MockClock, audit: AuditLog
) -> None:
    await audit.log("x")
    await AuditLog(database, clock, a_signer("somebody else")).write_checkpoint()
    verdict = await audit.verify_chain()
    assert not verdict.valid
    assert "was not signed by this owner's key" in verdict.reason
    assert not (await audit.verify_from_checkpoint()).valid
    with pytest.raises(DatabaseError, match="not signed"):
        await audit.write_checkpoint()


@pytest.mark.proves("S4.16-CHECKPOINT")
async def test_export_goes_to_a_stream_or_to_a_private_file(
    tmp_path: Path, audit: AuditLog, signer: Ed25519Signer
) -> None:
    await audit.log("stream_started", channel="cli")
    path, stream = tmp_path / "audit.jsonl", io.StringIO()
    head = await audit.export(path)
    assert head == await audit.export(stream) == await audit.head()
    assert path.read_text() == stream.getvalue()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.glob(".audit*")] == []
    header, entry, checkpoint = map(json.loads, stream.getvalue().splitlines())
    assert header == {"public_key": signer.public_key, "silas_audit": 1}
    assert entry["entry"]["event"] == "stream_started"
    assert checkpoint["checkpoint"]["entry_hash"] == head.entry_hash


async def test_a_failed_export_leaves_the_older_file(tmp_path: Path, audit: AuditLog) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError):
        await audit.export(target)
    assert list(tmp_path.glob(".folder*")) == []
