"""What undo gives back besides bytes and permissions, and what it leaves alone (decision B3)."""

import fcntl
import hashlib
import os
from pathlib import Path

import pytest

from silas.errors import SandboxError
from silas.workspace.clone import copy_content
from silas.workspace.copy import Workspace, undo

from .trees import edit, exact

LONG_AGO = 1_000_000_007


def age(root: Path) -> None:
    """Give everything a time of its own, so that no restored one is right by chance."""
    for at, path in enumerate([*sorted(root.rglob("*"), reverse=True), root]):
        when = LONG_AGO + at * 1_000_000_001
        os.utime(path, ns=(when, when), follow_symlinks=False)


@pytest.mark.proves("B3-UNDO-EXACT")
def test_undo_restores_the_times_of_files_links_and_directories(
    original: Path, tmp_path: Path
) -> None:
    age(original)
    before = exact(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    assert exact(original) != before
    undo(tmp_path / "undo")
    assert exact(original) == before


def test_a_refused_or_failed_apply_leaves_no_trace_in_times(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    age(original)
    before = exact(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    edit(workspace.copy)

    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "symlink", full)
        with pytest.raises(SandboxError, match="the directory is as before"):
            workspace.apply(tmp_path / "undo")
    assert exact(original) == before


def test_a_directory_in_which_the_owner_worked_since_keeps_the_time_of_that(
    original: Path, tmp_path: Path
) -> None:
    age(original)
    before = exact(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    (original / "src" / "mine").write_text("mine")
    os.utime(original / "src", ns=(1, 2_000_000_000_000_000_001))
    undo(tmp_path / "undo")
    assert (original / "src").stat().st_mtime_ns != LONG_AGO
    assert (original / "src" / "mine").read_text() == "mine"
    (original / "src" / "mine").unlink()
    after = exact(original)
    assert {path for path in before if before[path] != after[path]} == {"src//"}


@pytest.mark.parametrize("through", ["one name", "both names"])
def test_two_names_of_one_file_are_two_files_in_the_copy_and_one_again_after_undo(
    through: str, original: Path, tmp_path: Path
) -> None:
    os.link(original / "src" / "a.py", original / "twin")
    before = exact(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    assert (workspace.copy / "twin").stat().st_nlink == 1
    (workspace.copy / "src" / "a.py").write_text("changed")
    if through == "both names":
        (workspace.copy / "twin").unlink()
    workspace.apply(tmp_path / "undo")
    if through == "one name":
        assert (original / "twin").read_text() == "one\ntwo\nthree\n"
    undo(tmp_path / "undo")
    assert exact(original) == before
    assert (original / "twin").stat().st_nlink == 2


def test_a_twin_that_was_edited_since_stays_edited_and_undo_brings_the_old_content(
    original: Path, tmp_path: Path
) -> None:
    os.link(original / "src" / "a.py", original / "twin")
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    (workspace.copy / "src" / "a.py").write_text("changed")
    workspace.apply(tmp_path / "undo")
    (original / "twin").write_text("the owner's")
    undo(tmp_path / "undo")
    assert (original / "src" / "a.py").read_text() == "one\ntwo\nthree\n"
    assert (original / "twin").read_text() == "the owner's"


def test_attributes_stay_with_changed_files_and_come_back_with_deleted_ones(
    original: Path, tmp_path: Path
) -> None:
    for path in ("src/a.py", "src/deep/b.txt", "src/deep"):
        os.setxattr(original / path, "user.note", b"\0kept")
    before = exact(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    assert os.getxattr(original / "src" / "a.py", "user.note") == b"\0kept"
    undo(tmp_path / "undo")
    assert exact(original) == before


def test_the_owner_of_files_stays_where_root_runs_silas(original: Path, tmp_path: Path) -> None:
    stranger = 4321 if os.geteuid() == 0 else os.geteuid()  # only root can give files away
    for path in (original, *sorted(original.rglob("*"))):
        os.chown(path, stranger, -1, follow_symlinks=False)
    before = exact(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    assert (original / "src" / "a.py").stat().st_uid == stranger
    undo(tmp_path / "undo")
    assert exact(original) == before


def test_holes_stay_holes_on_the_way_there_and_back(original: Path, tmp_path: Path) -> None:
    size = 64 << 20
    with open(original / "sparse", "wb") as sparse:
        sparse.write(b"begin")
        sparse.seek(size // 2 - 3)  # not where a block begins
        sparse.write(b"middle")
        sparse.truncate(size)
    before = exact(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    with open(workspace.copy / "sparse", "r+b") as sparse:
        sparse.write(b"other")
    workspace.apply(tmp_path / "undo")
    for path in (workspace.copy / "sparse", original / "sparse", tmp_path / "undo" / "0"):
        assert path.stat().st_blocks * 512 < size // 8, path
    undo(tmp_path / "undo")
    assert exact(original) == before
    assert (original / "sparse").stat().st_blocks * 512 < size // 8


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", bytes(4095), bytes(4096), bytes(1 << 20), bytes((1 << 20) + 1) + b"x",
     b"a" * 5000 + bytes(9000) + b"b", os.urandom(1 << 20) + bytes(4097)],
    ids=len,
)  # fmt: skip
def test_a_copy_has_the_same_bytes_whatever_is_zero_in_them(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "from").write_bytes(content)
    reading = os.open(tmp_path / "from", os.O_RDONLY)
    writing = os.open(tmp_path / "to", os.O_RDWR | os.O_CREAT)
    copy_content(reading, writing)
    os.close(reading)
    os.close(writing)
    assert (tmp_path / "to").read_bytes() == content


def test_where_the_file_system_shares_blocks_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = os.urandom(5000)
    asked: list[int] = []

    def shares(writing: int, request: int, reading: int) -> int:
        asked.append(request)
        return os.write(writing, os.read(reading, 1 << 20))

    def refused(*args: object) -> int:
        raise AssertionError("it was written")

    (tmp_path / "from").write_bytes(content)
    reading = os.open(tmp_path / "from", os.O_RDONLY)
    writing = os.open(tmp_path / "to", os.O_RDWR | os.O_CREAT)
    monkeypatch.setattr(fcntl, "ioctl", shares)
    monkeypatch.setattr(os, "pwrite", refused)
    assert copy_content(reading, writing) == hashlib.sha256(content).hexdigest()
    assert asked == [0x40049409]  # FICLONE of linux/fs.h
    os.close(reading)
    os.close(writing)


def test_undo_keeps_what_changed_and_nothing_else(original: Path, tmp_path: Path) -> None:
    (original / "big").write_bytes(os.urandom(1 << 20))
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    kept = {path.name: path.read_bytes() for path in (tmp_path / "undo").iterdir()}
    del kept["journal.json"]
    assert sorted(kept.values()) == [b"#!/bin/sh\n", b"b\n", b"one\ntwo\nthree\n"]


def test_undo_names_what_was_edited_since_and_touches_nothing(
    original: Path, tmp_path: Path
) -> None:
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    (original / "src" / "a.py").write_text("mine")
    (original / "new" / "mine").write_text("mine")
    before = exact(original)
    with pytest.raises(SandboxError) as refused:
        undo(tmp_path / "undo")
    assert refused.value.message.startswith(
        "Nothing was undone: 'new/mine' would be lost with its directory, "
        "'src/a.py' was changed meanwhile. "
    )
    assert exact(original) == before
