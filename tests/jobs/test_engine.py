"""The engine of this process: what is due runs, in order, once; nothing due costs nothing."""

import asyncio
import threading
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from silas.errors import ChannelError
from silas.jobs.engine import LOOK_AGAIN
from silas.jobs.models import Finish, Job
from silas.testing.clock import MockClock
from tests.jobs.kit import Bench, settle, states, until

HOUR = timedelta(hours=1)


@pytest.fixture
def bench(tmp_path: Path) -> Generator[Bench]:
    made = Bench(tmp_path / "silas.db")
    yield made
    made.db.close()


def later(bench: Bench, hours: float = 1) -> datetime:
    return bench.clock.now() + hours * HOUR


async def test_a_job_runs_at_its_moment_and_not_before(bench: Bench) -> None:
    job = bench.jobs.at(later(bench), "note", "a")
    async with bench.serving(bench.kind()):
        await settle()
        bench.clock.advance(3599)
        await settle()
        assert bench.ran == []
        bench.clock.advance(1)
        await until(lambda: bench.ran == [job.id])
        await settle()
    assert states(bench.jobs.history()) == ["done"]


async def test_the_timer_is_set_anew_when_an_earlier_job_comes_in(bench: Bench) -> None:
    bench.jobs.at(later(bench, 5), "note", "late")
    async with bench.serving(bench.kind()):
        await until(lambda: bench.clock.waited_for == [later(bench, 5)])
        early = bench.jobs.at(later(bench, 1), "note", "early")
        await until(lambda: bench.clock.waited_for == [later(bench, 1)])
        bench.clock.advance(3600)
        await until(lambda: bench.ran == [early.id])


async def test_nothing_due_means_no_timer_no_thread_and_no_write(bench: Bench) -> None:
    async with bench.serving(bench.kind()):
        await settle()
        writes, threads = bench.db.path.stat(), threading.active_count()
        wal = bench.db.path.with_name("silas.db-wal").stat().st_size
        tasks = len(asyncio.all_tasks())
        assert bench.clock.waited_for == []
        for _ in range(1000):
            bench.clock.advance(3600)
            await asyncio.sleep(0)
        assert bench.db.path.stat().st_mtime_ns == writes.st_mtime_ns
        assert bench.db.path.with_name("silas.db-wal").stat().st_size == wal
        assert (threading.active_count(), len(asyncio.all_tasks())) == (threads, tasks)


async def test_what_waits_for_a_far_moment_is_looked_at_only_then(bench: Bench) -> None:
    bench.jobs.at(later(bench, 1000), "note", "a")
    async with bench.serving(bench.kind()):
        await settle()
        wal = bench.db.path.with_name("silas.db-wal").stat().st_size
        for _ in range(900):
            bench.clock.advance(3600)
            await asyncio.sleep(0)
        assert bench.db.path.with_name("silas.db-wal").stat().st_size == wal
        assert len(bench.clock.waited_for) == 1


async def test_a_machine_that_slept_runs_what_became_due_when_it_wakes(bench: Bench) -> None:
    job = bench.jobs.at(later(bench), "note", "a")
    async with bench.serving(bench.kind()):
        await settle()
        bench.clock.suspend(8 * 3600)
        await until(lambda: bench.ran == [job.id])


async def test_jobs_of_one_queue_run_in_order_and_one_at_a_time(bench: Bench) -> None:
    gate = asyncio.Event()

    async def work(job: Job) -> None:
        if job.ref == "first":
            await gate.wait()

    for ref in ("first", "second", "third"):
        bench.jobs.at(later(bench, len(ref) / 100), "note", ref, queue="talk")
    bench.jobs.at(later(bench, 0.01), "note", "other", queue="else")
    async with bench.serving(bench.kind(work=work)):
        bench.clock.advance(3600)
        await until(lambda: len(bench.ran) == 2)
        await settle()
        assert sorted(name.split(":")[1] for name in bench.ran) == ["first", "other"]
        gate.set()
        await until(lambda: len(bench.ran) == 4)
    order = [name.split(":")[1] for name in bench.ran if "other" not in name]
    assert order == ["first", "third", "second"]  # by their moments: 0.05, 0.05, 0.06 hours


async def test_no_more_than_the_limit_run_at_once(tmp_path: Path) -> None:
    bench, running, most = Bench(tmp_path / "silas.db", limit=3), 0, 0

    async def work(job: Job) -> None:
        del job
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    for number in range(20):
        bench.jobs.start("note", str(number))
    async with bench.serving(bench.kind(work=work)):
        await until(lambda: len(bench.jobs.history()) == 20)
    assert most == 3
    bench.db.close()


async def test_what_recurs_gets_its_next_slot_with_its_end_and_what_was_missed_is_one_run(
    bench: Bench,
) -> None:
    def hourly(job: Job, now: datetime) -> datetime:
        missed = (now - job.due) // HOUR
        return job.due + (missed + 1) * HOUR

    start = later(bench)
    bench.jobs.at(start, "note", "a")
    async with bench.serving(bench.kind(following=hourly)):
        bench.clock.advance(3600)
        await until(lambda: len(bench.ran) == 1)
        await settle()
        assert [job.due for job in bench.jobs.list()] == [start + HOUR]
        bench.clock.suspend(10 * 3600)
        await until(lambda: len(bench.ran) == 2)
        await settle()
        assert [job.due for job in bench.jobs.list()] == [start + 11 * HOUR]


