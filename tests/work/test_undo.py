"""Undo brings back exactly what was there, or says in one sentence why not (decision B3)."""

import asyncio
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from silas.errors import DatabaseError, SandboxError
from silas.plans import WorkItemStatus
from silas.work.changes import file_recovery
from silas.work.changes import undo as changes_undo
from silas.work.changes.undo import Undo, next_place
from silas.work.changes.undo_record import hold_mark
from silas.work.models import ProgressEvent
from silas.workspace.journal import read_journal, write_journal
from tests.support.waits import SECONDS
from tests.work.kit import DONE, EVERYTHING, State, Work, at_work, owner, sh, state_of


async def refused(work: Work, work_item_id: str = "task-example") -> SandboxError:
    with pytest.raises(SandboxError) as error:
        await work.silas.undo(work_item_id)
    return error.value


def times(root: Path) -> dict[str, int]:
    return {str(p.relative_to(root)): p.lstat().st_mtime_ns for p in root.rglob("*") if p.is_file()}


@pytest.mark.proves("B3-SNAPSHOT-FIRST")
async def test_undo_restores_bytes_modes_links_times_created_and_deleted(project: Path) -> None:
    os.utime(project / "binary", ns=(1, 2_000_000_001))
    before, clocks = state_of(project), times(project)
    async with at_work(EVERYTHING, DONE) as work:
        assert (await work.run(workspace=str(project))).status is WorkItemStatus.done
        assert state_of(project) != before
        await work.silas.undo("task-example")
        assert state_of(project) == before
        assert times(project)["binary"] == clocks["binary"]
        [(_, undone)] = await work.record("workspace_undone")
        assert undone["work_item_id"] == "task-example"
        assert {"result.txt", "binary", "new/file"} <= set(undone["paths"])


async def test_undoing_twice_says_so_and_changes_nothing(project: Path) -> None:
    async with at_work(EVERYTHING, DONE) as work:
        await work.run(workspace=str(project))
        await work.silas.undo("task-example")
        before = state_of(project)
        error = await refused(work)
        assert error.message == (
            "Everything that task-example changed was undone already; an undo is not undone, but "
            "its plan can run again."
        )
        assert error.code == "E_SANDBOX_NO_UNDO"
        assert state_of(project) == before
        assert len(await work.record("workspace_undone")) == 1


async def test_an_undo_that_cannot_be_recorded_does_not_happen(project: Path) -> None:
    async with at_work(EVERYTHING, DONE) as work:
        await work.run(workspace=str(project))
        after = state_of(project)
        broken = (
            "CREATE TRIGGER broken BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        with work.harness.db.write() as tx:
            tx.driver.execute(broken)
        with pytest.raises(DatabaseError):
            await work.silas.undo("task-example")
        with work.harness.db.write() as tx:
            tx.driver.execute("DROP TRIGGER broken")
        assert state_of(project) == after


@pytest.mark.parametrize("name", ["task-unknown", "", ".", "..", "../undo", "/", "a/b", "a\0b"])
async def test_an_unknown_id_is_one_sentence(name: str, project: Path) -> None:
    async with at_work(EVERYTHING, DONE) as work:
        await work.run(workspace=str(project))
        before = state_of(project)
        error = await refused(work, name)
        assert (
            error.message
            == f"There is nothing to undo for {name!r}; see `silas status` for the ids."
        )
        assert state_of(project) == before


async def test_further_edits_are_not_overwritten(project: Path) -> None:
    async with at_work(EVERYTHING, DONE) as work:
        await work.run(workspace=str(project))
        (project / "result.txt").write_text("edited by me\n")
        before = state_of(project)
        error = await refused(work)
        assert error.message.startswith("Nothing was undone: 'result.txt' was changed meanwhile. ")
        assert state_of(project) == before
        (project / "result.txt").write_text("done\n")
        await work.silas.undo("task-example")


async def test_the_same_plan_runs_twice_and_each_change_is_undone_by_itself(project: Path) -> None:
    states: list[State] = [state_of(project)]
    more = sh("echo done again >> result.txt")
    async with at_work(EVERYTHING, DONE, more, DONE) as work:
        for _ in range(2):
            assert (await work.run(workspace=str(project))).status is WorkItemStatus.done
            states.append(state_of(project))
        assert len({str(state) for state in states}) == 3
        await work.silas.undo("task-example")
        assert state_of(project) == states[1]
        await work.silas.undo("task-example")
        assert state_of(project) == states[0]
        await refused(work)


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("echo done, too > result.txt", "result.txt"),
        ("echo done > new/later", "new/later"),
        ("mkdir -p new/deep; echo done > new/deep/later", "new/deep"),
        ("chmod 711 run.sh", "run.sh"),
    ],
)
async def test_later_work_on_the_same_files_is_named_and_goes_first(
    script: str, path: str, project: Path
) -> None:
    states = [state_of(project)]
    async with at_work(EVERYTHING, DONE, sh(script), DONE) as work:
        for name in ("task-first", "task-second"):
            result = await work.run(id=name, workspace=str(project))
            assert result.status is WorkItemStatus.done
            states.append(state_of(project))
        error = await refused(work, "task-first")
        assert error.message == (
            f"Nothing was undone: task-second changed '{project / path}' after task-first. "
            "Undo that first: `silas undo task-second`."
        )
        assert state_of(project) == states[2]
        await work.silas.undo("task-second")
        assert state_of(project) == states[1]
        await work.silas.undo("task-first")
        assert state_of(project) == states[0]


