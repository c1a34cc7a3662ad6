"""A whole Silas that is stopped: nothing begins, what was approved is void, what hangs ends."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.approval import ApprovalToken, Verdict
from silas.audit.log import AuditLog
from silas.cards import PlanAnswer
from silas.db import Database
from silas.errors import ApprovalError, DatabaseError, Stopped
from silas.plans import WorkItemStatus, subject_of
from silas.sandbox import SandboxResult
from silas.services.emergency_stop import open_stop
from silas.stop import Sentinel, watch
from silas.stop.epochs import StopEpochs
from silas.testing import (
    FakeSandbox,
    FakeTool,
    Harness,
    MockClock,
    ScriptedChannel,
    ScriptedModel,
    a_plan,
)
from silas.testing.approval import a_decision, a_subject
from silas.testing.tools import SandboxRun, a_context, exit_result
from silas.tools import RiskLevel, ToolConfig, ValidatedCall
from tests.support.plans import a_workspace, check, sh_plan
from tests.support.waits import SECONDS
from tests.work.kit import DONE, at_work, owner, sh

T = TypeVar("T")


async def soon(what: Awaitable[T]) -> T:
    async with asyncio.timeout(SECONDS):
        return await what


async def until(holds: Callable[[], bool]) -> None:
    """Give other tasks, and the watching thread, their turn."""
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


def counted(patch: pytest.MonkeyPatch) -> list[bool]:
    """What each look of the watch finds from now on."""
    looks, stands = list[bool](), Sentinel.stands

    def look(sentinel: Sentinel) -> bool:
        looks.append(stands(sentinel))
        return looks[-1]

    patch.setattr(Sentinel, "stands", look)
    return looks


def sentinel_of(h: Harness) -> Sentinel:
    return Sentinel(h.config.data_dir)


async def resume(h: Harness) -> list[str]:
    """What `silas resume` does, beside a Silas that lives."""
    with open_stop(h.config) as service:
        return await service.resume()


async def events(h: Harness) -> list[str]:
    assert isinstance(h.audit, AuditLog)
    return [json.loads(entry.body)["event"] for entry in await h.audit.entries(0, 10_000)]


async def a_yes(h: Harness) -> ApprovalToken:
    token = await h.approval.issue_token(a_subject(), a_decision())
    assert await h.approval.verify(token, a_subject())
    assert await h.approval.check(token, a_subject())
    return token


async def test_while_stopped_nothing_is_asked_run_or_approved() -> None:
    async with Harness(owner()) as h:
        sentinel_of(h).place()
        with pytest.raises(Stopped, match="silas resume"):
            await h.silas.ask("hello")
        with pytest.raises(Stopped):
            await h.silas.run(sh_plan("true"))
        with pytest.raises(Stopped):
            await h.approval.issue_token(a_subject(), a_decision())
        assert isinstance(h.channel, ScriptedChannel)
        assert h.channel.cards == []
        assert "turn_routed" not in await events(h)


@pytest.mark.proves("B10-STOPS")
async def test_a_token_from_before_the_stop_is_void_now_and_after_the_resume() -> None:
    async with Harness() as h:
        spent, unspent = await a_yes(h), await h.approval.issue_token(a_subject(), a_decision())
        sentinel_of(h).place()
        for verdict in (
            await h.approval.check(spent, a_subject()),
            await h.approval.verify(unspent, a_subject()),
        ):
            assert (verdict.valid, verdict.code) == (False, "E_APPROVAL_STOPPED")
        await resume(h)
        for verdict in (
            await h.approval.check(spent, a_subject()),
            await h.approval.verify(unspent, a_subject()),
        ):
            assert (verdict.valid, verdict.code) == (False, "E_APPROVAL_VOID")
        await a_yes(h)  # and a new one is as good as any


@pytest.mark.parametrize("step", [timedelta(days=-1), timedelta(minutes=1)])
async def test_setting_the_clock_brings_no_void_token_back(step: timedelta) -> None:
    clock = MockClock()
    async with Harness(clock=clock) as h:
        ahead = await h.approval.issue_token(a_subject(), a_decision())
        clock.advance(step.total_seconds())
        sentinel_of(h).place()
        await resume(h)
        verdict = await h.approval.verify(ahead, a_subject())
        assert (verdict.valid, verdict.code) == (False, "E_APPROVAL_VOID")


async def test_a_condition_that_pretends_to_be_newer_cannot_be_given() -> None:
    async with Harness() as h:
        with pytest.raises(ApprovalError, match="computed and cannot be given"):
            await h.approval.issue_token(a_subject(), a_decision(), conditions={"stops": 1})


@pytest.mark.proves("B10-STAYS-STOPPED")
async def test_a_file_that_gets_lost_is_made_again_at_the_next_start(tmp_path: Path) -> None:
    async with Harness(home=tmp_path) as h:
        sentinel = sentinel_of(h)
        sentinel.place()
        with open_stop(h.config) as service:
            service.record()
        sentinel.path.unlink()
    async with Harness(home=tmp_path) as h:
        assert sentinel.stands()
        with pytest.raises(Stopped):
            await h.silas.ask("hello")
        await resume(h)
        assert not sentinel.stands()
    async with Harness(home=tmp_path) as h:
        assert (await h.silas.ask("hello")).outcome == "answered"


async def test_a_stop_is_on_record_once_however_often_it_is_given(tmp_path: Path) -> None:
    async with Harness(home=tmp_path) as h:
        sentinel_of(h).place()  # by hand: whoever notices records it
        for _ in range(3):
            with open_stop(h.config) as service:
                service.record()
        await resume(h)
        told = [event for event in await events(h) if event.startswith("emergency")]
        assert told == ["emergency.stopped", "emergency.resumed"]
        assert (await h.audit.verify_chain()).valid


async def test_a_resume_that_cannot_be_recorded_leaves_silas_stopped() -> None:
    async with Harness() as h:
        sentinel = sentinel_of(h)
        sentinel.place()
        db = Database(h.config.data_dir / "silas.db", h.clock)

        def full() -> None:
            raise DatabaseError("The disk is full.", code="E_DB_OPERATION")

        with closing(db), pytest.raises(DatabaseError):
            StopEpochs(db, h.clock, sentinel).resume(lambda: None, full)
        assert sentinel.stands()
        with pytest.raises(Stopped):
            await h.silas.ask("hello")


class Hanging(ScriptedModel):
    """A model that was asked and does not answer."""

    def __init__(self) -> None:
        super().__init__([])
        self.asked = asyncio.Event()

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("it never answers")


async def test_a_turn_whose_model_hangs_ends_when_the_stop_comes() -> None:
    model = Hanging()
    async with Harness(models={"proxy": model}) as h:
        turn = asyncio.create_task(h.silas.ask("hello"))
        await soon(model.asked.wait())
        sentinel_of(h).place()
        with pytest.raises(Stopped):
            await soon(turn)
        await resume(h)  # a Silas that lives through it works again
        again = asyncio.create_task(h.silas.ask("hello"))
        model.asked.clear()
        await soon(model.asked.wait())
        again.cancel()
        with pytest.raises(asyncio.CancelledError):
            await again


class Waits(threading.Event):
    """What the watch waits with, and for how long each time."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout)
        return super().wait(timeout)