async def test_a_job_that_fails_is_on_record_and_does_not_end_the_others(bench: Bench) -> None:
    def work(job: Job) -> None:
        if job.ref == "bad":
            raise ValueError("a bug")

    bench.jobs.start("note", "bad")
    bench.jobs.start("note", "good")
    async with bench.serving(bench.kind(work=work)):
        await until(lambda: len(bench.jobs.history()) == 2)
    by_ref = {job.ref: job for job in bench.jobs.history()}
    assert (by_ref["bad"].state, by_ref["bad"].fault) == ("failed", "E_SILAS_UNEXPECTED")
    assert by_ref["good"].state == "done"
    (entry,) = bench.entries
    assert entry[0] == "job.failed"
    assert entry[1]["code"] == "E_SILAS_UNEXPECTED"


async def test_what_may_fail_is_tried_again_twice_as_late_each_time_and_then_given_up(
    bench: Bench,
) -> None:
    def work(job: Job) -> None:
        del job
        raise ChannelError("Nobody is there.", code="E_CHANNEL_CLOSED")

    bench.jobs.start("note", "a")
    begun: list[float] = []
    async with bench.serving(bench.kind(work=work, attempts=3)):
        for _ in range(300):
            await settle()
            if len(bench.ran) > len(begun):
                begun.append(bench.clock.monotonic())
            bench.clock.advance(1)
    assert begun == [0.0, 60.0, 180.0]
    assert states(bench.jobs.history()) == ["failed"]


async def test_a_failure_that_cannot_be_written_waits_and_loses_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = bench.jobs.start("note", "a")
    full = True

    def end(*args: object, **more: object) -> None:
        if full:
            raise ChannelError("The disk is full.", code="E_CHANNEL_FULL")
        original(*args, **more)  # pyright: ignore[reportArgumentType] - as it was called

    original = bench.store.end
    monkeypatch.setattr(bench.store, "end", end)
    async with bench.serving(bench.kind()):
        await until(lambda: bench.ran == [job.id])
        await settle()
        assert bench.ran == [job.id]  # not tried over and over
        full = False
        bench.clock.advance(LOOK_AGAIN.total_seconds())
        await until(lambda: states(bench.jobs.history()) == ["done"])
    assert bench.ran == [job.id, job.id]


async def test_while_silas_is_stopped_nothing_runs_and_afterwards_it_does(bench: Bench) -> None:
    bench.stopped = True
    job = bench.jobs.start("note", "a")
    async with bench.serving(bench.kind()):
        await settle()
        assert bench.ran == []
        bench.stopped = False
        bench.clock.advance(LOOK_AGAIN.total_seconds())
        await until(lambda: bench.ran == [job.id])


async def test_only_the_process_with_the_lease_runs_jobs_and_another_takes_over(
    bench: Bench,
) -> None:
    bench.lease.free = False
    job = bench.jobs.start("note", "a")
    async with bench.serving(bench.kind()):
        await settle()
        assert bench.ran == []
        bench.lease.free = True
        bench.clock.advance(LOOK_AGAIN.total_seconds())
        await until(lambda: bench.ran == [job.id])


async def test_what_a_process_left_in_the_middle_is_begun_again_by_the_next(bench: Bench) -> None:
    async def never(job: Job) -> None:
        del job
        await asyncio.Event().wait()

    job = bench.jobs.start("note", "a")
    async with bench.serving(bench.kind(work=never)):
        await until(lambda: bench.ran == [job.id])
    assert states(bench.jobs.list()) == ["running"]
    async with bench.serving(bench.kind()):
        await until(lambda: states(bench.jobs.history()) == ["done"])
    assert bench.jobs.history()[0].attempts == 2


async def test_what_a_job_writes_is_there_exactly_if_its_end_is(bench: Bench) -> None:
    def work(job: Job) -> Finish:
        def finish() -> None:
            bench.jobs.at(later(bench), "other", job.ref)
            raise ValueError("a bug at the very end")

        return finish

    bench.jobs.start("note", "a")
    async with bench.serving(bench.kind(work=work)):
        await until(lambda: states(bench.jobs.history()) == ["failed"])
    assert bench.jobs.list() == ()


async def test_a_kind_that_this_process_does_not_know_waits_for_one_that_does(bench: Bench) -> None:
    bench.jobs.start("other", "a")
    async with bench.serving(bench.kind()):
        await settle()
        assert bench.clock.waited_for == []
    assert states(bench.jobs.list()) == ["waiting"]


async def test_what_ended_long_ago_is_forgotten(bench: Bench) -> None:
    bench.jobs.start("note", "old")
    async with bench.serving(bench.kind()):
        await until(lambda: len(bench.jobs.history()) == 1)
        bench.clock.advance(31 * 24 * 3600)
        bench.jobs.start("note", "new")
        await until(lambda: len(bench.ran) == 2)
        await settle()
    assert [job.ref for job in bench.jobs.history()] == ["new"]


async def test_the_system_clock_waits_for_a_moment_without_any_thread() -> None:
    from silas.clock import SystemClock

    clock, threads = SystemClock(), threading.active_count()
    moment = clock.now() + timedelta(milliseconds=50)
    await clock.until(moment)
    assert clock.now() >= moment
    await clock.until(datetime(2000, 1, 1, tzinfo=UTC))  # past: at once
    assert threading.active_count() == threads


def test_a_mock_clock_that_is_set_wakes_who_waits_for_a_moment() -> None:
    async def look() -> None:
        clock = MockClock()
        waiting = asyncio.ensure_future(clock.until(clock.now() + HOUR))
        await settle()
        clock.set_to(clock.now() - HOUR)
        await until(waiting.done)

    asyncio.run(look())
