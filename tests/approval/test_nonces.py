"""The nonce store's contract, on the database and in memory (spec 4.5)."""

from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silas.approval import ApprovalConfig, NonceConfig, NonceStore, TokenUse
from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import SqlNonceStore
from silas.audit import AuditLog
from silas.damage import damaged_rows
from silas.db import Database
from silas.errors import ApprovalError, DatabaseError
from silas.keys import Ed25519Signer, KeyRing
from silas.testing import MockClock, NeverStopped
from silas.testing.approval import a_decision, a_subject


def a_use(clock: MockClock, nonce: str = "n-1", **changes: object) -> TokenUse:
    expires_at = clock.now() + timedelta(minutes=30)
    return TokenUse("token-1", "digest-1", nonce, 2, expires_at)._replace(**changes)


def nobody(number: int) -> None:
    """A witness with nothing to write."""


@pytest.mark.proves("S4.5-DOMAINS-APART", "A7-CONTENT-BOUND-KEY")
async def test_a_nonce_is_used_once_within_its_domain(nonces: NonceStore) -> None:
    assert not await nonces.is_used("msg", "n-1")
    await nonces.record("msg", "n-1")
    assert await nonces.is_used("msg", "n-1")
    assert not await nonces.is_used("exec", "n-1")
    assert not await nonces.is_used("msg", "n-2")
    with pytest.raises(ApprovalError) as raised:
        await nonces.record("msg", "n-1")
    assert raised.value.code == "E_APPROVAL_REPLAY"


@pytest.mark.parametrize(
    ("domain", "nonce"), [("", "n"), ("card", "n"), ("msg:", "n"), ("msg", "")]
)
async def test_an_unknown_domain_and_an_empty_nonce_are_errors(
    nonces: NonceStore, domain: str, nonce: str
) -> None:
    for call in (nonces.is_used, nonces.record):
        with pytest.raises(ApprovalError):
            await call(domain, nonce)


@pytest.mark.proves("S4.5-DOMAINS-APART", "A7-CONTENT-BOUND-KEY")
async def test_a_message_nonce_cannot_pass_for_a_use(nonces: NonceStore, clock: MockClock) -> None:
    await nonces.record("msg", "token-1:digest-1:n-1")
    assert await nonces.uses("token-1") == 0
    assert await nonces.spend(a_use(clock), nobody) == 1
    assert await nonces.is_used("exec", "token-1:digest-1:n-1")


async def test_uses_are_numbered_and_end(nonces: NonceStore, clock: MockClock) -> None:
    numbers: list[int] = []
    assert await nonces.spend(a_use(clock), numbers.append) == 1
    assert await nonces.spend(a_use(clock, "n-2", digest="digest-2"), numbers.append) == 2
    assert await nonces.spend(a_use(clock, "n-3"), numbers.append) == 0
    assert numbers == [1, 2]
    assert await nonces.uses("token-1") == 2
    assert await nonces.uses("token-1", "digest-1") == await nonces.uses("token-1", "digest-2") == 1
    assert set(await nonces.execution_nonces("token-1")) == {"n-1", "n-2"}


async def test_the_same_execution_nonce_is_a_replay(nonces: NonceStore, clock: MockClock) -> None:
    await nonces.spend(a_use(clock), nobody)
    with pytest.raises(ApprovalError) as raised:
        await nonces.spend(a_use(clock), nobody)
    assert raised.value.code == "E_APPROVAL_REPLAY"
    assert await nonces.uses("token-1") == 1


async def test_a_revoked_token_has_no_use_left_and_no_other_is_touched(
    nonces: NonceStore, clock: MockClock
) -> None:
    told: list[str] = []
    assert await nonces.spend(a_use(clock), nobody) == 1
    assert await nonces.revoke("token-1", clock.now(), lambda: told.append("revoked"))
    assert not await nonces.revoke("token-1", clock.now(), lambda: told.append("again"))
    assert told == ["revoked"]
    assert await nonces.spend(a_use(clock, "n-2"), nobody) == 0
    assert await nonces.uses("token-1") == 1
    assert await nonces.spend(a_use(clock, token_id="token-2"), nobody) == 1


async def test_what_cannot_be_witnessed_is_not_revoked(
    nonces: NonceStore, clock: MockClock
) -> None:
    def broken() -> None:
        raise DatabaseError("full", code="E_DB_FULL")

    with pytest.raises(DatabaseError):
        await nonces.revoke("token-1", clock.now(), broken)
    assert await nonces.spend(a_use(clock), nobody) == 1


async def test_a_revocation_outlives_its_token_however_old_it_is(
    nonces: NonceStore, clock: MockClock
) -> None:
    end = clock.now() + timedelta(days=400)
    await nonces.revoke("token-1", end, lambda: None)
    clock.advance(399 * 86400)
    await nonces.prune_expired(clock.now())
    assert await nonces.spend(a_use(clock, expires_at=end), nobody) == 0


@pytest.mark.parametrize("other", ["token-", "token-10", "token-1;", "token-0", "t", "token-1%"])
async def test_one_tokens_uses_are_not_anothers(
    nonces: NonceStore, clock: MockClock, other: str
) -> None:
    await nonces.spend(a_use(clock, token_id=other), nobody)
    assert await nonces.uses("token-1") == 0
    assert await nonces.uses(other) == 1


