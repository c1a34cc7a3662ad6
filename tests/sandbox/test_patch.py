"""The exact diff is a patch: git makes the same change of it (decision B3)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from silas.workspace.copy import Workspace, content_at
from silas.workspace.hunks import hunks, lines_of
from silas.workspace.patch import exact_patch
from tests.support.chance import examples
from tests.support.waits import SECONDS

from .test_workspace import EDITS, Edits, is_protected, play
from .trees import edit, picture

PROGRAMS = {
    "git": ["git", "apply", "--whitespace=nowarn", "-"],
    "patch": ["patch", "-p1", "-s", "-f"],
}


def applied(program: str, patch: str, root: Path) -> None:
    """Let another program make the change."""
    found = shutil.which(program)
    assert found, f"{program} is not installed, and the change is compared with what it does"
    done = subprocess.run(
        [found, *PROGRAMS[program][1:]],
        cwd=root,
        input=patch.encode(),
        # A tree may hold a `.git` of its own, which git would take for a repository.
        env={"GIT_DIR": os.devnull, "PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, (done.stderr, patch)


def without_empty_directories(root: Path) -> None:
    """A tree as git can know it: it keeps no directory without a file, and removes none."""
    for directory, _, _ in os.walk(root, topdown=False):
        if directory != str(root) and not os.listdir(directory):
            os.rmdir(directory)


def as_git_sees(root: Path) -> dict[str, tuple[str, int, bytes]]:
    """Git knows files and links, and of permissions only whether the owner may execute."""
    return {
        path: (kind, mode & 0o100, content)
        for path, (kind, mode, content) in picture(root).items()
        if kind != "dir" and not is_protected(path)
    }


@pytest.mark.proves("B3-DIFF-SHOWN")
def test_git_makes_the_same_change_of_it(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    edit(workspace.copy)
    (workspace.copy / "new" / 'caf\u00e9 "x"\t\\ y').write_text("no end of line")
    (workspace.copy / os.fsdecode(b"\xff\n")).write_text("\x1b[31m\r\n\u202e\n")
    shutil.copytree(original, tmp_path / "other", symlinks=True)
    applied("git", workspace.patch(), tmp_path / "other")
    assert as_git_sees(tmp_path / "other") == as_git_sees(workspace.copy)


def test_patch_makes_the_same_change_of_its_text(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    (workspace.copy / "src" / "a.py").write_text("zero\none\nthree")
    (workspace.copy / "with space").write_text("new\n")
    (workspace.copy / "src" / "deep" / "b.txt").unlink()
    shutil.copytree(original, tmp_path / "other", symlinks=True)
    applied("patch", workspace.patch(), tmp_path / "other")
    assert as_git_sees(tmp_path / "other") == as_git_sees(workspace.copy)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tree=EDITS, edits=EDITS)
@example(tree=[("file", [".git"], b"", 0, ["a"])], edits=[("file", ["b"], b"", 0, ["a"])])
@example(  # a file takes the place of a directory that held nothing but an empty one
    tree=[("dir", ["b", "a"], b"", 0, ["a"])],
    edits=[("move", ["b"], b"", 0, ["c"]), ("file", ["b"], b"", 0, ["a"])],
)
def test_git_makes_the_same_change_of_any_patch(
    tree: Edits, edits: Edits, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("patch")
    (base / "original").mkdir()
    play(base / "original", tree)
    workspace = Workspace.prepare(base / "original", base / "scratch")
    shutil.copytree(workspace.copy, base / "other", symlinks=True)
    play(workspace.copy, edits)
    patch = workspace.patch()
    assert bool(patch) == bool(workspace.changes())
    if "\ndiff --git " in patch:
        without_empty_directories(base / "other")
        applied("git", patch, base / "other")
    assert as_git_sees(base / "other") == as_git_sees(workspace.copy)


def test_what_git_does_not_know_is_told_in_words(workspace: Workspace) -> None:
    (workspace.copy / "empty").mkdir(mode=0o711)
    (workspace.copy / "run.sh").chmod(0o711)
    assert workspace.patch() == (
        "# empty: nothing -> dir, mode 0711\n"
        "# run.sh: file of 10 bytes, mode 0755 -> file of 10 bytes, mode 0711\n"
    )


def test_what_is_too_large_is_named_with_its_digests_and_hides_nothing_else(
    workspace: Workspace, original: Path
) -> None:
    (workspace.copy / "big").write_bytes(os.urandom(5000))
    (workspace.copy / "huge").touch()
    os.truncate(workspace.copy / "huge", 65 << 20)
    (workspace.copy / "src" / "a.py").write_text("one\n2\nthree\n")
    changes = workspace.changes()
    big, huge = (change.after.digest for change in changes.created if change.after)
    root, tree = os.open(original, os.O_RDONLY), os.open(workspace.copy, os.O_RDONLY)
    patch = exact_patch(
        changes.all,
        lambda path, entry: content_at(root, path, entry),
        lambda path, entry: content_at(tree, path, entry),
        max_bytes=1000,
    )
    os.close(root)
    os.close(tree)
    assert f"# too large for a patch; SHA-256 nothing -> {big}\n" in patch
    assert f"# too large for a patch; SHA-256 nothing -> {huge}\n" in patch
    assert "\n-two\n+2\n" in patch


TEXTS = st.lists(st.sampled_from(["a", "b", "\r", "", "+", "---"]), max_size=30).map("\n".join)


@settings(max_examples=examples(300))
@given(old=TEXTS, new=TEXTS)
def test_hunks_turn_one_text_into_the_other(old: str, new: str) -> None:
    before, after = lines_of(old), lines_of(new)
    assert followed(before, list(hunks(before, after))) == after


@pytest.mark.parametrize("lines", [3000, 60_000])
def test_lines_in_reverse_order_are_not_compared_for_hours(lines: int) -> None:
    before = [f"{number}\n" for number in range(lines)]
    after = ["first\n", *reversed(before), "last\n"]
    assert followed(before, list(hunks(before, after))) == after


def followed(old: list[str], told: list[str]) -> list[str]:
    """What hunks make of the old lines, by their numbers and signs alone."""
    new: list[str] = []
    at = 0
    for line in told:
        if line.startswith("@@ "):
            start, _, length = line.split()[1][1:].partition(",")
            begin = int(start) if length == "0" else int(start) - 1
            new += old[at:begin]
            at = begin
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            new += [line[1:]] if line[0] == " " else []
    return [*new, *old[at:]]
