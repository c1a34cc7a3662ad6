"""What is in view says on which day it was, so that "the report of yesterday" has a meaning."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from silas.testing import Harness, MockClock, ScriptedChannel, plan_text
from tests.stream.kit import answer, done_sandbox, planned, proposing, saying_yes, soon


async def test_after_a_restart_words_and_work_are_shown_with_their_day(tmp_path: Path) -> None:
    clock = MockClock(datetime(2026, 11, 27, 23, 30, tzinfo=UTC))
    settings = {"scheduler": {"timezone": "Europe/Vienna"}}
    models = planned(proposing(plan_text()))
    async with Harness(
        ScriptedChannel(saying_yes),
        models=models,
        sandbox=done_sandbox(),
        home=tmp_path,
        clock=clock,
        settings=settings,
    ) as h:
        await soon(h.silas.ask("write the report"))
        await soon(h.silas.wait("task-example"))
    clock.advance(timedelta(days=1).total_seconds())
    models = planned(answer("The report."))
    async with Harness(
        ScriptedChannel(saying_yes), models=models, home=tmp_path, clock=clock, settings=settings
    ) as h:
        await soon(h.silas.ask("write it once more"))
    shown = models["planner"].requests[0].text
    assert "--- turn 0 | user | 2026-11-28 00:30 | live ---\n[owner] " in shown
    assert "begun: 2026-11-28 00:30\nstatus: done" in shown
    assert "2026-11-29T00:30" in shown  # now
