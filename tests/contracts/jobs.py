"""What every engine of jobs does, whatever keeps its rows: the same tests for each.

An engine is shown by a context manager that yields an `Engine`: its `Jobs`, a clock that the test
moves, and a way to run what is due. Nothing here knows a table.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import NamedTuple

from silas.jobs.models import Job
from silas.jobs.port import Jobs
from silas.testing.clock import MockClock

HELD = "held"
"""The kind whose first run does not end by itself: it is under way until its process ends."""

LEASE = timedelta(minutes=10)
"""How long nobody takes over from an engine that was killed and gave nothing back."""


class Engine(NamedTuple):
    """An engine that serves the kinds `note` (once), `hourly` (again every hour) and `HELD`.

    Attributes:
        ran: The ids of what was begun, in order.
        passes: Lets time go by and what is due run to its end.
        restart: Ends the process in the middle of everything and starts another one.
        kill: Ends the engine at once: it closes nothing, gives its lease back to nobody, and
            writes nothing more. Its lease ends `LEASE` later.
        take_over: Starts another engine on the same rows, which waits for the lease, and gives
            its `Jobs`; what it begins is noted in `ran`, too.
    """

    jobs: Jobs
    clock: MockClock
    ran: list[str]
    passes: Callable[[float], Awaitable[None]]
    restart: Callable[[], Awaitable[None]]
    kill: Callable[[], Awaitable[None]]
    take_over: Callable[[], Awaitable[Jobs]]


OpenEngine = Callable[[], AbstractAsyncContextManager[Engine]]

HOUR = timedelta(hours=1)


def names(jobs: tuple[Job, ...]) -> list[str]:
    return [job.id for job in jobs]


class JobsContract:
    """Inherit from this and say how an engine is opened."""

    def opened(self) -> AbstractAsyncContextManager[Engine]:
        raise NotImplementedError

    async def test_started_now_it_runs_once(self) -> None:
        async with self.opened() as engine:
            job = engine.jobs.start("note", "a")
            await engine.passes(1)
            await engine.passes(3600)
            assert engine.ran == [job.id]
            assert names(engine.jobs.history()) == [job.id]
            assert engine.jobs.list() == ()

    async def test_it_waits_for_its_moment(self) -> None:
        async with self.opened() as engine:
            job = engine.jobs.at(engine.clock.now() + HOUR, "note", "a", zone="Europe/Vienna")
            await engine.passes(3000)
            assert engine.ran == []
            assert names(engine.jobs.list()) == [job.id]
            assert engine.jobs.list()[0].zone == "Europe/Vienna"
            await engine.passes(600)
            assert engine.ran == [job.id]

    async def test_a_slot_that_is_made_twice_is_one_job_and_runs_once(self) -> None:
        async with self.opened() as engine:
            moment = engine.clock.now() + HOUR
            first = engine.jobs.at(moment, "note", "a")
            assert engine.jobs.at(moment, "note", "a").id == first.id == f"note:a:{first.slot}"
            await engine.passes(3600)
            engine.jobs.at(moment, "note", "a")  # after it ran, too
            await engine.passes(3600)
            assert engine.ran == [first.id]

    async def test_cancelled_it_does_not_run_and_made_again_it_does(self) -> None:
        async with self.opened() as engine:
            moment = engine.clock.now() + HOUR
            job = engine.jobs.at(moment, "note", "a")
            assert engine.jobs.cancel(job.id)
            assert not engine.jobs.cancel(job.id)
            assert engine.jobs.list() == ()
            engine.jobs.at(moment, "note", "a")
            await engine.passes(3600)
            assert engine.ran == [job.id]
            assert not engine.jobs.cancel(job.id)
            assert not engine.jobs.cancel("note:nobody:0")

    async def test_moved_it_runs_at_the_new_moment_alone(self) -> None:
        async with self.opened() as engine:
            job = engine.jobs.at(engine.clock.now() + HOUR, "note", "a")
            assert engine.jobs.move(job.id, engine.clock.now() + 3 * HOUR)
            await engine.passes(2 * 3600)
            assert engine.ran == []
            await engine.passes(3600)
            assert engine.ran == [job.id]
            assert not engine.jobs.move(job.id, engine.clock.now() + HOUR)

    async def test_a_queue_runs_in_the_order_of_its_moments(self) -> None:
        async with self.opened() as engine:
            for ref, minutes in (("c", 30), ("a", 10), ("b", 20), ("d", 30)):
                moment = engine.clock.now() + timedelta(minutes=minutes)
                engine.jobs.at(moment, "note", ref, queue="talk")
            await engine.passes(3600)
            assert [name.split(":")[1] for name in engine.ran] == ["a", "b", "c", "d"]

    async def test_what_recurs_runs_each_hour_without_drifting(self) -> None:
        async with self.opened() as engine:
            start = engine.clock.now() + HOUR
            engine.jobs.at(start, "hourly", "a")
            for _ in range(5 * 60):
                await engine.passes(60)
            assert len(engine.ran) == 5
            assert engine.jobs.list()[0].due == start + 5 * HOUR

    async def test_a_restart_loses_nothing_and_repeats_nothing_that_ended(self) -> None:
        async with self.opened() as engine:
            done = engine.jobs.start("note", "done")
            waiting = engine.jobs.at(engine.clock.now() + HOUR, "note", "waiting")
            await engine.passes(1)
            await engine.restart()
            await engine.passes(3600)
            assert engine.ran == [done.id, waiting.id]

    async def test_a_killed_engine_is_followed_by_another_once_its_lease_ends(self) -> None:
        async with self.opened() as engine:
            done = engine.jobs.start("note", "done")
            held = engine.jobs.start(HELD, "a")
            behind = engine.jobs.at(engine.clock.now() + timedelta(minutes=1), "note", "b")
            hourly = engine.jobs.at(engine.clock.now() + timedelta(minutes=2), "hourly", "c")
            await engine.passes(1)
            assert sorted(engine.ran) == sorted([done.id, held.id])
            await engine.kill()
            jobs = await engine.take_over()
            for _ in range(9):  # what the dead one began may still be under way
                await engine.passes(60)
            assert len(engine.ran) == 2
            assert names(jobs.list()) == [held.id, behind.id, hourly.id]
            for _ in range(3):
                await engine.passes(60)
            assert sorted(engine.ran[2:]) == sorted([held.id, behind.id, hourly.id])
            assert sorted(names(jobs.history())) == sorted([done.id, *engine.ran[2:]])
            again = jobs.get(held.id)
            assert again is not None
            assert again.attempts == 2
            assert [job.due for job in jobs.list()] == [hourly.due + HOUR]
            await engine.passes(600)
            assert len(engine.ran) == 5  # and nothing of it once more

    async def test_one_of_a_kind_is_ensured_and_comes_earlier_where_it_should(self) -> None:
        async with self.opened() as engine:
            now = engine.clock.now()
            first = engine.jobs.ensure(now + 2 * HOUR, "note", "a")
            assert engine.jobs.ensure(now + 3 * HOUR, "note", "a").due == now + 2 * HOUR
            assert engine.jobs.ensure(now + HOUR, "note", "a").due == now + HOUR
            await engine.passes(3600)
            assert engine.ran == [first.id]

    async def test_history_is_of_a_kind_and_thing_the_newest_first(self) -> None:
        async with self.opened() as engine:
            for ref in ("a", "b", "a"):
                engine.jobs.start("note", ref)
                await engine.passes(60)
            assert [job.ref for job in engine.jobs.history()] == ["a", "b", "a"]
            assert [job.ref for job in engine.jobs.history("note", "b")] == ["b"]
            assert len(engine.jobs.history(most=2)) == 2
            assert engine.jobs.history("hourly") == ()
            assert engine.jobs.get(engine.jobs.history()[0].id) == engine.jobs.history()[0]
            assert engine.jobs.get("nobody") is None
