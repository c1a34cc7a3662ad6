"""The audit log: an append inline and in a transaction of its own, and the walk over the chain.

Run as `python -m benchmarks.audit_chain`. Contenders take turns within a round; the figure of a
contender is its median over the rounds.
"""

import asyncio
import json
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from statistics import median
from time import perf_counter

from silas.audit import AuditLog
from silas.audit.verify import verify_lines
from silas.clock import SystemClock
from silas.db import Database
from silas.testing.approval import a_signer

_FACTS = {"work_item_id": "task-1", "tool": "shell_exec", "action": "run", "digest": "ab" * 32}
_APPENDS = 500  # a round
_BATCH = 10_000  # entries a transaction while the long chain is made


def _each(count: int, work: Callable[[], object]) -> float:
    """Microseconds a call."""
    begin = perf_counter()
    for _ in range(count):
        work()
    return (perf_counter() - begin) / count * 1e6


def _hash_alone(bodies: list[bytes]) -> float:
    """Microseconds an entry for the hashes that no verification can do without."""
    previous = b"0" * 64
    begin = perf_counter()
    for body in bodies:
        previous = sha256(previous + b"\n" + body).hexdigest().encode()
    return (perf_counter() - begin) / len(bodies) * 1e6


def measure(rounds: int = 5, entries: int = 1_000_000) -> dict[str, float]:
    """Measure appending and verifying.

    Args:
        rounds: How often each contender has its turn.
        entries: How long the chain is that gets verified.

    Returns:
        Microseconds of one append: `append_inline_us` inside an open transaction, `append_us` in
        one of its own, `bare_us` for the same row in a bare transaction of the driver;
        `append_ratio` of the latter two; `verify_us` an entry, `hash_us` for its hash alone,
        `verify_ratio` of these, and `verify_million_s`; `alone_us` an entry for the stand-alone
        verifier over an export of the same chain, and `alone_million_s`.
    """
    clock = SystemClock()
    with tempfile.TemporaryDirectory() as folder:
        db = Database(Path(folder) / "silas.db", clock)
        db.migrate("silas.audit")
        audit = AuditLog(db, clock, a_signer())
        try:
            return _measured(db, audit, rounds, entries) | _alone(audit, Path(folder), rounds)
        finally:
            db.close()


def _measured(db: Database, audit: AuditLog, rounds: int, entries: int) -> dict[str, float]:
    with db.write() as tx:
        driver = tx.driver
        driver.execute("CREATE TABLE bare (seq INTEGER PRIMARY KEY, body TEXT, entry_hash TEXT)")
    row = (json.dumps(_FACTS) * 2, "ab" * 32)

    def bare() -> None:
        driver.execute("BEGIN IMMEDIATE")
        driver.execute("INSERT INTO bare (body, entry_hash) VALUES (?, ?)", row)
        driver.execute("COMMIT")

    def append() -> None:
        audit.log_now("tool_call.succeeded", **_FACTS)

    figures: dict[str, list[float]] = {"append_us": [], "append_inline_us": [], "bare_us": []}
    for _ in range(rounds):
        figures["bare_us"].append(_each(_APPENDS, bare))
        figures["append_us"].append(_each(_APPENDS, append))
        with db.write():
            figures["append_inline_us"].append(_each(_APPENDS, append))
        _assert_holds(audit, 0)
    missing = entries - 2 * _APPENDS * rounds
    for start in range(0, max(missing, 0), _BATCH):
        with db.write():
            _each(min(_BATCH, missing - start), append)
    hashes: list[float] = []
    walks: list[float] = []
    sample = asyncio.run(audit.entries(limit=100_000))
    bodies = [entry.body.encode() for entry in sample]
    for _ in range(rounds):
        hashes.append(_hash_alone(bodies))
        walks.append(_assert_holds(audit, entries))
    figures |= {"hash_us": hashes, "verify_us": walks}
    result = {name: median(values) for name, values in figures.items()}
    result["append_ratio"] = result["append_us"] / result["bare_us"]
    result["verify_ratio"] = result["verify_us"] / result["hash_us"]
    result["verify_million_s"] = result["verify_us"]
    return result


def _alone(audit: AuditLog, folder: Path, rounds: int) -> dict[str, float]:
    asyncio.run(audit.export(folder / "export"))
    figures: list[float] = []
    for _ in range(rounds):
        begin = perf_counter()
        with (folder / "export").open("rb") as stream:
            entries = verify_lines(stream, [audit.public_key]).entries
        figures.append((perf_counter() - begin) / entries * 1e6)
    return {"alone_us": median(figures), "alone_million_s": median(figures)}


def _assert_holds(audit: AuditLog, at_least: int) -> float:
    begin = perf_counter()
    verdict = asyncio.run(audit.verify_chain())
    seconds = perf_counter() - begin
    assert verdict.valid, verdict.reason
    assert verdict.entries_checked >= at_least
    return seconds / verdict.entries_checked * 1e6


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:20} {value:10.2f}")
