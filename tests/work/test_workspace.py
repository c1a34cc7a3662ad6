"""Verified changes alone reach the original, and nothing in it is ever lost (decision B3)."""

import asyncio
import fcntl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silas.errors import DatabaseError, SandboxError
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.sandbox import SandboxResult
from silas.testing import FakeSandbox, a_plan
from silas.testing.models import Step
from silas.testing.tools import SandboxRun, exit_result
from silas.work.changes.task_workspace import TaskWorkspace
from silas.work.models import AlreadyRunning
from silas.workspace.copy import Workspace
from tests.support.waits import SECONDS
from tests.work.kit import DONE, EVERYTHING, State, argv, at_work, scratch, sh, state_of


@pytest.mark.proves("S5.2.1-VERIFIED-DONE", "B3-SNAPSHOT-FIRST")
async def test_the_original_is_untouched_until_the_checks_have_passed(project: Path) -> None:
    before = state_of(project)
    at_each: list[State] = []

    async with at_work(EVERYTHING, DONE) as work:

        async def look(event: Any) -> None:
            at_each.append(state_of(project))

        work.notify = look
        result = await work.run(workspace=str(project))
        assert result.status is WorkItemStatus.done
        assert not scratch(work)
        assert await work.record("workspace_applied")
    assert at_each[0] == before
    after = state_of(project)
    assert at_each[-1] == after != before
    assert after["result.txt"][2] == b"done\n"
    assert after["run.sh"][1] == 0o700
    assert after["src/old.py"][0] == "dir"
    assert after["link"][2] == b"run.sh"
    assert "binary" not in after
    assert "+done" in result.diff
    assert result.artifacts.keys() == {"changes.diff"}
    assert "GIT binary patch" in result.artifacts["changes.diff"]


NOT_DONE: dict[str, tuple[list[Step], dict[str, Any], WorkItemStatus]] = {
    "a check fails": ([sh("echo wrong > result.txt"), DONE], {}, WorkItemStatus.stuck),
    "one of two checks fails": (
        [sh("echo done > result.txt"), DONE],
        {
            "verify": [
                {"name": "a", "run": "cat result.txt", "expect": {"contains": "done"}},
                {"name": "b", "run": "false", "expect": {"exit_code": 0}},
            ]
        },
        WorkItemStatus.stuck,
    ),
    "no checks and the last call failed": (
        [sh("echo done > result.txt"), argv("false"), DONE],
        {"verify": []},
        WorkItemStatus.stuck,
    ),
    "a gate blocks": (
        [sh("echo done > result.txt; echo score: 1"), DONE],
        {
            "gates": [
                {
                    "name": "g",
                    "on": "after_step",
                    "after_step": 1,
                    "type": "numeric_range",
                    "extract": "score",
                    "auto_approve": {"min": 2, "max": 3},
                }
            ]
        },
        WorkItemStatus.blocked,
    ),
    "the answer has no form": (
        [sh("echo done > result.txt"), "no form", "no form"],
        {},
        WorkItemStatus.stuck,
    ),
}


@pytest.mark.proves("S5.2.1-VERIFIED-DONE", "S15-NEVER-SELF-REPORT")
@pytest.mark.parametrize("name", NOT_DONE)
async def test_what_was_not_verified_is_not_applied(name: str, project: Path) -> None:
    steps, plan, status = NOT_DONE[name]
    before = state_of(project)
    async with at_work(*steps) as work:
        plan = {"workspace": str(project), "budget": {"max_attempts": 1}, **plan}
        result = await work.run(**plan)
        assert result.status is status
        assert not scratch(work)
        assert "workspace_applied" not in await work.events()
        with pytest.raises(SandboxError) as nothing:
            await work.silas.undo("task-example")
        assert nothing.value.code == "E_SANDBOX_NO_UNDO"
    assert state_of(project) == before


async def test_a_retry_goes_on_where_the_last_attempt_stopped(project: Path) -> None:
    steps = [
        sh("echo half > result.txt"),
        DONE,
        sh("grep half result.txt && echo done > result.txt"),
    ]
    async with at_work(*steps, DONE) as work:
        result = await work.run(workspace=str(project))
    assert (result.status, result.budget_used.attempts) == (WorkItemStatus.done, 2)


