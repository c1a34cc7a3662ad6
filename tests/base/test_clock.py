"""A time limit on a clock that only moves when it is told."""

import asyncio

import pytest

from silas.clock import SystemClock, TimeLimitReached, time_limit
from silas.testing import MockClock
from tests.support.waits import SECONDS


async def limited(clock: MockClock, reached: asyncio.Event, result: asyncio.Future[str]) -> str:
    async with time_limit(clock, 3600):
        reached.set()
        return await result


async def test_work_is_broken_off_when_the_clock_says_so_and_not_before() -> None:
    clock, reached = MockClock(), asyncio.Event()
    work = asyncio.create_task(limited(clock, reached, asyncio.Future()))
    async with asyncio.timeout(SECONDS):
        await reached.wait()
        await clock.sleep(0)
        clock.advance(3599.9)
        await asyncio.sleep(0)
        assert not work.done()
        clock.advance(0.1)
        with pytest.raises(TimeoutError):
            await work


async def test_what_ends_in_time_is_not_broken_off_and_leaves_nobody_waiting() -> None:
    clock, reached = MockClock(), asyncio.Event()
    result = asyncio.Future[str]()
    work = asyncio.create_task(limited(clock, reached, result))
    async with asyncio.timeout(SECONDS):
        await reached.wait()
        result.set_result("done")
        assert await work == "done"
        clock.advance(7200)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_timeout_of_the_works_own_is_not_taken_for_the_limit() -> None:
    with pytest.raises(TimeoutError) as error:
        async with time_limit(MockClock(), 3600):
            raise TimeoutError
    assert error.type is TimeoutError


async def test_no_time_at_all_is_over_at_once_on_the_machines_clock() -> None:
    with pytest.raises(TimeLimitReached):
        async with asyncio.timeout(SECONDS), time_limit(SystemClock(), 0):
            await asyncio.Event().wait()
