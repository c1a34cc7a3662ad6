"""Moving: never over anything, never through a link, never what changed meanwhile."""

import errno
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from silas.work.batches import mover
from silas.work.batches.models import BatchRefused, FileMove, Folder
from silas.work.batches.plan import FolderPlan, plan_folder
from tests.batches.folders import NOW, PDF, PNG, listed, put


class Place:
    """A folder with two files, and what is proposed for it."""

    def __init__(self, base: Path) -> None:
        self.path = base / "Downloads"
        put(self.path, "a.pdf", PDF)
        put(self.path, "b.png", PNG)
        self.plan: FolderPlan = plan_folder(self.path, [base / "data"], NOW)
        self.root = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)

    @property
    def a(self) -> FileMove:
        return self.plan.moves[1]


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    made = Place(tmp_path)
    yield made
    os.close(made.root)


def test_a_file_goes_to_its_place_and_back(place: Place) -> None:
    before = listed(place.path)
    assert mover.move_file(place.root, place.a) == ""
    assert listed(place.path) == {"Documents/a.pdf": PDF, "b.png": PNG}
    assert mover.move_back(place.root, place.a) == ""
    mover.remove_empty(place.root, ["Documents"])
    assert listed(place.path) == before
    assert not (place.path / "Documents").exists()


def test_nothing_is_overwritten_neither_there_nor_on_the_way_back(place: Place) -> None:
    put(place.path, "Documents/a.pdf", b"mine")
    assert mover.move_file(place.root, place.a) == mover.TAKEN
    assert listed(place.path) == {"Documents/a.pdf": b"mine", "a.pdf": PDF, "b.png": PNG}
    (place.path / "Documents/a.pdf").unlink()
    assert mover.move_file(place.root, place.a) == ""
    put(place.path, "a.pdf", b"a new one")
    assert mover.move_back(place.root, place.a) == mover.TAKEN
    assert listed(place.path)["a.pdf"] == b"a new one"


def no_renameat2(source: int, name: str, target: int, new: str) -> bool:
    del source, name, target, new
    return False


def test_without_renameat2_nothing_is_overwritten_either(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mover, "_rename_without_replacing", no_renameat2)
    put(place.path, "Documents/a.pdf", b"mine")
    assert mover.move_file(place.root, place.a) == mover.TAKEN
    (place.path / "Documents/a.pdf").unlink()
    assert mover.move_file(place.root, place.a) == ""
    assert listed(place.path) == {"Documents/a.pdf": PDF, "b.png": PNG}


def grown(path: Path) -> None:
    path.write_bytes(PDF + b"more")


def replaced(path: Path) -> None:
    path.unlink()
    path.write_bytes(PDF)


def linked(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def rewritten_with_its_old_date(path: Path) -> None:
    state = path.stat()
    path.write_bytes(PDF[::-1])
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("change", [grown, replaced, linked, rewritten_with_its_old_date])
def test_what_changed_since_it_was_shown_stays(place: Place, change: object) -> None:
    assert callable(change)
    change(place.path / "a.pdf")
    assert mover.move_file(place.root, place.a) != ""
    assert "Documents/a.pdf" not in listed(place.path)


def test_a_file_that_is_gone_is_told(place: Place) -> None:
    (place.path / "a.pdf").unlink()
    assert mover.move_file(place.root, place.a) == mover.GONE


def test_what_comes_in_its_place_at_the_last_moment_is_put_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = mover.rename_new

    def exchanged(source: int, name: str, target: int, new: str) -> None:
        if (place.path / "a.pdf").exists():
            replaced(place.path / "a.pdf")
        really(source, name, target, new)

    monkeypatch.setattr(mover, "rename_new", exchanged)
    assert mover.move_file(place.root, place.a) == mover.CHANGED
    assert "a.pdf" in listed(place.path)


def test_a_target_that_is_a_link_leads_nowhere(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (place.path / "Documents").symlink_to(outside)
    assert "no folder" in mover.move_file(place.root, place.a)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("target", ["..", "../outside", "Documents/../..", "/tmp", "."])
def test_a_target_outside_the_folder_is_refused(place: Place, target: str) -> None:
    assert mover.move_file(place.root, place.a._replace(target=target)) != ""
    assert listed(place.path) == {"a.pdf": PDF, "b.png": PNG}


def test_another_folder_at_the_same_path_is_refused(place: Place, tmp_path: Path) -> None:
    folder = place.plan.folder
    place.path.rename(tmp_path / "before")
    place.path.mkdir()
    with pytest.raises(BatchRefused, match="another folder"), mover.open_folder(folder):
        pass
    place.path.rmdir()
    place.path.symlink_to(tmp_path / "before")
    with pytest.raises(BatchRefused, match="cannot be opened"), mover.open_folder(folder):
        pass


def test_a_crash_between_link_and_removal_ends_as_moved(place: Place) -> None:
    (place.path / "Documents").mkdir()
    os.link(place.path / "a.pdf", place.path / "Documents/a.pdf")
    assert mover.settle(place.root, place.a)
    assert listed(place.path) == {"Documents/a.pdf": PDF, "b.png": PNG}


def test_where_a_file_is_after_a_crash_is_looked_up(place: Place) -> None:
    assert not mover.settle(place.root, place.a)
    assert mover.move_file(place.root, place.a) == ""
    assert mover.settle(place.root, place.a)
    replaced(place.path / "Documents/a.pdf")
    assert mover.settle(place.root, place.a)  # it went there and was saved anew since
    put(place.path, "a.pdf", PDF)
    assert not mover.settle(place.root, place.a)


def test_folders_that_moving_makes_are_named_before(place: Place) -> None:
    put(place.path, "Pictures/old.png", PNG)
    found = mover.missing_folders(place.root, ["Pictures", "Older/Documents"])
    assert found == ["Older", "Older/Documents"]


def test_a_file_system_that_refuses_is_told_in_words(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(mover, "rename_new", refuse)
    said = mover.move_file(place.root, place.a)
    assert said == "the system refuses it (Read-only file system)"


def test_the_folder_is_the_one_that_was_looked_at(place: Place) -> None:
    state = place.path.stat()
    assert place.plan.folder == Folder(place.path, state.st_dev, state.st_ino)
