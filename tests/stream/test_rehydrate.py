"""After a restart: interrupted work goes on, under the same approval, in one process only."""

import sqlite3
from pathlib import Path

import pytest

from silas.plans import WorkItemStatus
from silas.testing import (
    CallTool,
    Harness,
    MockClock,
    ScriptedChannel,
    ScriptedModel,
    a_plan,
)
from silas.types import OWNER
from tests.stream.kit import done_sandbox, entries_of, ran, recorded, saying_yes, soon


def an_executor() -> dict[str, ScriptedModel]:
    return {"executor": ScriptedModel([CallTool("shell_exec", {"argv": ["true"]}), ran()])}


async def interrupted(home: Path, clock: MockClock, *, approved: bool = True) -> None:
    """Leave an item behind as a crash would: approved, started, and still `running`."""
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home, clock=clock, sandbox=done_sandbox()) as h:
        item = a_plan()
        if approved:
            proposal = await soon(h.silas.runs.proposer.propose(item, channel, OWNER, "why"))
            assert proposal.verdict == "approved"
        item.status = WorkItemStatus.running
        await h.store.save(item)


@pytest.mark.proves("S5.1-START-REHYDRATES", "S5.1.3-WORK-RESUMED")
async def test_running_work_is_resumed_after_a_restart(tmp_path: Path) -> None:
    clock, channel, sandbox = MockClock(), ScriptedChannel(), done_sandbox()
    await interrupted(tmp_path, clock)
    async with Harness(
        channel, models=an_executor(), home=tmp_path, clock=clock, sandbox=sandbox
    ) as h:
        result = await soon(h.silas.wait("task-example"))
        (found,) = await entries_of(h, "rehydrated")
        events = [event for event, _ in await recorded(h)]
        assert len(await entries_of(h, "approval.used")) == 1  # the same use, not another
    assert result is not None
    assert result.status is WorkItemStatus.done
    assert found["resumed"] == ["task-example"]
    assert events.index("rehydrated") < events.index("stream_started", 2)
    assert channel.cards == []
    assert (OWNER, "done: Done and verified: written.") in channel.sent


@pytest.mark.parametrize(("minutes", "status"), [(29, "done"), (31, "blocked")])
async def test_an_approval_that_expired_meanwhile_blocks_what_would_be_resumed(
    tmp_path: Path, minutes: int, status: str
) -> None:
    clock, sandbox = MockClock(), done_sandbox()
    await interrupted(tmp_path, clock)
    clock.advance(minutes * 60)
    async with Harness(models=an_executor(), home=tmp_path, clock=clock, sandbox=sandbox) as h:
        result = await soon(h.silas.wait("task-example"))
        blocked = await entries_of(h, "execution_blocked_no_approval")
    assert result is not None
    assert result.status.value == status
    assert bool(sandbox.runs) is (status == "done")
    assert bool(blocked) is (status == "blocked")


async def test_an_item_that_claims_to_run_without_an_approval_is_blocked(tmp_path: Path) -> None:
    clock, sandbox = MockClock(), done_sandbox()
    await interrupted(tmp_path, clock, approved=False)
    async with Harness(home=tmp_path, clock=clock, sandbox=sandbox) as h:
        result = await soon(h.silas.wait("task-example"))
    assert result is not None
    assert result.status is WorkItemStatus.blocked
    assert sandbox.runs == []


@pytest.mark.parametrize("again", ["running", "pending"])
async def test_what_ended_by_the_record_does_not_run_again_though_its_row_says_otherwise(
    tmp_path: Path, again: str
) -> None:
    clock, sandbox = MockClock(), done_sandbox()
    await interrupted(tmp_path, clock)
    async with Harness(models=an_executor(), home=tmp_path, clock=clock, sandbox=sandbox) as h:
        result = await soon(h.silas.wait("task-example"))
        assert result is not None
        assert result.status is WorkItemStatus.done
    ran_once = len(sandbox.runs)
    assert ran_once
    with sqlite3.connect(h.config.data_dir / "silas.db") as row:
        row.execute("UPDATE work_items SET status = ?, attempts = 0, budget_used = '{}'", (again,))
    row.close()
    async with Harness(models=an_executor(), home=tmp_path, clock=clock, sandbox=sandbox) as h:
        await soon(h.silas.wait_for_work())
        (found,) = await entries_of(h, "work_item_had_ended")
        item = await h.store.get("task-example")
    assert found == {"work_item_id": "task-example", "status": "done"}
    assert item is not None
    assert item.status is WorkItemStatus.done
    assert len(sandbox.runs) == ran_once


@pytest.mark.proves("B2-CHANGED-PLAN-REFUSED")
async def test_a_plan_that_was_changed_while_silas_was_away_is_blocked(tmp_path: Path) -> None:
    clock, sandbox = MockClock(), done_sandbox()
    await interrupted(tmp_path, clock)
    async with Harness(home=tmp_path, clock=clock, resume=False, sandbox=sandbox) as h:
        item = await h.store.get("task-example")
        assert item is not None
        item.body = "Delete everything."
        await h.store.save(item)
    async with Harness(home=tmp_path, clock=clock, sandbox=sandbox) as h:
        result = await soon(h.silas.wait("task-example"))
    assert result is not None
    assert result.status is WorkItemStatus.blocked
    assert sandbox.runs == []


async def test_only_the_process_with_the_lease_resumes(tmp_path: Path) -> None:
    clock, idle, sandbox = MockClock(), done_sandbox(), done_sandbox()
    async with Harness(home=tmp_path, clock=clock, sandbox=idle) as first:
        item = a_plan()
        channel = ScriptedChannel(saying_yes)
        await soon(first.silas.runs.proposer.propose(item, channel, OWNER, "why"))
        item.status = WorkItemStatus.running
        await first.store.save(item)
        async with Harness(home=tmp_path, clock=clock, sandbox=sandbox) as second:
            assert await soon(second.silas.wait("task-example")) is None
            assert await entries_of(second, "rehydrated") == []
    assert (idle.runs, sandbox.runs) == ([], [])
    async with Harness(models=an_executor(), home=tmp_path, clock=clock, sandbox=sandbox) as third:
        assert await soon(third.silas.wait("task-example")) is not None
    assert sandbox.runs


async def test_a_command_that_does_not_stay_leaves_interrupted_work_alone(tmp_path: Path) -> None:
    clock, sandbox = MockClock(), done_sandbox()
    await interrupted(tmp_path, clock)
    async with Harness(home=tmp_path, clock=clock, resume=False, sandbox=sandbox) as h:
        assert await soon(h.silas.wait("task-example")) is None
        kept = await h.store.get("task-example")
    assert kept is not None
    assert kept.status is WorkItemStatus.running
    assert sandbox.runs == []