class TestWhenTheOriginalChangesMeanwhile:
    async def test_a_touched_file_that_changed_blocks_and_nothing_is_lost(
        self, project: Path
    ) -> None:
        def change() -> None:
            (project / "result.txt").write_text("mine\n")

        result, after = await self.run_while(project, change)
        assert result.status is WorkItemStatus.blocked
        assert "'result.txt' was changed meanwhile; nothing was written" in result.summary
        assert after["result.txt"][2] == b"mine\n"
        assert "new" not in after

    async def test_another_file_that_changed_is_kept(self, project: Path) -> None:
        def change() -> None:
            (project / "mine.txt").write_text("mine\n")

        result, after = await self.run_while(project, change)
        assert result.status is WorkItemStatus.done
        assert after["mine.txt"][2] == b"mine\n"
        assert after["result.txt"][2] == b"done\n"

    async def test_a_directory_put_in_its_place_blocks(self, project: Path) -> None:
        def change() -> None:
            project.rename(project.with_name("moved"))
            project.mkdir()

        result, after = await self.run_while(project, change)
        assert result.status is WorkItemStatus.blocked
        assert "is another directory than before" in result.summary
        assert after == {}

    async def run_while(
        self, project: Path, change: Callable[[], None]
    ) -> tuple[WorkItemResult, State]:
        async with at_work(EVERYTHING, DONE) as work:
            original = work.notify

            async def interfere(event: Any) -> None:
                await original(event)
                if event.status == "running":
                    change_after_copy.set()

            change_after_copy = asyncio.Event()
            work.notify = interfere
            item = await work.approve(a_plan(workspace=str(project)))
            running = asyncio.create_task(work.execute(item))
            async with asyncio.timeout(SECONDS):
                await change_after_copy.wait()
                change()
                return await running, state_of(project)


async def test_a_copy_that_changes_after_it_was_verified_is_not_applied(project: Path) -> None:
    before = state_of(project)
    seen: list[Path] = []

    def tampering(run: SandboxRun) -> SandboxResult:
        # Nothing inside can do this: it stands for a fault, or for a program outside.
        seen.append(run.files.mounts[0].source)
        (seen[0] / "result.txt").write_text("done" if run.argv[0] == "true" else "evil")
        return exit_result(stdout="done")

    async with at_work(argv("true"), DONE, sandbox=FakeSandbox(tampering)) as work:
        result = await work.run(workspace=str(project))
    assert result.status is WorkItemStatus.blocked
    assert "changed after it was verified; nothing was applied" in result.summary
    assert state_of(project) == before


async def test_what_cannot_be_written_back_fails_the_attempt_with_words(project: Path) -> None:
    steps = [
        sh("echo done > result.txt; mkdir .venv; touch .venv/x"),
        DONE,
        sh("rm -r .venv"),
        DONE,
    ]
    async with at_work(*steps) as work:
        result = await work.run(workspace=str(project))
        assert (result.status, result.budget_used.attempts) == (WorkItemStatus.done, 2)
        assert ".venv: a protected name stays out" in work.briefing(2)


