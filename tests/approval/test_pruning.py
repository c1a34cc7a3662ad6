"""Nonces go when they can authorise nothing any more, while Silas runs."""

import pytest

from silas.db import Database
from silas.testing import Harness


@pytest.mark.proves("S4.5-PRUNED-ON-SCHEDULE")
async def test_a_running_silas_forgets_message_nonces_after_their_time() -> None:
    async with Harness() as harness:
        await harness.silas.ask("hello")

        def kept() -> int:
            database = Database(harness.config.data_dir / "silas.db", harness.clock)
            with database.read() as tx:
                found = tx.driver.execute("SELECT count(*) FROM approval_nonces").fetchone()
            database.close()
            return int(found[0])

        assert kept() == 1
        await harness.clock.sleep(0)
        harness.clock.advance(10 * 60)
        await harness.clock.sleep(0)
        assert kept() == 1
        harness.clock.advance(60 * 60)
        await harness.clock.sleep(0)
        await harness.clock.sleep(0)
        assert kept() == 0