async def test_later_work_on_other_files_is_no_obstacle(project: Path) -> None:
    async with at_work(EVERYTHING, DONE, sh("echo done > src/other.txt"), DONE) as work:
        for name in ("task-first", "task-second"):
            assert (await work.run(id=name, workspace=str(project))).diff
        await work.silas.undo("task-first")
        assert (project / "src" / "other.txt").read_text() == "done\n"
        assert (project / "result.txt").read_text() == "before\n"
        await work.silas.undo("task-second")


async def test_a_later_run_that_changed_nothing_hides_no_undo(project: Path) -> None:
    before = state_of(project)
    async with at_work(EVERYTHING, DONE, sh("true"), DONE) as work:
        await work.run(workspace=str(project))
        result = await work.run(workspace=str(project))
        assert (result.status, result.diff) == (WorkItemStatus.done, "")
        assert len(await work.record("workspace_applied")) == 1
        await work.silas.undo("task-example")
    assert state_of(project) == before


async def test_a_later_conflict_hides_no_undo(project: Path) -> None:
    before = state_of(project)
    async with at_work(EVERYTHING, DONE, sh("echo done, too > result.txt"), DONE) as work:
        await work.run(workspace=str(project))

        async def interfere(event: ProgressEvent) -> None:
            (project / "result.txt").write_text("meanwhile\n")

        work.notify = interfere
        assert (await work.run(workspace=str(project))).status is WorkItemStatus.blocked
        kept = work.harness.config.data_dir / "undo" / "task-example"
        assert [place.name for place in kept.iterdir()] == ["000001"]
        (project / "result.txt").write_text("done\n")
        await work.silas.undo("task-example")
    assert state_of(project) == before


async def test_a_change_that_a_crash_cut_short_is_taken_back_at_the_next_start(
    project: Path, tmp_path: Path
) -> None:
    before, home = state_of(project), tmp_path / "home"
    home.mkdir()
    async with at_work(EVERYTHING, DONE, home=home) as work:
        await work.run(workspace=str(project))
        place = next_place(work.harness.config.data_dir / "undo" / "task-example").with_name(
            "000001"
        )
    _as_if_cut_short(place)
    async with at_work(home=home) as work:
        assert state_of(project) == before
        assert len(await work.record("workspace_recovered")) == 1
        assert (await refused(work)).code == "E_SANDBOX_NO_UNDO"


