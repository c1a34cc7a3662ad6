"""Work at once and in the background: progress, second runs, stopping, failures (spec 5.2)."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from silas.errors import ChannelError, DatabaseError, SandboxError, SilasError
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.sandbox import SandboxFiles, SandboxLimits, SandboxResult, SandboxUnavailable
from silas.testing import FakeSandbox, ScriptExhausted, a_plan, plan_text
from silas.testing.tools import SandboxRun, exit_result
from silas.work.models import AlreadyRunning, Notify, ProgressEvent
from silas.work.uninterrupted import finish_work
from silas.workspace.copy import Workspace
from tests.support.waits import SECONDS
from tests.work.kit import DONE, Work, argv, at_work, owner, sh

FOREVER = sh("echo half > result.txt; (setsid sh -c 'while :; do :; done' &) ; sleep 3600")


class HangingSandbox:
    """A sandbox whose runs never end by themselves."""

    name = "hanging"

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.killed = 0

    async def run(self, argv: Any, limits: SandboxLimits, files: SandboxFiles) -> SandboxResult:
        """Say that it began, and wait."""
        (files.mounts[0].source / "result.txt").write_text("half")
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.killed += 1
        raise AssertionError


def good(run: SandboxRun) -> SandboxResult:
    return exit_result(stdout="done")


async def test_dispatch_returns_at_once_and_the_result_can_be_waited_for() -> None:
    async with (
        at_work(argv("true"), DONE, sandbox=FakeSandbox(good)) as work,
        asyncio.timeout(SECONDS),
    ):
        item = await work.approve(a_plan())
        work.silas.executor.dispatch(item, work.notify)
        assert work.silas.executor.running() == (item.id,)
        assert not work.told
        waited = await work.silas.wait(item.id)
        assert waited is not None
        assert waited.status is WorkItemStatus.done
        assert work.silas.executor.running() == ()
        # the same answer for whoever asks later, and none for what nobody knows
        assert await work.silas.wait(item.id) == waited
        assert await work.silas.wait("task-unknown") is None
    assert work.told == [
        ProgressEvent(item.id, "running", "attempt 1", 1),
        ProgressEvent(item.id, "done", "Done and verified: written.", 1),
    ]


def _dispatching(work: Work) -> Callable[[WorkItem, Notify], Coroutine[Any, Any, None]]:
    async def dispatch(item: WorkItem, notify: Notify) -> None:
        work.silas.executor.dispatch(item, notify)

    return dispatch


@pytest.mark.parametrize("first", ["dispatch", "execute"])
@pytest.mark.parametrize("second", ["dispatch", "execute"])
async def test_a_second_run_of_the_same_item_is_refused(first: str, second: str) -> None:
    sandbox = HangingSandbox()
    async with at_work(argv("true"), sandbox=sandbox) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan())
        executor = work.silas.executor
        running: list[asyncio.Task[WorkItemResult]] = []
        if first == "dispatch":
            executor.dispatch(item, work.notify)
        else:
            running.append(asyncio.create_task(executor.execute(item, work.notify)))
        await sandbox.begun.wait()
        begin = executor.execute if second == "execute" else _dispatching(work)
        with pytest.raises(AlreadyRunning) as refused:
            await begin(item, work.notify)
        assert refused.value.message == "task-example is running already."
        assert (await work.stored()).status is WorkItemStatus.running
        assert await work.silas.cancel(item.id)
        for task in running:
            result = await task
            assert result.status is WorkItemStatus.paused
            assert result.summary == "Stopped; nothing of it was applied."


async def test_cancelling_kills_the_sandbox_and_leaves_the_item_paused(tmp_path: Path) -> None:
    sandbox = HangingSandbox()
    (tmp_path / "result.txt").write_text("before")
    async with at_work(argv("true"), sandbox=sandbox) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan(workspace=str(tmp_path)))
        work.silas.executor.dispatch(item, work.notify)
        waiting = asyncio.create_task(work.silas.wait(item.id))
        await sandbox.begun.wait()
        assert await work.silas.cancel(item.id)
        assert sandbox.killed == 1
        assert (await work.stored()).status is WorkItemStatus.paused
        result = await waiting
        assert result is not None
        assert result.status is WorkItemStatus.paused
        events = await work.events()
        assert events.index("tool_call.unknown") < events.index("work_item_cancelled")
        assert not await work.silas.cancel(item.id)
        assert not list((work.harness.config.data_dir / "scratch").iterdir())
    assert (tmp_path / "result.txt").read_text() == "before"


async def test_cancelling_ends_real_processes_and_touches_nothing(tmp_path: Path) -> None:
    async with at_work(FOREVER) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan(workspace=str(tmp_path)))
        work.silas.executor.dispatch(item, work.notify)
        while "tool_call.attempted" not in await work.events():
            await asyncio.sleep(0)
        assert await work.silas.cancel(item.id)
        assert (await work.stored()).status is WorkItemStatus.paused
    assert not list(tmp_path.iterdir())


async def test_work_that_is_cancelled_before_it_begins_is_paused_too() -> None:
    async with at_work(sandbox=FakeSandbox(good)) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan())
        work.silas.executor.dispatch(item, work.notify)
        assert await work.silas.cancel(item.id)
        assert (await work.stored()).status is WorkItemStatus.paused
        assert "work_item_cancelled" in await work.events()


async def test_a_cancellation_that_comes_while_changes_are_applied_comes_too_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, applying, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    apply = Workspace.apply

    def slowly(self: Workspace, undo_dir: Path, note: str) -> Any:
        loop.call_soon_threadsafe(applying.set)
        assert go_on.wait(SECONDS)
        return apply(self, undo_dir, note)

    monkeypatch.setattr(Workspace, "apply", slowly)
    async with at_work(sh("echo done > result.txt"), DONE) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan(workspace=str(tmp_path)))
        work.silas.executor.dispatch(item, work.notify)
        await applying.wait()
        cancelling = asyncio.create_task(work.silas.cancel(item.id))
        await asyncio.sleep(0)
        go_on.set()
        assert not await cancelling
        result = await work.silas.wait(item.id)
        assert result is not None
        assert result.status is (await work.stored()).status is WorkItemStatus.done
        assert (tmp_path / "result.txt").read_text() == "done\n"
        await work.silas.undo(item.id)
    assert not list(tmp_path.iterdir())


async def test_a_cancellation_that_comes_while_the_end_is_told_comes_too_late() -> None:
    telling = asyncio.Event()

    async def slowly(event: ProgressEvent) -> None:
        if event.status == "done":
            telling.set()
            await asyncio.Event().wait()

    async with (
        at_work(argv("true"), DONE, sandbox=FakeSandbox(good)) as work,
        asyncio.timeout(SECONDS),
    ):
        item = await work.approve(a_plan())
        work.silas.executor.dispatch(item, slowly)
        await telling.wait()
        assert not await work.silas.cancel(item.id)
        result = await work.silas.wait(item.id)
        assert result is not None
        assert result.status is (await work.stored()).status is WorkItemStatus.done


async def test_stopping_cancels_everything_and_waits() -> None:
    sandbox = HangingSandbox()
    async with (
        at_work(argv("true"), argv("true"), sandbox=sandbox) as work,
        asyncio.timeout(SECONDS),
    ):
        items = [await work.approve(a_plan(id=f"task-{n}")) for n in range(3)]
        for item in items[:2]:
            work.silas.executor.dispatch(item, work.notify)
        await sandbox.begun.wait()
        work.silas.executor.dispatch(items[2], work.notify)
        await work.silas.executor.stop()
        assert work.silas.executor.running() == ()
        statuses = {(await work.stored(item.id)).status for item in items}
        assert statuses == {WorkItemStatus.paused}
        await work.silas.executor.stop()


async def test_cancelling_who_waits_for_work_at_hand_stops_the_work() -> None:
    sandbox = HangingSandbox()
    async with at_work(argv("true"), sandbox=sandbox) as work, asyncio.timeout(SECONDS):
        running = asyncio.create_task(work.silas.run(plan_text()))
        await sandbox.begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert sandbox.killed == 1
        assert (await work.stored()).status is WorkItemStatus.paused


async def test_cancelling_who_waits_for_background_work_does_not_stop_it() -> None:
    sandbox = HangingSandbox()
    async with at_work(argv("true"), sandbox=sandbox) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan())
        work.silas.executor.dispatch(item, work.notify)
        await sandbox.begun.wait()
        waiting = asyncio.create_task(work.silas.wait(item.id))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert work.silas.executor.running() == (item.id,)
        assert not sandbox.killed


def _raising(error: Exception) -> Callable[[SandboxRun], SandboxResult]:
    def answer(run: SandboxRun) -> SandboxResult:
        raise error

    return answer


FAULTS: dict[str, tuple[Exception, WorkItemStatus, str]] = {
    "no sandbox": (
        SandboxUnavailable("There is no bwrap; install it.", code="E_SANDBOX_MISSING"),
        WorkItemStatus.blocked,
        "There is no bwrap; install it.",
    ),
    "a sandbox that breaks off": (
        SandboxError("The supervisor died.", code="E_SANDBOX_SUPERVISOR"),
        WorkItemStatus.blocked,
        "The supervisor died.",
    ),
    "a tool that breaks off": (
        KeyError("x"),
        WorkItemStatus.blocked,
        "whether the call took effect is unknown",
    ),
    "a full disk": (
        DatabaseError("The disk is full.", code="E_DB_OPERATION"),
        WorkItemStatus.failed,
        "The disk is full.",
    ),
}


@pytest.mark.proves("S18.1-SANDBOX")
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("how", ["dispatch", "execute"])
async def test_no_fault_of_the_sandbox_leaves_an_item_running(how: str, name: str) -> None:
    error, status, words = FAULTS[name]
    sandbox = FakeSandbox(_raising(error))
    async with at_work(argv("true"), DONE, sandbox=sandbox) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan())
        if how == "dispatch":
            work.silas.executor.dispatch(item, work.notify)
            result = await work.silas.wait(item.id)
        else:
            result = await work.execute(item)
        assert result is not None
        assert result.status is status
        assert words in result.summary
        assert (await work.stored()).status is status
        assert await work.silas.store.get_result(item.id) == result
        assert work.told[-1] == ProgressEvent(item.id, status.value, result.summary, 1)
        assert "execution_failed" in await work.events()


async def test_a_mistake_in_background_work_is_told_and_recorded() -> None:
    async with at_work(sandbox=FakeSandbox(good)) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan())
        work.silas.executor.dispatch(item, work.notify)  # the model has no script: a fault
        result = await work.silas.wait(item.id)
        assert result is not None
        assert (result.status, result.summary) == (
            WorkItemStatus.failed,
            "Silas itself failed (ScriptExhausted).",
        )
        assert work.told[-1].status == "failed"
        stored = await work.stored()
        assert stored.status is WorkItemStatus.failed
        kept = await work.silas.wait(item.id)
        assert kept is not None
        assert "ScriptExhausted" in kept.summary


async def test_a_mistake_in_work_at_hand_is_recorded_and_shown() -> None:
    async with at_work(sandbox=FakeSandbox(good)) as work:
        with pytest.raises(ScriptExhausted):
            await work.run()
        assert (await work.stored()).status is WorkItemStatus.failed


async def test_a_database_that_fails_to_the_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_work(sandbox=FakeSandbox(good)) as work, asyncio.timeout(SECONDS):
        item = await work.approve(a_plan())

        async def full(saved: WorkItem) -> None:
            raise DatabaseError("The disk is full; free it.", code="E_DB_OPERATION")

        with monkeypatch.context() as patched:
            patched.setattr(work.silas.store, "save", full)
            work.silas.executor.dispatch(item, work.notify)
            result = await work.silas.wait(item.id)
        assert result is not None
        assert result.summary == "The disk is full; free it. [E_DB_OPERATION]"
        assert work.told[-1].message == result.summary


@pytest.mark.parametrize("error", [ChannelError("gone"), ValueError("broken")], ids=repr)
async def test_a_listener_that_fails_changes_nothing(error: Exception, tmp_path: Path) -> None:
    async def deaf(event: ProgressEvent) -> None:
        raise error

    async with at_work(sh("echo done > result.txt"), DONE) as work:
        item = await work.approve(a_plan(workspace=str(tmp_path)))
        result = await work.silas.executor.execute(item, deaf)
        assert result.status is (await work.stored()).status is WorkItemStatus.done
        told = await work.record("progress_untold")
        assert [data["why"] for _, data in told] == [type(error).__name__] * 2
    assert (tmp_path / "result.txt").read_text() == "done\n"


async def ignore_progress(event: ProgressEvent) -> None:
    del event


async def test_nobody_has_to_listen() -> None:
    async with at_work(argv("true"), DONE, sandbox=FakeSandbox(good)) as work:
        item = await work.approve(a_plan())
        result = await work.silas.executor.execute(item, ignore_progress)
        assert result.status is WorkItemStatus.done


async def test_a_run_from_a_plans_text_walks_the_same_road(tmp_path: Path) -> None:
    channel = owner()
    async with at_work(sh("echo done > result.txt"), DONE, channel=channel) as work:
        result = await work.silas.run(plan_text(workspace=str(tmp_path)))
        assert result.status is WorkItemStatus.done
        assert channel.texts == [
            "working: attempt 1",
            "The executor's report (its own words; on record: 1 call ran):\n    Did it.",
            "done: Done and verified: written.",
        ]
        assert (await work.harness.audit.verify_chain()).valid
    assert (tmp_path / "result.txt").read_text() == "done\n"


async def test_a_declined_plan_is_never_started() -> None:
    sandbox = FakeSandbox(good)
    async with at_work(channel=owner(plan=False), sandbox=sandbox) as work:
        result = await work.silas.run(plan_text())
        assert result.status is WorkItemStatus.blocked
        assert not sandbox.runs
        assert "work_item_attempt" not in await work.events()


class TestUnbroken:
    async def test_it_ends_before_the_cancellation_goes_on(self) -> None:
        go_on, ended = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            await go_on.wait()
            ended.set()

        task = await self.cancelled_twice(work())
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    async def test_its_own_failure_is_the_cause(self) -> None:
        go_on = asyncio.Event()

        async def work() -> None:
            await go_on.wait()
            raise SilasError("broken")

        task = await self.cancelled_twice(work())
        go_on.set()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        assert isinstance(cancelled.value.__cause__, SilasError)

    async def test_without_a_cancellation_it_is_nothing(self) -> None:
        async def work(error: bool) -> int:
            if error:
                raise SilasError("broken")
            return 7

        assert await finish_work(work(error=False)) == 7
        with pytest.raises(SilasError):
            await finish_work(work(error=True))

    async def cancelled_twice(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(finish_work(work))
        for _ in range(2):
            await asyncio.sleep(0)
            task.cancel()
        await asyncio.sleep(0)
        return task
