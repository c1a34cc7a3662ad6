"""Whoever leaves can wait for the work that was started."""

import asyncio
from pathlib import Path

from silas.cards import PlanAnswer
from silas.testing import Harness, ScriptedChannel
from tests.support.waits import SECONDS


async def test_settled_returns_when_the_work_under_way_has_ended(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("x")
    channel = ScriptedChannel(lambda card: PlanAnswer(verdict="approved"))
    async with Harness(channel) as harness:
        reply = await harness.silas.ask(f"list the files of {tmp_path}")
        assert reply.outcome == "dispatched"
        assert reply.plan is not None
        await asyncio.wait_for(harness.silas.wait_for_work(), SECONDS)
        assert harness.silas.executor.running() == ()
        result = await harness.silas.wait(reply.plan.id)
    assert result is not None
    assert result.status == "done"


async def test_with_nothing_under_way_it_returns_at_once() -> None:
    async with Harness() as harness:
        await asyncio.wait_for(harness.silas.wait_for_work(), SECONDS)
