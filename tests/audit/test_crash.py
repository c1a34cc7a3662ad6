"""Killed or out of room in the middle of an append: nothing lost, no effect without its entry."""

import asyncio
import json
import random
import resource
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silas.audit import AuditLog
from silas.db import Database
from silas.errors import DatabaseError
from silas.keys import Ed25519Signer
from silas.testing import MockClock
from tests.support.disk import full_disk
from tests.support.waits import SECONDS

# Every effect is a row written in one transaction with its entry; each that was said to be done is
# acknowledged on standard output after it was committed.
WRITER = """
import sys
from pathlib import Path
from silas.audit import AuditLog
from silas.clock import SystemClock
from silas.db import Database
from silas.testing.approval import a_signer
db = Database(Path(sys.argv[1]), SystemClock())
audit = AuditLog(db, SystemClock(), a_signer())
print("ready", flush=True)
sys.stdin.readline()
n = int(sys.argv[2])
while True:
    with db.write() as tx:
        tx.driver.execute("INSERT INTO effects VALUES (?)", (n,))
        audit.log_now("effect", n=n, padding="x" * (n % 5000))
    print(n, flush=True)
    n += 1
"""

KILLS = 20  # a fifth of a second each; where in an append each one lands is chance


async def killed_at_work(database: Path, first: int, after: int) -> list[int]:
    """Let a process append, kill it after so many acknowledgements, say which it had given."""
    pipe = asyncio.subprocess.PIPE
    writer = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(database), str(first),
        stdin=pipe, stdout=pipe, env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert await asyncio.wait_for(writer.stdout.readline(), SECONDS) == b"ready\n"
    writer.stdin.write(b"go\n")
    said = [int(await asyncio.wait_for(writer.stdout.readline(), SECONDS)) for _ in range(after)]
    writer.kill()
    rest = await asyncio.wait_for(writer.stdout.read(), SECONDS)
    assert await asyncio.wait_for(writer.wait(), SECONDS) == -signal.SIGKILL
    whole = rest[: rest.rfind(b"\n") + 1]
    return said + [int(line) for line in whole.split()]


@pytest.mark.proves("B5-CRASH-IN-APPEND")
async def test_whatever_moment_it_is_killed_at_effects_and_entries_are_the_same(
    tmp_path: Path, database: Database, audit: AuditLog
) -> None:
    chance = random.Random(20260102)
    with database.write() as tx:
        tx.driver.execute("CREATE TABLE effects (n INTEGER PRIMARY KEY)")
    acknowledged: list[int] = []
    for _ in range(KILLS):
        with database.read() as tx:
            (first,) = tx.driver.execute("SELECT coalesce(max(n), -1) + 1 FROM effects").fetchone()
        acknowledged += await killed_at_work(tmp_path / "silas.db", first, chance.randrange(1, 40))
        verdict = await audit.verify_chain()
        assert verdict.valid, verdict.reason
    with database.read() as tx:
        effects = [n for (n,) in tx.driver.execute("SELECT n FROM effects ORDER BY n")]
    entries = [json.loads(e.body)["data"]["n"] for e in await audit.entries(limit=10**6)]
    assert entries == effects == list(range(len(effects)))
    assert set(acknowledged) <= set(effects)  # what was said to be done is done
    assert len(acknowledged) >= KILLS


@pytest.mark.proves("B5-CRASH-IN-APPEND")
async def test_a_write_ahead_log_cut_anywhere_gives_a_chain_that_holds(
    tmp_path: Path, database: Database, audit: AuditLog, clock: MockClock, signer: Ed25519Signer
) -> None:
    """Power loss leaves a prefix of what was written since the last checkpoint of the database."""
    for n in range(60):
        await audit.log("x", n=n, padding="x" * (37 * n % 900))
    wal = (tmp_path / "silas.db-wal").read_bytes()
    chance = random.Random(1)
    lengths: set[int] = set()
    for cut in sorted(chance.randrange(len(wal)) for _ in range(60)):
        copy = tmp_path / f"cut-{cut}.db"
        copy.write_bytes((tmp_path / "silas.db").read_bytes())
        copy.with_name(f"{copy.name}-wal").write_bytes(wal[:cut])
        again = Database(copy, clock)
        try:
            again.migrate("silas.audit")
            verdict = await AuditLog(again, clock, signer).verify_chain()
            assert verdict.valid, verdict.reason
            lengths.add(verdict.entries_checked)
        finally:
            again.close()
    assert len(lengths) > 10  # the cuts were in the middle, not before or behind everything


@pytest.mark.proves("B5-NO-ENTRY-NO-EFFECT", "B5-DISK-FULL")
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(room=st.integers(0, 40_000), padding=st.integers(0, 30_000))
async def test_a_disk_that_fills_anywhere_in_an_append_takes_the_effect_with_it(
    tmp_path: Path, database: Database, audit: AuditLog, room: int, padding: int
) -> None:
    with database.write() as tx:
        tx.driver.execute("CREATE TABLE IF NOT EXISTS effects (n INTEGER PRIMARY KEY)")
        tx.driver.execute("DELETE FROM effects")
    before = await audit.head()
    done, said = 0, ""

    def effect(n: int) -> None:
        with database.write() as tx:
            tx.driver.execute("INSERT INTO effects VALUES (?)", (n,))
            audit.log_now("effect", n=n, padding="x" * padding)

    with full_disk() as disk:
        disk.now(tmp_path / "silas.db-wal", room)
        for n in range(20):
            try:
                effect(n)
            except DatabaseError as error:
                said = error.code
                break
            done += 1
    assert said == ("E_DB_OPERATION" if done < 20 else "")
    with database.read() as tx:
        assert tx.driver.execute("SELECT count(*) FROM effects").fetchone() == (done,)
    assert (await audit.head()).seq == before.seq + done
    effect(1000)  # with room again it goes on as if nothing had happened
    assert (await audit.verify_chain()).valid


def test_the_disk_of_these_tests_is_really_full(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "some").write_bytes(b"x" * 10)
    with full_disk() as disk, closing(sqlite3.connect(tmp_path / "other.db")) as driver:
        disk.now(tmp_path / "some")
        with pytest.raises(sqlite3.OperationalError):
            driver.execute("CREATE TABLE t (n INTEGER)")
        with pytest.raises(OSError, match="too large"):
            (tmp_path / "more").write_bytes(b"x" * 11)
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before
