"""Somebody may write the database file: what the chain and the checkpoints then show."""

import json
from hashlib import sha256

import pytest

from silas.audit import AuditLog
from silas.audit.models import GENESIS
from silas.db import Database
from silas.errors import DatabaseError


async def fill(audit: AuditLog, entries: int) -> None:
    for n in range(entries):
        await audit.log("work_item_attempt", work_item_id="task-1", attempt=n)


def attack(database: Database, *statements: str) -> None:
    with database.write() as tx:
        triggers = tx.driver.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            tx.driver.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            tx.driver.execute(statement)


def recompute(database: Database, edit: int) -> None:
    """Change one entry and every hash from there on, as whoever has no key can."""
    with database.read() as tx:
        rows = tx.driver.execute("SELECT seq, body FROM audit_log ORDER BY seq").fetchall()
    previous, statements = GENESIS, list[str]()
    for seq, body in rows:
        changed = body.replace("task-1", "task-2") if seq == edit else body
        previous = sha256(f"{previous}\n{changed}".encode()).hexdigest()
        statements.append(
            f"UPDATE audit_log SET body = '{changed}', entry_hash = '{previous}' WHERE seq = {seq}"
        )
    attack(database, *statements)


# A row's number is its place; 1500 crosses from one chunk of the walk into the next.
ATTACKS = {
    "edited": "UPDATE audit_log SET body = replace(body, 'task-1', 'task-2') WHERE seq = {n}",
    "hash edited": "UPDATE audit_log SET entry_hash = '{zeros}' WHERE seq = {n}",
    "deleted": "DELETE FROM audit_log WHERE seq = {n}",
    "emptied": "UPDATE audit_log SET body = '' WHERE seq = {n}",
    "separator smuggled in": (
        "UPDATE audit_log SET body = body || char(30) || body WHERE seq = {n}"
    ),
    "replaced by its neighbour": (
        "UPDATE audit_log SET (body, entry_hash) = "
        "(SELECT body, entry_hash FROM audit_log WHERE seq = {n} + 1) WHERE seq = {n}"
    ),
}


@pytest.mark.proves("B5-HASH-CHAIN", "S15-NEVER-AUDIT")
@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("place", [1, 2, 999, 1000, 1001, 1499])
async def test_the_first_bad_entry_is_named(
    database: Database, audit: AuditLog, name: str, place: int
) -> None:
    with database.write():
        await fill(audit, 1500)
    attack(database, ATTACKS[name].format(n=place, zeros=GENESIS))
    verdict = await audit.verify_chain()
    assert (verdict.valid, verdict.entries_checked) == (False, place - 1)
    assert f"Entry {place} " in verdict.reason


@pytest.mark.proves("B5-HASH-CHAIN")
async def test_an_entry_before_the_first_is_found(database: Database, audit: AuditLog) -> None:
    await fill(audit, 2)
    attack(database, "INSERT INTO audit_log SELECT 0, body, entry_hash FROM audit_log LIMIT 1")
    assert await audit.verify_chain() == (False, 2, "An entry 0 was inserted before the first.")


@pytest.mark.proves("B5-HASH-CHAIN")
async def test_swapped_entries_are_found(database: Database, audit: AuditLog) -> None:
    await fill(audit, 6)
    attack(
        database,
        "UPDATE audit_log SET seq = -1 WHERE seq = 3",
        "UPDATE audit_log SET seq = 3 WHERE seq = 4",
        "UPDATE audit_log SET seq = 4 WHERE seq = -1",
    )
    verdict = await audit.verify_chain()
    assert (verdict.valid, verdict.entries_checked) == (False, 2)
    assert "Entry 3 " in verdict.reason


async def test_an_entry_with_a_false_number_is_found_though_its_hash_is_right(
    database: Database, audit: AuditLog
) -> None:
    await fill(audit, 2)
    last = (await audit.entries())[-1]
    body = json.dumps({**json.loads(last.body), "seq": 9}, sort_keys=True, separators=(",", ":"))
    hashed = sha256(f"{last.previous_hash}\n{body}".encode()).hexdigest()
    attack(database, f"UPDATE audit_log SET body = '{body}', entry_hash = '{hashed}' WHERE seq = 2")
    verdict = await audit.verify_chain()
    assert verdict == (False, 1, "Entry 2 carries another entry's number.")


@pytest.mark.proves("S4.16-CHECKPOINT")
async def test_a_cut_off_end_is_found_where_a_checkpoint_has_signed_it(
    database: Database, audit: AuditLog
) -> None:
    await fill(audit, 5)
    await audit.write_checkpoint()
    attack(database, "DELETE FROM audit_log WHERE seq > 3")
    for verdict in (await audit.verify_chain(), await audit.verify_from_checkpoint()):
        assert not verdict.valid
        assert verdict.reason.startswith("Entry 5 is missing")


@pytest.mark.proves("S4.16-CHECKPOINT", "B5-SIGNED-CHECKPOINTS", "S15-NEVER-AUDIT")
async def test_a_chain_recomputed_without_the_key_is_found_by_its_checkpoint(
    database: Database, audit: AuditLog
) -> None:
    await fill(audit, 5)
    checkpoint = await audit.write_checkpoint()
    await fill(audit, 2)
    recompute(database, edit=2)
    verdict = await audit.verify_chain()
    assert not verdict.valid
    assert verdict.reason == f"Entry 5 is not the one that checkpoint {checkpoint} has signed."
    assert not (await audit.verify_from_checkpoint()).valid


@pytest.mark.proves("B5-SIGNED-CHECKPOINTS")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_checkpoints SET body = replace(body, '\"seq\":3', '\"seq\":2')",
        "UPDATE audit_checkpoints SET "
        "signature = iif(signature LIKE '00%', 'ff', '00') || substr(signature, 3)",
        "UPDATE audit_checkpoints SET signature = 'no hex'",
        "UPDATE audit_checkpoints SET checkpoint_id = 'checkpoint-other'",
        "UPDATE audit_checkpoints SET body = '['",
    ],
)
async def test_a_checkpoint_that_was_touched_is_found(
    database: Database, audit: AuditLog, statement: str
) -> None:
    await fill(audit, 3)
    await audit.write_checkpoint()
    attack(database, statement)
    verdict = await audit.verify_chain()
    assert (verdict.valid, verdict.entries_checked) == (False, 3)
    assert "heckpoint" in verdict.reason
    assert not (await audit.verify_from_checkpoint()).valid


async def test_a_broken_chain_is_never_signed(database: Database, audit: AuditLog) -> None:
    await fill(audit, 3)
    attack(database, "UPDATE audit_log SET body = replace(body, 'task-1', 'x') WHERE seq = 2")
    with pytest.raises(DatabaseError, match="Entry 2") as raised:
        await audit.write_checkpoint()
    assert raised.value.code == "E_DB_CORRUPT"