async def test_changes_that_cannot_be_recorded_do_not_stay(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state_of(project)
    async with at_work(EVERYTHING, DONE) as work:
        item = await work.approve(a_plan(workspace=str(project)))
        save = work.silas.store.save

        async def full_when_done(saved: WorkItem) -> None:
            if saved.status is WorkItemStatus.done:
                assert state_of(project) != before  # applied, and about to be recorded
                raise DatabaseError("The disk is full; free it.", code="E_DB_OPERATION")
            await save(saved)

        monkeypatch.setattr(work.silas.store, "save", full_when_done)
        result = await work.execute(item)
        assert result.status is WorkItemStatus.failed
        assert "The disk is full" in result.summary
        assert (await work.stored()).status is WorkItemStatus.failed
    assert state_of(project) == before


async def test_changes_that_cannot_be_announced_are_not_made(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state_of(project)
    async with at_work(EVERYTHING, DONE) as work:
        log = work.silas.audit.log

        async def deaf(event: str, **data: Any) -> str:
            if event == "workspace_applying":
                raise DatabaseError("The disk is full; free it.", code="E_DB_OPERATION")
            return await log(event, **data)

        monkeypatch.setattr(work.silas.audit, "log", deaf)
        assert (await work.run(workspace=str(project))).status is WorkItemStatus.failed
    assert state_of(project) == before


class TestTheSite:
    @pytest.mark.proves("B1-EMPTY-DIRECTORY")
    async def test_without_a_workspace_it_is_an_empty_directory_that_goes_away(self) -> None:
        look = sh("pwd; find . -mindepth 1; echo done > result.txt")
        async with at_work(look, DONE) as work:
            result = await work.run()
            assert result.status is WorkItemStatus.done
            assert "/work\n" in work.briefing(1)
            assert (result.diff, result.artifacts) == ("", {})
            assert not scratch(work)

    @pytest.mark.proves("B1-WORKSPACE")
    async def test_read_paths_are_visible_and_read_only(self, tmp_path: Path) -> None:
        given = tmp_path / "given"
        given.mkdir()
        (given / "data").write_text("data")
        check = {"name": "read", "run": f"cat {given}/data", "expect": {"equals": "data"}}
        probe = sh(f"cat {given}/data; echo x > {given}/data; echo x > {given}/new; true")
        async with at_work(probe, DONE) as work:
            result = await work.run(read=[str(given)], verify=[check])
            assert result.status is WorkItemStatus.done
            assert work.briefing(1).count("Read-only file system") == 2
        assert state_of(given) == {"data": ("file", 0o644, b"data")}

    @pytest.mark.proves("B1-WORKSPACE")
    async def test_nothing_else_of_the_host_is_visible(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("hunter2")
        async with at_work(sh(f"cat {tmp_path}/secret; ls {tmp_path}; true"), DONE) as work:
            await work.run(verify=[])
            assert "hunter2" not in work.briefing(1)

    @pytest.mark.parametrize("kind", ["missing", "file", "link"])
    async def test_a_workspace_that_is_no_directory_blocks(self, kind: str, tmp_path: Path) -> None:
        place = tmp_path / "place"
        if kind == "file":
            place.write_text("")
        if kind == "link":
            (tmp_path / "real").mkdir()
            place.symlink_to("real")
        async with at_work() as work:
            result = await work.run(workspace=str(place))
            assert result.status is WorkItemStatus.blocked
            assert str(place) in result.summary
            assert not scratch(work)

    async def test_what_a_crash_left_behind_is_not_seen_and_goes_away(self, project: Path) -> None:
        async with at_work(sh("ls /artifacts; echo done > result.txt"), DONE) as work:
            stale = work.harness.config.data_dir / "scratch" / "task-example"
            (stale / "artifacts").mkdir(parents=True)
            (stale / "artifacts" / "stale").touch()
            locked = stale / "workspace-old" / "locked"
            locked.mkdir(parents=True, mode=0o000)
            result = await work.run(workspace=str(project))
            assert result.status is WorkItemStatus.done
            assert "stale" not in work.briefing(1)
            assert not scratch(work)

    async def test_two_runs_of_one_item_never_share_a_copy(self, project: Path) -> None:
        before = state_of(project)
        item, place = a_plan(workspace=str(project)), project.parent / "scratch" / "task-example"
        async with TaskWorkspace.open_copy(item, place, {}) as site:
            with pytest.raises(AlreadyRunning):
                async with TaskWorkspace.open_copy(item, place, {}):
                    raise AssertionError("a second run got the place")
            assert not await site.changes()
            assert state_of(site.bench().root) == before
        async with TaskWorkspace.open_copy(item, place, {}) as site:
            assert not await site.changes()

    @pytest.mark.parametrize(
        ("read", "cwd"),
        [
            ([], "/work"),
            (["/home/me/project"], "/work"),
            (["/work"], "/work-1"),
            (["/work/project"], "/work-1"),
            (["/workshop"], "/work"),
            (["/work/a", "/work-1/b"], "/work-2"),
        ],
    )
    async def test_the_empty_directory_covers_nothing_that_is_read(
        self, read: list[str], cwd: str, tmp_path: Path
    ) -> None:
        async with TaskWorkspace.open_copy(a_plan(read=read), tmp_path / "scratch", {}) as site:
            for files in (site.files(), site.bench().files(tmp_path / "copy")):
                assert files.cwd == Path(cwd)
                targets = [mount.target for mount in files.mounts]
                for number, path in enumerate(map(Path, read)):
                    assert targets[number] == path
                    assert not any(path.is_relative_to(t) for t in targets[number + 1 :])

    @pytest.mark.parametrize("replaced", [False, True])
    async def test_a_place_that_its_last_holder_just_removed_is_not_taken(
        self, replaced: bool, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        place = project.parent / "scratch"

        def too_late(descriptor: int, operation: int) -> None:
            place.rmdir()
            if replaced:
                place.mkdir()
            flock(descriptor, operation)

        flock = fcntl.flock
        monkeypatch.setattr(fcntl, "flock", too_late)
        with pytest.raises(AlreadyRunning):
            async with TaskWorkspace.open_copy(a_plan(workspace=str(project)), place, {}):
                raise AssertionError("it took a place that is nobody's")

    async def test_cancelling_while_it_is_prepared_leaves_nothing(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loop, begun, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        prepare = Workspace.prepare

        def slowly(*args: Any, **options: Any) -> Workspace:
            loop.call_soon_threadsafe(begun.set)
            assert go_on.wait(SECONDS)
            return prepare(*args, **options)

        monkeypatch.setattr(Workspace, "prepare", slowly)
        async with at_work() as work, asyncio.timeout(SECONDS):
            item = await work.approve(a_plan(workspace=str(project)))
            work.silas.executor.dispatch(item, work.notify)
            await begun.wait()
            cancelling = asyncio.create_task(work.silas.cancel(item.id))
            # the copying thread cannot be stopped, so nobody may clean up beside it
            assert await asyncio.wait([cancelling], timeout=0.1) == (set(), {cancelling})
            go_on.set()
            assert await cancelling
            assert (await work.stored()).status is WorkItemStatus.paused
            assert not scratch(work)
