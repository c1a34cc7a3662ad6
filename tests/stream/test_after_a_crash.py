"""After a crash one message says what is true of a request, and what is to be done about it."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

from silas.cards import Card, PlanCard
from silas.plans import WorkItemStatus
from silas.testing import Harness, MockClock, ScriptedChannel, a_plan, plan_text
from silas.types import OWNER
from tests.stream.kit import done_sandbox, planned, proposing, saying_yes, soon
from tests.support.waits import SECONDS

PIPES = shutil.ignore_patterns("*.pipe")  # of a process that runs; nothing is kept in them


class AtTheCard(ScriptedChannel):
    """An owner who has the plan's card before him and does not answer."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = asyncio.Event()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        assert isinstance(card, PlanCard)
        self.shown.set()
        return await asyncio.Event().wait()


async def test_a_request_whose_plan_waits_is_not_to_be_said_once_more(tmp_path: Path) -> None:
    home, left, clock = tmp_path / "home", tmp_path / "left", MockClock()
    home.mkdir()
    channel = AtTheCard()
    models = planned(proposing(plan_text()), executor=[])
    async with Harness(channel, models=models, home=home, clock=clock, sandbox=done_sandbox()) as h:
        asking = asyncio.create_task(h.silas.ask("do it"))
        await asyncio.wait_for(channel.shown.wait(), SECONDS)
        shutil.copytree(home, left, ignore=PIPES)  # what a process that is killed now leaves
        asking.cancel()
        await asyncio.wait([asking])
    for resume in (False, True):
        found = tmp_path / f"found-{resume}"
        shutil.copytree(left, found)
        after = ScriptedChannel()
        async with Harness(after, home=found, clock=clock, resume=resume) as h:
            [told] = after.texts
            assert [item.id for item in await h.silas.runs.proposer.waiting()] == ["task-example"]
        assert "“do it”" in told
        assert "It still waits" in told
        assert "`silas approve task-example`" in told
        assert "say it once more" not in told


async def test_work_that_was_interrupted_in_its_only_attempt_says_so_and_no_budget_that_is_left(
    tmp_path: Path,
) -> None:
    clock, channel = MockClock(), ScriptedChannel(saying_yes)
    async with Harness(channel, home=tmp_path, clock=clock, sandbox=done_sandbox()) as h:
        item = a_plan(budget={"max_attempts": 1})
        await soon(h.silas.runs.proposer.propose(item, channel, OWNER, "why"))
        item.status, item.attempts = WorkItemStatus.running, 1
        item.budget_used = item.budget_used.model_copy(update={"attempts": 1})
        await h.store.save(item)
    async with Harness(home=tmp_path, clock=clock, sandbox=done_sandbox()) as h:
        result = await soon(h.silas.wait("task-example"))
    assert result is not None
    assert result.status is WorkItemStatus.stuck
    assert result.summary.startswith("It was interrupted in its only attempt")
    assert "tokens" not in result.summary
    assert "`silas run` its plan again" in result.summary