async def test_a_workspace_that_cannot_be_put_back_does_not_keep_silas_from_starting(
    project: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with at_work(EVERYTHING, DONE, home=home) as work:
        await work.run(workspace=str(project))
        place = work.harness.config.data_dir / "undo" / "task-example" / "000001"
    _as_if_cut_short(place)
    (project / "result.txt").write_text("mine\n")
    after = state_of(project)
    async with at_work(home=home) as work:
        [(_, told)] = await work.record("workspace_not_recovered")
        assert told["work_item_id"] == "task-example"
        assert "'result.txt' was changed meanwhile" in told["reason"]
    assert state_of(project) == after


def _as_if_cut_short(place: Path) -> None:
    write_journal(place, replace(read_journal(place), phase="applying"))


@pytest.mark.parametrize("half", [False, True])
async def test_what_was_put_back_when_it_was_broken_off_is_on_record(
    project: Path, monkeypatch: pytest.MonkeyPatch, half: bool
) -> None:
    before, loop = state_of(project), asyncio.get_running_loop()
    running: list[asyncio.Task[Any]] = []
    module, name = (file_recovery, "recover") if half else (changes_undo, "undo")
    really = getattr(module, name)

    def broken_off(*args: Any, **more: Any) -> Any:
        """As Ctrl-C does meanwhile: the task is cancelled, its thread goes on."""
        cancelled = threading.Event()
        loop.call_soon_threadsafe(running[0].cancel)
        loop.call_soon_threadsafe(cancelled.set)
        assert cancelled.wait(SECONDS)
        return really(*args, **more)

    async with at_work(EVERYTHING, DONE) as work:
        await work.run(workspace=str(project))
        if half:
            _as_if_cut_short(work.harness.config.data_dir / "undo" / "task-example" / "000001")
        with monkeypatch.context() as patched:
            patched.setattr(module, name, broken_off)
            running.append(asyncio.ensure_future(work.silas.undo("task-example")))
            with pytest.raises(asyncio.CancelledError):
                await running[0]
        assert state_of(project) == before
        assert len(await work.record("workspace_recovered" if half else "workspace_undone")) == 1


class Killed(BaseException):
    """As a process that is killed: nothing that comes after it runs."""


@pytest.mark.parametrize("moment", ["before the files", "after the files", "the files are half"])
async def test_an_undo_that_a_kill_broke_off_is_settled_and_said_at_the_next_start(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    before, home = state_of(project), tmp_path / "home"
    home.mkdir()
    really = changes_undo.undo

    def killed(place: Path) -> None:
        if moment != "before the files":
            really(place)
        if moment == "the files are half":
            write_journal(place, replace(read_journal(place), phase="undoing"))
        raise Killed

    async with at_work(EVERYTHING, DONE, home=home) as work:
        await work.run(workspace=str(project))
        after = state_of(project)
        with monkeypatch.context() as patched:
            patched.setattr(changes_undo, "undo", killed)
            with pytest.raises(Killed):
                await work.silas.undo("task-example")
    stands = moment == "before the files"
    for start in range(2):
        channel = owner()
        async with at_work(channel=channel, home=home) as work:
            assert state_of(project) == (after if stands else before)
            ends = [
                event
                for event, _ in await work.record()
                if event in {"workspace_undone", "workspace_not_undone", "workspace_recovered"}
            ]
            half = "workspace_recovered" if "half" in moment else "workspace_undone"
            assert ends == ["workspace_not_undone" if stands else half], moment
            told = [text for text in channel.texts if "undone: Silas ended" in text]
            assert len(told) == (start == 0 and moment == "after the files"), channel.texts


async def test_an_undo_that_is_refused_is_on_record_as_not_done(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_work(EVERYTHING, DONE) as work:
        await work.run(workspace=str(project))
        (project / "result.txt").write_text("edited by me\n")
        await refused(work)
        [(_, told)] = await work.record("workspace_not_undone")
        assert "'result.txt' was changed meanwhile" in told["reason"]
        assert [event for event, _ in await work.record()][-1] == "workspace_not_undone"


async def test_an_undo_under_way_in_another_process_is_left_to_it(project: Path) -> None:
    async with at_work(EVERYTHING, DONE) as work:
        await work.run(workspace=str(project))
        place = work.harness.config.data_dir / "undo" / "task-example" / "000001"
        with hold_mark(place):
            await Undo(place.parent.parent, work.harness.audit).files.recover()
            assert await work.record("workspace_not_undone") == []
            assert (await refused(work)).code == "E_SANDBOX_BUSY"
