"""Nonces go when they can authorise nothing any more, while Silas runs."""

import pytest

from silas.db import Database
from silas.testing import Harness


def kept(harness: Harness) -> int:
    database = Database(harness.config.data_dir / "silas.db", harness.clock)
    with database.read() as tx:
        found = tx.driver.execute("SELECT count(*) FROM approval_nonces").fetchone()
    database.close()
    return int(found[0])


async def pass_minutes(harness: Harness, minutes: int) -> None:
    for _ in range(minutes):
        await harness.clock.sleep(0)
        harness.clock.advance(60)
    await harness.clock.sleep(0)
    await harness.clock.sleep(0)


@pytest.mark.proves("S4.5-PRUNED-ON-SCHEDULE")
async def test_a_running_silas_forgets_message_nonces_after_their_time() -> None:
    async with Harness() as harness:
        await harness.silas.ask("hello")
        assert kept(harness) == 1
        await pass_minutes(harness, 10)
        assert kept(harness) == 1
        await pass_minutes(harness, 60)
        assert kept(harness) == 0


async def test_a_nonce_outlives_its_message_however_short_the_retention_is_set() -> None:
    settings = {"nonce_store": {"ttl_minutes": 1, "prune_interval_minutes": 1}}
    async with Harness(settings=settings) as harness:
        await harness.silas.ask("hello")
        await pass_minutes(harness, 10)
        assert kept(harness) == 1
        await pass_minutes(harness, 15)
        assert kept(harness) == 0
