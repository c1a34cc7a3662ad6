"""What comes back from a copy that somebody hostile arranged, and after a crash (decision B3)."""

import dataclasses
import io
import os
import shutil
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silas.errors import SandboxError
from silas.workspace.copy import Workspace, recover, undo
from silas.workspace.journal import read_journal, write_journal
from silas.workspace.transition import ContentSource, Transition, no_inode
from silas.workspace.tree import open_descriptor, open_root, remove_tree

from .trees import edit, picture


def test_a_link_planted_in_the_copy_is_written_back_as_a_link_and_never_followed(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (workspace.copy / "src" / "a.py").unlink()
    (workspace.copy / "src" / "a.py").symlink_to(victim)
    workspace.apply(tmp_path / "undo")
    assert os.readlink(original / "src" / "a.py") == str(victim)
    undo(tmp_path / "undo")
    assert (original / "src" / "a.py").read_text() == "one\ntwo\nthree\n"
    assert victim.read_text() == "untouched"


def test_a_directory_turned_link_in_the_copy_lets_nothing_from_behind_it_in(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    for path in ("src/deep/b.txt", "src/a.py"):
        (workspace.copy / path).unlink()
    (workspace.copy / "src/deep").rmdir()
    (workspace.copy / "src").rmdir()
    (workspace.copy / "src").symlink_to(tmp_path / "outside")
    paths = [change.path for change in workspace.changes().all]
    assert paths == ["src", "src/a.py", "src/deep", "src/deep/b.txt"]
    assert "secret\n" not in workspace.diff()
    workspace.apply(tmp_path / "undo")
    assert (original / "src").is_symlink()
    undo(tmp_path / "undo")
    assert (original / "src" / "deep" / "b.txt").read_text() == "b\n"
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["secret"]


def test_a_file_with_a_second_name_outside_is_replaced_and_not_written_through(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    os.link(original / "src" / "a.py", tmp_path / "second-name")
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    assert (tmp_path / "second-name").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("side", ["original", "copy"])
def test_pipes_and_devices_are_left_out_with_words(
    side: str, original: Path, tmp_path: Path
) -> None:
    if side == "original":
        os.mkfifo(original / "pipe")
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    if side == "copy":
        os.mkfifo(workspace.copy / "pipe")
    words = workspace.skipped if side == "original" else workspace.changes().withheld
    assert [line.split(":")[0] for line in words] == ["pipe"]
    assert not workspace.changes()


def test_a_repository_made_by_a_task_does_not_come_back(original: Path, tmp_path: Path) -> None:
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    (workspace.copy / "src" / ".git" / "hooks").mkdir(parents=True)
    (workspace.copy / "src" / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    (workspace.copy / "src" / "node_modules").symlink_to("/etc")
    changes = workspace.changes()
    assert not changes
    assert len(changes.withheld) == 2
    workspace.apply(tmp_path / "undo")
    assert not (original / "src" / ".git").exists()


def test_what_is_put_in_the_place_of_a_protected_name_is_withheld(
    original: Path, tmp_path: Path
) -> None:
    (original / "src" / ".venv").mkdir()
    (original / "src" / ".npmrc").write_text("x")
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    assert not workspace.changes().withheld
    # A mount point cannot be moved, but the directory above it can.
    source = workspace.copy / "src"
    aside = source.rename(workspace.copy / "aside")
    shutil.copytree(aside, source, symlinks=True)
    remove_tree(aside)
    assert not workspace.changes().withheld
    (source / ".venv" / "ready").touch()
    (source / ".npmrc").write_text("other")
    withheld = "; ".join(workspace.changes().withheld)
    assert "src/.venv: what was put in a protected place" in withheld
    assert "src/.npmrc: what was put in a protected place" in withheld


def test_set_id_bits_never_come_back_from_a_copy(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    (workspace.copy / "run.sh").write_text("#!/bin/sh\nid\n")
    (workspace.copy / "run.sh").chmod(0o6755)
    workspace.apply(tmp_path / "undo")
    assert stat.S_IMODE((original / "run.sh").stat().st_mode) == 0o755


@pytest.mark.proves("B3-UNDO-EXACT")
def test_undo_gives_back_set_id_bits_the_owner_had(original: Path, tmp_path: Path) -> None:
    (original / "run.sh").chmod(0o4755)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    assert not workspace.changes()
    (workspace.copy / "run.sh").write_text("changed")
    workspace.apply(tmp_path / "undo")
    assert stat.S_IMODE((original / "run.sh").stat().st_mode) == 0o755
    undo(tmp_path / "undo")
    assert stat.S_IMODE((original / "run.sh").stat().st_mode) == 0o4755


@pytest.mark.parametrize("path", ["../victim", "src/../../victim", "/etc/passwd", "", "a//b", "."])
def test_a_journal_that_names_a_path_outside_is_refused(
    path: str, workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    (tmp_path / "victim").write_text("untouched")
    (workspace.copy / "src" / "a.py").write_text("x")
    workspace.apply(tmp_path / "undo")
    journal = read_journal(tmp_path / "undo")
    (change,) = journal.changes
    forged = dataclasses.replace(journal, changes=(change._replace(path=path, after=None),))
    write_journal(tmp_path / "undo", forged)
    with pytest.raises(SandboxError):
        undo(tmp_path / "undo")
    assert (tmp_path / "victim").read_text() == "untouched"
    assert (original / "src" / "a.py").read_text() == "x"


def test_terminal_sequences_in_names_and_content_are_shown_escaped(workspace: Workspace) -> None:
    (workspace.copy / "evil\x1b[2Jname").write_text("red \x1b[31m \u202e gnp.exe \u200b end\r\n")
    text = workspace.diff()
    assert not set(text) & {"\x1b", "\u202e", "\u200b", "\r"}
    assert "evil\\x1b[2Jname" in text


def test_names_that_are_no_text_survive(workspace: Workspace, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xfe")
    (workspace.copy / name).write_text("x")
    assert "\\udcff\\udcfe" in workspace.diff()
    workspace.apply(tmp_path / "undo")
    undo(tmp_path / "undo")


NAMES = ("new\nline", "..hidden", "...", "-rf", " ", "a\\b", "tab\tname", "C:", "con", "x" * 255)
"""Names that a careless collector reads as something else; the kernel refuses `..` and `/`."""


@pytest.mark.parametrize("name", NAMES)
def test_a_strange_name_comes_back_as_it_is_and_goes_again(
    name: str, workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    before = picture(tmp_path)
    (workspace.copy / name).write_text("x")
    assert [change.path for change in workspace.changes().created] == [name]
    assert all(line.replace("\t", "").isprintable() for line in workspace.diff().splitlines())
    workspace.apply(tmp_path / "undo")
    assert (original / name).read_text() == "x"
    undo(tmp_path / "undo")
    after = {path: fact for path, fact in picture(tmp_path).items() if not path.startswith("undo")}
    assert after.keys() - before.keys() == {f"{workspace.copy.relative_to(tmp_path)}/{name}"}


def test_a_name_cannot_forge_lines_of_the_diff(workspace: Workspace) -> None:
    (workspace.copy / "a\n--- a\n+++ b").write_text("x\n")
    lines = workspace.diff().splitlines()
    assert sum(line.startswith("+++ ") for line in lines) == 1


def test_five_thousand_files_come_back_and_go_again(
    workspace: Workspace, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_now(descriptor: int) -> None:
        del descriptor

    monkeypatch.setattr(os, "fsync", not_now)  # what the disk takes is not what is tested
    before = picture(original)
    for number in range(5000):
        (workspace.copy / f"{number}").touch()
    assert workspace.apply(tmp_path / "undo").created == 5000
    assert sum(1 for _ in original.iterdir()) == 5000 + 4
    undo(tmp_path / "undo")
    assert picture(original) == before


def test_more_entries_than_allowed_come_back_not_at_all(original: Path, tmp_path: Path) -> None:
    workspace = Workspace.prepare(original, tmp_path / "s", max_entries=50)
    before = picture(original)
    for number in range(60):
        (workspace.copy / f"{number}").touch()
    with pytest.raises(SandboxError, match="more than 50 entries"):
        workspace.apply(tmp_path / "undo")
    assert picture(original) == before


def test_an_archive_comes_back_as_bytes_and_nothing_is_unpacked(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name in ("../escaped", str(tmp_path / "named"), "bomb"):
            member = tarfile.TarInfo(name)
            member.size = 1 << 20
            tar.addfile(member, io.BytesIO(bytes(1 << 20)))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(link)
    (workspace.copy / "evil.tar.gz").write_bytes(archive.getvalue())
    assert len(workspace.diff()) < 200
    workspace.apply(tmp_path / "undo")
    assert (original / "evil.tar.gz").read_bytes() == archive.getvalue()
    assert not (tmp_path / "escaped").exists()
    assert not (tmp_path / "named").exists()
    assert {path.name for path in original.iterdir()} == {
        *("src", "run.sh", "link", ".git", "evil.tar.gz"),
    }


def test_a_hard_link_in_the_copy_to_a_file_outside_gives_only_what_was_readable_anyway(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    """Inside, no file outside can be linked; from outside, what comes back is a file of its own."""
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    os.link(victim, workspace.copy / "second")
    workspace.apply(tmp_path / "undo")
    (original / "second").write_text("changed")
    assert victim.read_text() == "untouched"
    assert (original / "second").stat().st_nlink == 1


def test_a_pipe_that_nobody_writes_does_not_hold_the_collector_up(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    (workspace.copy / "src" / "a.py").unlink()
    os.mkfifo(workspace.copy / "src" / "a.py")
    changes = workspace.changes()
    assert [change.path for change in changes.deleted] == ["src/a.py"]
    assert changes.withheld == ("src/a.py: sockets, pipes and devices are left out",)


SWAPS: dict[str, Callable[[Path, Path], object]] = {
    "a link to a file outside": lambda at, secret: at.symlink_to(secret),
    "a pipe": lambda at, secret: os.mkfifo(at),
    "a directory": lambda at, secret: at.mkdir(),
    "a link to a directory outside": lambda at, secret: at.symlink_to(secret.parent),
}


@pytest.mark.parametrize("what", SWAPS)
@pytest.mark.parametrize("where", ["src/a.py", "src"])
def test_what_is_swapped_between_the_look_and_the_reading_is_noticed(
    what: str,
    where: str,
    workspace: Workspace,
    original: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Just after the collector looked at a name, something else stands there."""
    secret = tmp_path / "outside" / "secret"
    secret.parent.mkdir()
    secret.write_text("hunter2")
    (workspace.copy / "src" / "a.py").write_text("changed")
    before, real, at = picture(original), os.stat, workspace.copy / where
    name = at.name

    def stat_then_swap(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        facts = real(path, *args, **kwargs)
        if path == name and "dir_fd" in kwargs and not (tmp_path / "moved").exists():
            at.rename(tmp_path / "moved")
            SWAPS[what](at, secret)
        return facts

    monkeypatch.setattr(os, "stat", stat_then_swap)
    if where == "src" and what == "a directory":
        assert workspace.changes().deleted[0].path == "src/a.py"  # as if it had been deleted
        return
    with pytest.raises(SandboxError, match="cannot be read") as refused:
        workspace.apply(tmp_path / "undo")
    assert refused.value.code == "E_SANDBOX_WORKSPACE"
    assert picture(original) == before


# Crashes: every write of apply and of undo is a moment at which the machine may stop.


class Crash(BaseException):
    """The power went."""


CALLS = ("rename", "unlink", "rmdir", "mkdir", "symlink", "fchmod")


def _crash_at(monkeypatch: pytest.MonkeyPatch, nth: int) -> list[int]:
    """Let the nth change of the file system, and all after it, never happen."""
    count = [0]

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            count[0] += 1
            if count[0] > nth:
                raise Crash
            return real(*args, **kwargs)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, guarded(getattr(os, name)))
    return count


@pytest.mark.proves("B3-UNDO-EXACT")
@pytest.mark.parametrize("action", ["apply", "undo"])
def test_after_a_crash_at_any_moment_recovery_brings_the_original_back_exactly(
    action: str, original: Path, tmp_path: Path
) -> None:
    before = picture(original)
    crashes = 0
    for nth in range(200):
        workspace = Workspace.prepare(original, tmp_path / "scratch")
        edit(workspace.copy)
        undo_dir = tmp_path / f"undo-{nth}"
        if action == "undo":
            workspace.apply(undo_dir)
        with pytest.MonkeyPatch.context() as patch:
            _crash_at(patch, nth)
            try:
                if action == "apply":
                    workspace.apply(undo_dir)
                else:
                    undo(undo_dir)
            except Crash:
                crashes += 1
            else:
                break
        workspace.discard()
        recover(undo_dir)
        if action == "undo" and read_journal(undo_dir).phase == "applied":
            undo(undo_dir)
        assert picture(original) == before, f"after a crash at step {nth}"
        assert recover(undo_dir) is False
    assert crashes > 15


def test_a_full_disk_in_the_middle_goes_back_by_itself(
    workspace: Workspace, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = picture(original)
    edit(workspace.copy)
    real = os.mkdir

    def full(path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        if path == "new":
            raise OSError(28, "No space left on device")
        real(path, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "mkdir", full)
    with pytest.raises(SandboxError) as failed:
        workspace.apply(tmp_path / "undo")
    assert failed.value.code == "E_SANDBOX_APPLY"
    assert picture(original) == before


def test_content_swapped_while_it_is_copied_back_is_noticed(original: Path, tmp_path: Path) -> None:
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    (workspace.copy / "src" / "a.py").write_text("reviewed")
    (change,) = workspace.changes().all
    other = tmp_path / "other"
    other.write_text("not reviewed")

    def swapped(path: str) -> int:
        return os.open(other, os.O_RDONLY)

    source = ContentSource(file=swapped, link=str, inode=no_inode)
    with (
        open_descriptor(open_root(original)) as root,
        pytest.raises(SandboxError, match="being copied"),
    ):
        Transition(
            root, {change.path: change.before}, {change.path: change.after}, source, "m"
        ).run({})
    assert (original / "src" / "a.py").read_text() == "one\ntwo\nthree\n"


def test_a_tree_deeper_than_any_path_is_removed_whole(tmp_path: Path) -> None:
    top = tmp_path / "copy"
    (top / "wide" / "closed").mkdir(parents=True)
    (top / "wide" / "closed" / "file").write_text("x")
    (top / "wide" / "link").symlink_to(tmp_path)
    (top / "wide" / "closed").chmod(0)
    below = os.open(top, os.O_RDONLY)
    for _ in range(3000):  # deeper than recursion and descriptors reach, too
        os.mkdir("a" * 40, 0o700, dir_fd=below)
        deeper = os.open("a" * 40, os.O_RDONLY, dir_fd=below)
        os.close(below)
        below = deeper
    os.close(below)
    (tmp_path / "stays").write_text("x")
    remove_tree(top)
    assert [path.name for path in tmp_path.iterdir()] == ["stays"]
