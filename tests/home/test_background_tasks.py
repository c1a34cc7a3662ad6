"""What runs beside an open Silas ends with it, whatever ends it."""

import asyncio

import pytest

from silas.home.background_tasks import running


class _Work:
    """Runs until it is cancelled, and then takes a turn of the loop to tidy up."""

    def __init__(self) -> None:
        self.begun, self.tidied = asyncio.Event(), False

    async def run(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.tidied = True


async def test_what_runs_beside_is_over_when_silas_has_ended() -> None:
    one, two = _Work(), _Work()
    async with running(one.run(), two.run()):
        await one.begun.wait()
        await two.begun.wait()
    assert (one.tidied, two.tidied) == (True, True)


async def test_an_error_ends_what_runs_beside_and_is_told() -> None:
    work = _Work()

    async def fail() -> None:
        async with running(work.run()):
            await work.begun.wait()
            raise ValueError("port")

    with pytest.raises(ValueError, match="port"):
        await fail()
    assert work.tidied


async def test_nothing_may_run_beside() -> None:
    async with running():
        pass
