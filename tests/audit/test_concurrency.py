"""Many writers, one chain."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from silas.audit import AuditLog
from silas.db import Database
from silas.testing import MockClock
from silas.testing.approval import a_signer
from tests.support.waits import SECONDS

EACH = 400
"""Entries of one process: fifty are written before the next process has begun."""

WRITER = """
import sys
from pathlib import Path
from silas.audit import AuditLog
from silas.clock import SystemClock
from silas.db import Database
from silas.testing.approval import a_signer
audit = AuditLog(Database(Path(sys.argv[1]), SystemClock()), SystemClock(), a_signer())
print("ready", flush=True)
sys.stdin.readline()
for n in range(int(sys.argv[2])):
    audit.log_now("work_item_attempt", work_item_id=sys.argv[3], attempt=n)
"""


@pytest.mark.proves("B5-CONCURRENT-APPENDS")
async def test_many_tasks_keep_one_chain(audit: AuditLog) -> None:
    async def write(task: int) -> None:
        for n in range(20):
            await audit.log("x", task=task, n=n)
            await asyncio.sleep(0)

    await asyncio.wait_for(asyncio.gather(*(write(n) for n in range(20))), SECONDS)
    assert await audit.verify_chain() == (True, 400, "")


@pytest.mark.proves("B5-CONCURRENT-APPENDS")
async def test_several_threads_keep_one_chain_while_it_is_verified(audit: AuditLog) -> None:
    begin = threading.Barrier(5)

    def write(name: int) -> None:
        begin.wait(SECONDS)
        for n in range(100):
            audit.log_now("x", thread=name, n=n)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    begin.wait(SECONDS)
    while any(thread.is_alive() for thread in threads):
        assert (await asyncio.wait_for(audit.verify_chain(), SECONDS)).valid
    for thread in threads:
        thread.join(SECONDS)
    assert await audit.verify_chain() == (True, 400, "")


@pytest.mark.proves("B5-CONCURRENT-APPENDS")
async def test_four_processes_keep_one_chain(tmp_path: Path, audit: AuditLog) -> None:
    script = tmp_path / "writer.py"
    script.write_text(WRITER)
    pipe = asyncio.subprocess.PIPE
    writers = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(script), str(tmp_path / "silas.db"), str(EACH), f"task-{n}",
            stdin=pipe, stdout=pipe, env={"PYTHONPATH": str(Path(__file__).parents[2])},
        )
        for n in range(4)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        assert await asyncio.wait_for(writer.stdout.readline(), SECONDS) == b"ready\n"
    ends = await asyncio.gather(
        *(asyncio.wait_for(w.communicate(b"go\n"), SECONDS) for w in writers)
    )
    assert len(ends) == 4
    assert [w.returncode for w in writers] == [0, 0, 0, 0]
    assert await audit.verify_chain() == (True, 4 * EACH, "")
    bodies = [e.body for e in await audit.entries(limit=4 * EACH)]
    assert all(sum(f'"task-{n}"' in body for body in bodies) == EACH for n in range(4))


async def test_a_second_opening_continues_the_chain(
    tmp_path: Path, audit: AuditLog, clock: MockClock
) -> None:
    await audit.log("x")
    other_db = Database(tmp_path / "silas.db", clock)
    try:
        other = AuditLog(other_db, clock, a_signer())
        await other.log("y")
        await audit.log("z")
        assert await other.verify_chain() == (True, 3, "")
    finally:
        other_db.close()
