"""Who may resume: only a process that is alone, whatever order others come and go in."""

import asyncio
import fcntl
import os
from pathlib import Path

import pytest

from silas.home.lease import Lease
from tests.support.waits import SECONDS


async def enter(folder: Path) -> Lease:
    return await asyncio.wait_for(Lease(folder).__aenter__(), SECONDS)


async def test_the_first_is_alone_and_the_second_is_not(tmp_path: Path) -> None:
    first = await enter(tmp_path)
    assert first.alone
    first.settle()
    second = await enter(tmp_path)
    assert not second.alone
    for lease in (first, second):
        await lease.__aexit__()
    async with Lease(tmp_path) as third:
        assert third.alone


async def test_the_one_that_stays_keeps_a_later_one_from_being_alone(tmp_path: Path) -> None:
    first = await enter(tmp_path)
    first.settle()
    second = await enter(tmp_path)
    second.settle()
    await first.__aexit__()  # the first that came is the first that goes
    third = await enter(tmp_path)
    assert not third.alone
    for lease in (second, third):
        await lease.__aexit__()


async def test_others_wait_while_one_recovers(tmp_path: Path) -> None:
    first = await enter(tmp_path)
    second = asyncio.create_task(enter(tmp_path))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not second.done()
    first.settle()
    entered = await asyncio.wait_for(second, SECONDS)
    assert not entered.alone
    for lease in (first, entered):
        await lease.__aexit__()


async def test_a_recovery_that_fails_lets_the_next_one_recover(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Lease(tmp_path):
            raise ZeroDivisionError
    async with Lease(tmp_path) as next_one:
        assert next_one.alone


async def test_whoever_finds_the_door_taken_does_not_try_to_be_alone(tmp_path: Path) -> None:
    door = os.open(tmp_path / "silas.door", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(door, fcntl.LOCK_EX)  # somebody is between recovery and staying
    try:
        entered = await enter(tmp_path)
        assert not entered.alone
        await entered.__aexit__()
    finally:
        os.close(door)