async def test_where_there_is_nothing_to_end_the_watch_looks_less_often() -> None:
    async with Harness() as h:
        halt, before = h.silas.runs.halt, h.silas.runs.halt.begun
        halt.begun = waits = Waits()
        before.set()
        await until(lambda: watch.REST_SECONDS in waits.seconds)
        ended = asyncio.Event()
        work = asyncio.create_task(halt.run_unless_stopped(ended.wait))
        await until(lambda: waits.seconds[-2:] == [watch.PERIOD_SECONDS] * 2)
        ended.set()
        await soon(work)
        await until(lambda: waits.seconds[-1] == watch.REST_SECONDS)
        sentinel_of(h).place()
        await until(lambda: waits.seconds[-2:] == [watch.PERIOD_SECONDS] * 2)


@pytest.mark.proves("B10-STOPS")
async def test_work_that_begins_does_not_wait_for_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "REST_SECONDS", 100 * SECONDS)
    model = Hanging()
    async with Harness(models={"proxy": model}) as h:
        await until(lambda: not h.silas.runs.halt.busy)
        turn = asyncio.create_task(h.silas.ask("hello"))
        await soon(model.asked.wait())
        sentinel_of(h).place()
        with pytest.raises(Stopped):
            await soon(turn)


@pytest.mark.proves("B10-STOPS")
async def test_work_whose_model_hangs_is_paused_and_says_why() -> None:
    model = Hanging()
    async with Harness(owner(), models={"executor": model}) as h:
        run = asyncio.create_task(h.silas.run(sh_plan("true", id="task-hang")))
        await soon(model.asked.wait())
        sentinel_of(h).place()
        result = await soon(run)
        assert result.status is WorkItemStatus.paused
        assert "needs a new approval" in result.summary
        stored = await h.store.get("task-hang")
        assert stored is not None
        assert stored.status is WorkItemStatus.paused
        assert await h.silas.wait("task-hang") == result


