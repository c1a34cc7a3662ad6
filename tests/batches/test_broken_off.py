"""A batch that is broken off while a file is on its way, and folders that were replaced since."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from silas.errors import DatabaseError
from silas.work.batches import mover
from silas.work.batches.execution import BatchExecution
from silas.work.batches.models import FileMove
from tests.batches.folders import PDF, listed, put
from tests.batches.test_in_silas import Tidy, yes
from tests.support.waits import SECONDS


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tidy:
    return Tidy(tmp_path, monkeypatch)


@pytest.mark.parametrize("step", ["move_file", "move_back"])
async def test_a_file_under_way_when_it_is_broken_off_is_told_as_it_is(
    tidy: Tidy, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    really, loop = getattr(mover, step), asyncio.get_running_loop()
    running: list[asyncio.Task[Any]] = []

    def broken_off(root: int, move: FileMove) -> str:
        """As Ctrl-C does while a file is moved: its task is cancelled, its thread goes on."""
        cancelled = threading.Event()
        loop.call_soon_threadsafe(running[0].cancel)
        loop.call_soon_threadsafe(cancelled.set)
        assert cancelled.wait(SECONDS)
        return str(really(root, move))

    async with tidy.house(yes) as h:
        review = h.silas.tidying.review()
        if step == "move_back":
            await h.silas.tidy(tidy.place)
        work = h.silas.tidy(tidy.place) if step == "move_file" else review.undo("last")
        with monkeypatch.context() as patched:
            patched.setattr(mover, step, broken_off)
            running.append(asyncio.ensure_future(work))
            with pytest.raises(asyncio.CancelledError):
                await running[0]
        (kept,) = review.execution.newest()
        at = {
            item.move.goal if item.state.value == "moved" else item.move.name for item in kept.items
        }
        assert at == set(listed(tidy.place))
        await h.silas.undo_batch("last")
    assert listed(tidy.place) == tidy.before


async def test_taking_back_removes_no_folder_behind_a_link(tidy: Tidy) -> None:
    put(tidy.place, "old.pdf", PDF + b"old", days=500)
    before, elsewhere = listed(tidy.place), tidy.place.parent / "elsewhere"
    async with tidy.house(yes) as h:
        await h.silas.tidy(tidy.place)
        os.rename(tidy.place / "Older", elsewhere)
        (elsewhere / "Documents" / "old.pdf").rename(elsewhere / "old.pdf")
        (tidy.place / "Older").symlink_to(elsewhere)
        undone = await h.silas.undo_batch("last")
    assert [one.name for one in undone.left] == ["Older/Documents/old.pdf"]
    assert (elsewhere / "Documents").is_dir()
    assert set(listed(tidy.place)) >= set(before) - {"old.pdf"}


async def test_a_folder_that_became_a_link_since_a_crash_keeps_no_opening_back(
    tidy: Tidy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise InterruptedError

    async with tidy.house(yes) as h:
        with monkeypatch.context() as broken:
            broken.setattr(BatchExecution, "_record_end", die)
            with pytest.raises(InterruptedError):
                await h.silas.tidy(tidy.place)
    elsewhere = tidy.place.parent / "elsewhere"
    os.rename(tidy.place / "Documents", elsewhere)
    (tidy.place / "Documents").symlink_to(elsewhere)
    async with tidy.house(yes) as h:
        (kept,) = h.silas.tidying.review().execution.newest()
        states = {item.move.name: (item.state.value, item.why) for item in kept.items}
        assert states["c.png"] == ("moved", "")
        assert states["a.pdf"][0] == "moved"
        undone = await h.silas.undo_batch("last")
    assert {one.name for one in undone.left} == {"Documents/a.pdf", "Documents/b.pdf"}
    assert set(listed(tidy.place)) == {"c.png"}
    assert {path.name for path in elsewhere.iterdir()} == {"a.pdf", "b.pdf"}


async def test_what_cannot_be_recorded_is_not_taken_back(tidy: Tidy) -> None:
    broken = "CREATE TRIGGER broken BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END"
    async with tidy.house(yes) as h:
        await h.silas.tidy(tidy.place)
        moved = listed(tidy.place)
        with h.db.write() as tx:
            tx.driver.execute(broken)
        with pytest.raises(DatabaseError):
            await h.silas.undo_batch("last")
        with h.db.write() as tx:
            tx.driver.execute("DROP TRIGGER broken")
        assert listed(tidy.place) == moved
        await h.silas.undo_batch("last")
    assert listed(tidy.place) == tidy.before
