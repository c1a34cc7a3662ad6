"""A workspace that a crash left half-changed was moved, copied, restored or deleted before the next
opening: it is brought back where its files are known by their content, and else refused and named.
"""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.test_every_door import DOORS, House


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Killed half-way."""
    found = House(tmp_path)
    found.killed()
    return found


def _copied(work: Path) -> None:
    """A copy that is complete stands in its place."""
    aside = work.with_name("aside")
    subprocess.run(["cp", "-a", work, aside], check=True)
    work.rename(work.with_name("former"))
    aside.rename(work)


def _restored_without_modes(work: Path) -> None:
    """A backup that keeps no permissions."""
    _copied(work)
    for path in work.iterdir():
        path.chmod(0o600)


def _emptied(work: Path) -> None:
    """Another directory, without a file of it."""
    work.rename(work.with_name("former"))
    work.mkdir()


def _changed(work: Path) -> None:
    """A copy in which the owner wrote."""
    _copied(work)
    (work / "b").write_text("mine\n")


def _moved_and_linked(work: Path) -> None:
    """It lies on another disk now, and a link leads there."""
    work.rename(work.with_name("former"))
    work.symlink_to(work.with_name("former"))


STRANGE = {"emptied": _emptied, "changed": _changed, "moved and linked": _moved_and_linked}


def _doctor(house: House) -> str:
    """What it says of workspaces; it ends with an error where that is a failure."""
    done = house.command("doctor", "--json")
    found = [row for row in json.loads(done.out) if row["part"].startswith("workspace")]
    assert (done.code == 0) is all(row["state"] == "ok" for row in found)
    return "\n".join(row["words"] for row in found)


@pytest.mark.parametrize("door", ["silas ask", "silas run", "silas undo", "silas mcp serve"])
def test_a_copy_in_the_place_of_a_half_changed_workspace_is_whole_after_any_opening(
    house: House, door: str
) -> None:
    _copied(house.work)
    assert f"{house.work} is half-changed: cut-short was interrupted" in _doctor(house)
    DOORS[door](house)
    assert house.whole
    assert "cut-short" not in _doctor(house)


def test_a_backup_without_permissions_is_brought_back_by_content(house: House) -> None:
    modes = {path.name: path.stat().st_mode for path in house.work.iterdir() if path.name in "abc"}
    _restored_without_modes(house.work)
    assert house.command("undo", "cut-short").code == 0
    assert house.whole
    assert house.work.joinpath("b").stat().st_mode == modes["b"]


@pytest.mark.parametrize("replaced", STRANGE.values(), ids=STRANGE)
def test_what_is_not_known_by_its_content_is_refused_named_and_left(
    house: House, replaced: Callable[[Path], None]
) -> None:
    words = house.approved(house.plan("later", "cp a later.txt"))
    replaced(house.work)
    stands = house.files
    for _ in range(2):
        refused = house.command(*words)
        assert refused.code != 0
        assert f"{house.work} is half-changed: cut-short was interrupted" in refused.err
        assert "silas undo cut-short --keep-files" in refused.err
        assert house.files == stands
    assert "is half-changed" in _doctor(house)
    assert house.command("ask", "hello").out.count("half-changed") == 1
    assert house.command("undo", "cut-short", "--keep-files").code == 0
    assert house.files == stands
    assert "cut-short" not in _doctor(house)


def test_an_owner_who_asks_gets_the_missing_files_back(house: House) -> None:
    _emptied(house.work)
    (house.work / "other").write_text("mine\n")
    assert house.command("undo", "cut-short").code == 0
    assert house.files == {"b": "before\n", "other": "mine\n"}  # what the work would change


def test_a_workspace_that_is_gone_is_named_until_it_is_settled_and_stops_no_other(
    house: House,
) -> None:
    shutil.rmtree(house.work)
    words = f"{house.work} is gone, and cut-short was interrupted"
    assert words in _doctor(house)
    assert words in house.command("status").out
    [row] = json.loads(house.command("status", "--json").out)
    assert row["half_changed"] == str(house.work)
    assert words in house.command("ask", "hello").out
    refused = house.command("undo", "cut-short")
    assert refused.code != 0
    assert words in refused.err
    house.work = house.folder / "other"
    house.work.mkdir()
    (house.work / "a").write_text("other\n")
    done = house.command(*house.approved(house.plan("elsewhere", "cp a b")))
    assert done.code == 0, done.err
    assert words in _doctor(house)
    assert house.command("undo", "cut-short", "--keep-files").code == 0
    assert "cut-short was interrupted" not in _doctor(house)


def test_no_work_begins_where_a_half_changed_workspace_was_moved_to(house: House) -> None:
    former = house.work
    house.work = house.folder / "moved"
    former.rename(house.work)
    half = house.files
    refused = house.command(*house.approved(house.plan("later", "cp a later.txt")))
    assert refused.code != 0
    assert f"{house.work} is what {former} was" in refused.err
    assert house.files == half
    house.work.rename(former)
    house.work = former
    assert house.command("undo", "cut-short").code == 0
    assert house.whole


def test_finished_work_is_taken_back_in_a_copy_of_its_workspace_and_nowhere_else(
    tmp_path: Path,
) -> None:
    house = House(tmp_path)
    done = house.command(*house.approved(house.plan("ended", "sh -c 'echo after > b'", "rm c")))
    assert done.code == 0, done.err
    _copied(house.work)
    (house.work / "b").write_text("mine\n")
    refused = house.command("undo", "ended")
    assert refused.code != 0
    assert "Nothing was undone: 'b' was changed meanwhile" in refused.err
    assert house.files == {"a": "before\n", "b": "mine\n"}
    (house.work / "b").write_text("after\n")
    assert house.command("undo", "ended").code == 0
    assert house.whole