async def test_a_question_that_is_open_when_the_stop_comes_is_no_answer() -> None:
    asked = asyncio.Event()

    class Thinking(ScriptedChannel):
        async def ask(self, to: str, card: Any) -> Any:
            self.cards.append(card)
            asked.set()
            await asyncio.Event().wait()

    async with Harness(Thinking()) as h:
        run = asyncio.create_task(h.silas.run(sh_plan("true")))
        await soon(asked.wait())
        sentinel_of(h).place()
        with pytest.raises(Stopped):
            await soon(run)
        assert "approval.issued" not in await events(h)


async def test_a_yes_that_is_given_after_the_stop_is_not_signed() -> None:
    def stop_and_agree(card: Any) -> Any:
        sentinel_of(h).place()
        return PlanAnswer(verdict="approved")

    async with Harness(ScriptedChannel(stop_and_agree)) as h:
        with pytest.raises(Stopped):
            await h.silas.run(sh_plan("true"))
        assert "approval.issued" not in await events(h)


async def test_the_tool_door_refuses_before_its_first_step_and_says_so() -> None:
    async with Harness() as h:
        tool = FakeTool("look")
        h.silas.registry.register(tool, ToolConfig(connector_id="t", risk_default=RiskLevel.low))
        assert (await h.tools.call("look", "run", {}, a_context())).ok
        sentinel_of(h).place()
        for name in ("look", "no such tool"):
            with pytest.raises(Stopped):
                await h.tools.call(name, "run", {}, a_context())
        assert len(tool.calls) == 1
        assert (await events(h)).count("gate.stopped") == 2


async def test_the_tool_door_asks_again_after_what_may_have_waited_for_a_person() -> None:
    async with Harness() as h:
        tool = FakeTool("act", requires_authority=True)
        h.silas.registry.register(tool, ToolConfig(connector_id="t", risk_default=RiskLevel.low))

        async def waits_for_a_person(call: ValidatedCall) -> Verdict:
            sentinel_of(h).place()
            return Verdict(True, "")

        with pytest.raises(Stopped):
            await h.tools.call("act", "run", {}, a_context(authorise=waits_for_a_person))
        assert tool.calls == []
        assert "tool_call.attempted" not in await events(h)


async def test_what_was_verified_is_not_applied_once_the_stop_is_there(tmp_path: Path) -> None:
    place = a_workspace(tmp_path / "work")

    def stopping_in_the_check(run: SandboxRun) -> SandboxResult:
        if "true" in run.argv[-1]:
            Sentinel(work.harness.config.data_dir).place()
        else:
            copy = next(m.source for m in run.files.mounts if m.target == place)
            (copy / "result.txt").write_text("new")
        return exit_result(stdout="done")

    sandbox = FakeSandbox(stopping_in_the_check)
    async with at_work(sh("change"), DONE, sandbox=sandbox) as work:
        verify = check("true")
        result = await soon(work.run(workspace=str(place), verify=verify))
        assert result.status is WorkItemStatus.paused
        assert len(sandbox.runs) == 2
        assert "workspace_applying" not in await work.events()
    assert [path.name for path in place.iterdir()] == ["input.txt"]


async def test_interrupted_work_does_not_restart_with_a_void_approval(tmp_path: Path) -> None:
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with Harness(home=tmp_path, sandbox=sandbox) as h:
        item = a_plan(id="task-cut-off")
        token = await h.approval.issue_token(subject_of(item), a_decision())
        assert await h.approval.verify(token, subject_of(item))
        item.approval_token, item.status = token, WorkItemStatus.running
        await h.store.save(item)  # as a process leaves it that had to be ended
        sentinel_of(h).place()
    async with Harness(home=tmp_path, sandbox=sandbox) as h:  # nor does a start while stopped
        assert h.silas.executor.running() == ()
        assert await resume(h) == ["task-cut-off"]
    async with Harness(home=tmp_path, sandbox=sandbox) as h:
        assert h.silas.executor.running() == ()
        stored, result = await h.store.get("task-cut-off"), await h.silas.wait("task-cut-off")
        assert stored is not None
        assert stored.status is WorkItemStatus.paused
        assert result is not None
        assert "needs a new approval" in result.summary
    assert sandbox.runs == []


async def test_a_stop_that_is_over_when_it_is_noticed_ends_nothing_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, go = threading.Event(), threading.Event()

    def slow(folder: Path, patience_seconds: float = 0.0) -> None:
        del folder, patience_seconds
        seen.set()
        go.wait(SECONDS)

    async with Harness() as h:
        with monkeypatch.context() as patch:
            patch.setattr(watch, "end_runs", slow)
            sentinel_of(h).place()
            await until(seen.is_set)
            sentinel_of(h).remove()
            ended = asyncio.Event()
            work = asyncio.create_task(h.silas.runs.halt.run_unless_stopped(ended.wait))
            await until(lambda: h.silas.runs.halt.busy)
            looks = counted(patch)
            go.set()
            await until(lambda: len(looks) > 3)
            ended.set()
            assert await soon(work)
