"""Issuing and verifying an approval against the two Ed25519 operations it cannot do without.

Run as `python -m benchmarks approval_token` (a module of that name would hide the standard one
`token`). Contenders take turns within a round; a figure is the median over the rounds.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any
from zoneinfo import ZoneInfo

from nacl.signing import SigningKey

from silas.approval import ApprovalConfig, NonceConfig, token_bytes
from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import SqlNonceStore
from silas.audit import AuditLog
from silas.clock import SystemClock
from silas.db import Database
from silas.keys import KeyRing
from silas.stop import Sentinel
from silas.stop.epochs import StopEpochs
from silas.testing import MemoryAudit, NeverStopped
from silas.testing.approval import MemoryNonceStore, a_decision, a_signer, a_subject

UTC = ZoneInfo("UTC")
_TOKENS = 100  # a round
_SUBJECT, _DECISION = a_subject(), a_decision()


def measure(rounds: int = 30) -> dict[str, float]:
    """Measure one issue and one verify.

    Returns:
        Microseconds: `raw_us` for libsodium's sign and verify of the same bytes; `pure_us` for
        the engine with nothing recorded and uses counted in memory; `stored_us` with the audit
        log, the nonce store and the durable write; `durable_us` for an empty durable write alone.
        `pure_ratio` and `stored_ratio` are against `raw_us`, round by round. What only computes is
        measured in CPU time, what waits for the disk in elapsed time.
    """
    with tempfile.TemporaryDirectory() as folder:
        clock = SystemClock()
        db = Database(Path(folder) / "silas.db", clock)
        try:
            return asyncio.run(_measured(db, clock, rounds))
        finally:
            db.close()


async def _measured(db: Database, clock: SystemClock, rounds: int) -> dict[str, float]:
    db.migrate("silas.audit")
    db.migrate("silas.stop")
    db.migrate("silas.approval")
    signer, config = a_signer(), ApprovalConfig()
    audit = AuditLog(db, clock, signer)
    store = SqlNonceStore(db, clock, NonceConfig())
    stops = StopEpochs(db, clock, Sentinel(db.path.parent))
    ring = KeyRing.alone(signer.public_key)
    stored = ApprovalEngine(signer, store, audit, clock, config, stops, ring, UTC)
    key = SigningKey(signer.seed_for_vault())
    figures: dict[str, list[float]] = {
        "raw_us": [],
        "pure_us": [],
        "stored_us": [],
        "durable_us": [],
    }
    with db.write() as tx:
        tx.driver.execute("CREATE TABLE bare (n INTEGER)")

    async def durable() -> None:
        with db.write(durable=True) as tx:
            tx.driver.execute("INSERT INTO bare VALUES (1)")

    for _ in range(rounds):
        nonces = MemoryNonceStore(clock, NonceConfig())
        pure = ApprovalEngine(
            signer, nonces, _Unrecorded(), clock, config, NeverStopped(), ring, UTC
        )
        signed = token_bytes(await pure.issue_token(_SUBJECT, _DECISION))

        async def raw(signed: bytes = signed) -> None:
            key.verify_key.verify(signed, key.sign(signed).signature)

        figures["raw_us"].append(await _each(raw, process_time))
        figures["pure_us"].append(await _each(lambda engine=pure: _once(engine), process_time))
        figures["stored_us"].append(await _each(lambda: _once(stored), perf_counter))
        figures["durable_us"].append(await _each(durable, perf_counter))
        await _assert_replay_refused(pure)
        await _assert_replay_refused(stored)
        assert (await audit.verify_chain()).valid
    result = {name: median(values) for name, values in figures.items()}
    for name in ("pure", "stored"):
        pairs = zip(figures[f"{name}_us"], figures["raw_us"], strict=True)
        result[f"{name}_ratio"] = median(ours / raw for ours, raw in pairs)
    return result


class _Unrecorded(MemoryAudit):
    """Keeps nothing, so that what remains is the tokens' own cost."""

    def log_now(self, event: str, **data: Any) -> str:
        return event


async def _each(work: Callable[[], Awaitable[None]], seconds: Callable[[], float]) -> float:
    begin = seconds()
    for _ in range(_TOKENS):
        await work()
    return (seconds() - begin) / _TOKENS * 1e6


async def _once(engine: ApprovalEngine) -> None:
    token = await engine.issue_token(_SUBJECT, _DECISION)
    assert await engine.verify(token, _SUBJECT)


async def _assert_replay_refused(engine: ApprovalEngine) -> None:
    token = await engine.issue_token(_SUBJECT, _DECISION)
    assert await engine.verify(token, _SUBJECT)
    assert not await engine.verify(token, _SUBJECT)


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:20} {value:10.2f}")
