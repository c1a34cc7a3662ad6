"""Waiting for what is due: processor time, wake-ups, threads and writes with nothing to do."""

import asyncio
import os
import sys
import tempfile
import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from benchmarks.cockpit import initialised, serving
from silas.clock import SystemClock
from silas.db import Database
from silas.jobs.engine import JobEngine
from silas.jobs.models import Finish, Job, JobKind, nothing, once
from silas.jobs.notify import ProcessNotifier
from silas.jobs.store import SqlJobStore
from silas.jobs.table import JobTable


class _Mine:
    def take(self) -> bool:
        return True


async def _run(job: Job) -> Finish:
    del job
    return nothing


def _files(home: Path) -> list[tuple[str, int, int]]:
    found = [
        (path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in home.glob("*.db*")
    ]
    return sorted(found)


async def _waited(home: Path, waiting: int, seconds: float) -> dict[str, float]:
    clock = SystemClock()
    db = Database(home / "silas.db", clock)
    db.migrate("silas.jobs")
    store, notifier = SqlJobStore(db), ProcessNotifier(home / "wake")
    jobs = JobTable(store, clock, notifier.notify)
    due = clock.now() + timedelta(hours=1)
    with db.write():
        for number in range(waiting):
            jobs.at(due + timedelta(minutes=number), "note", f"ref-{number}")
    engine = JobEngine(
        store, jobs, clock, _Mine(), lambda: False, notifier.listening, lambda *_, **__: None, 4,
        timedelta(days=30),
    )  # fmt: skip
    serving = asyncio.create_task(engine.serve([JobKind("note", _run, once)]))
    await asyncio.sleep(0.2)  # it has looked once and waits
    threads, files, began = threading.active_count(), _files(home), time.process_time()
    await asyncio.sleep(seconds)
    used = time.process_time() - began
    wrote = sum(before != after for before, after in zip(files, _files(home), strict=True))
    more = threading.active_count() - threads
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    db.close()
    if wrote or more:
        raise AssertionError(f"it waited with {wrote} files written and {more} threads more")
    return {"share of a core while 250 jobs wait, %": max(used / seconds * 100, 0.0001)}


def _used(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _started(home: str, seconds: float) -> dict[str, float]:
    """`silas start` in a fresh home: cockpit, jobs and the watch for the stop, and no page open."""
    start = [sys.executable, "-I", "-m", "silas", "start", "--port", "0"]
    with serving(start, initialised(home)) as served:
        time.sleep(seconds)  # what follows a start has come to its end
        used = _used(served.pid)
        time.sleep(4 * seconds)
        share = (_used(served.pid) - used) / (4 * seconds)
    return {"share of a core that `silas start` takes, %": max(share * 100, 0.0001)}


def measure(rounds: float = 5) -> dict[str, float]:
    """So many seconds of waiting; raises where a file was written or a thread was begun."""
    with tempfile.TemporaryDirectory(prefix="silas-idle-") as home:
        waited = asyncio.run(_waited(Path(home), 250, float(rounds)))
    with tempfile.TemporaryDirectory(prefix="silas-started-") as home:
        return {**waited, **_started(home, float(rounds) * 2)}