async def test_a_witness_that_fails_spends_nothing(nonces: NonceStore, clock: MockClock) -> None:
    def witness(number: int) -> None:
        raise DatabaseError("the entry could not be written")

    with pytest.raises(DatabaseError):
        await nonces.spend(a_use(clock), witness)
    assert await nonces.uses("token-1") == 0


@pytest.mark.proves("S4.5-RETENTION")
async def test_pruning_forgets_what_is_old_and_has_expired(
    nonces: NonceStore, clock: MockClock
) -> None:
    await nonces.record("msg", "old")
    await nonces.spend(a_use(clock), nobody)
    clock.advance(40 * 60)
    await nonces.record("msg", "new")
    assert await nonces.prune_expired(clock.now()) == 2
    assert [await nonces.is_used("msg", n) for n in ("old", "new")] == [False, True]
    assert await nonces.uses("token-1") == 0
    assert await nonces.prune_expired(clock.now()) == 0


@pytest.mark.proves("S4.5-RETENTION")
async def test_pruning_keeps_what_is_younger_than_asked(
    nonces: NonceStore, clock: MockClock
) -> None:
    await nonces.record("msg", "n")
    clock.advance(3600)
    assert await nonces.prune_expired(clock.now() - timedelta(hours=1)) == 0
    assert await nonces.is_used("msg", "n")


@pytest.mark.proves("S4.5-RETENTION")
async def test_the_uses_of_a_token_that_lives_on_are_never_pruned(
    nonces: NonceStore, clock: MockClock
) -> None:
    await nonces.spend(a_use(clock, expires_at=clock.now() + timedelta(days=90)), nobody)
    clock.advance(timedelta(days=90).total_seconds())
    assert await nonces.prune_expired(clock.now()) == 0
    assert await nonces.uses("token-1") == 1
    clock.advance(600)  # the safety buffer
    assert await nonces.prune_expired(clock.now()) == 1


@pytest.mark.proves("S4.5-RETENTION")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ttl=st.integers(1, 500),
    steps=st.lists(st.tuples(st.integers(0, 400), st.booleans()), max_size=8),
)
async def test_however_often_it_is_pruned_a_token_is_spent_once(
    engine: ApprovalEngine,
    nonces: NonceStore,
    clock: MockClock,
    ttl: int,
    steps: list[tuple[int, bool]],
) -> None:
    token = await engine.issue_token(a_subject(), a_decision(), ttl_minutes=ttl)
    spent = 0
    for minutes, prune in steps:
        spent += (await engine.verify(token, a_subject())).valid
        clock.advance(minutes * 60)
        if prune:
            await nonces.prune_expired(clock.now())
    assert spent == bool(steps)


@pytest.mark.proves("B5-NO-ENTRY-NO-EFFECT")
async def test_a_use_whose_entry_cannot_be_written_is_not_spent(
    database: Database, signer: Ed25519Signer, audit: AuditLog, clock: MockClock
) -> None:
    store = SqlNonceStore(database, clock, NonceConfig())
    engine = ApprovalEngine(
        signer,
        store,
        audit,
        clock,
        ApprovalConfig(),
        NeverStopped(),
        KeyRing.alone(signer.public_key),
        ZoneInfo("Europe/Vienna"),
    )
    token = await engine.issue_token(a_subject(), a_decision())
    with database.write() as tx:
        tx.driver.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    with pytest.raises(DatabaseError):
        await engine.verify(token, a_subject())
    with pytest.raises(DatabaseError):
        await engine.issue_token(a_subject(), a_decision())
    with database.write() as tx:
        tx.driver.execute("DROP TRIGGER broken")
    assert await store.uses(token.token_id) == 0
    assert await engine.verify(token, a_subject())


@pytest.mark.proves("A23-DURABLE-SPEND")
@pytest.mark.usefixtures("the_disk")
async def test_a_use_is_written_for_power_loss(
    database: Database, signer: Ed25519Signer, audit: AuditLog, clock: MockClock
) -> None:
    seen: list[int] = []

    class Watching(SqlNonceStore):
        async def look(self) -> None:
            def witness(number: int) -> None:
                with database.write() as tx:
                    seen.append(tx.driver.execute("PRAGMA synchronous").fetchone()[0])

            await self.spend(a_use(clock), witness)

    await Watching(database, clock, NonceConfig()).look()
    assert seen == [2]  # FULL: the log is on the disk before the call returns


async def test_a_use_is_remembered_by_the_next_process(
    tmp_path: Path, database: Database, clock: MockClock
) -> None:
    await SqlNonceStore(database, clock, NonceConfig()).spend(a_use(clock), nobody)
    again = Database(tmp_path / "silas.db", clock)
    try:
        assert await SqlNonceStore(again, clock, NonceConfig()).uses("token-1") == 1
    finally:
        again.close()


@pytest.mark.parametrize("damage", ["{", b"\xff\x00", "9"])
async def test_where_the_mark_of_what_was_forgotten_is_damaged_only_older_messages_are_refused(
    database: Database, clock: MockClock, damage: object
) -> None:
    nonces = SqlNonceStore(database, clock, NonceConfig())
    before = clock.now()
    await nonces.prune_expired(clock.now())
    with database.write() as tx:
        tx.run("UPDATE nonces_forgotten SET until = :damage", damage=damage)
    assert not await nonces.remembers(before)
    assert not await nonces.remembers(before)
    clock.advance(1)
    assert await nonces.remembers(clock.now())
    assert [one.place for one in damaged_rows(database)] == ["nonces_forgotten"]
