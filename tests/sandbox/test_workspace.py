"""A workspace is a private copy; its changes come back exactly, or not at all (decision B3)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from silas.errors import SandboxError
from silas.workspace.copy import Workspace, undo
from tests.support.chance import examples

from .trees import edit, exact, picture


def test_a_copy_holds_bytes_modes_and_links_but_not_what_isis_protected(
    workspace: Workspace, original: Path
) -> None:
    expected = {path: fact for path, fact in picture(original).items() if ".git" not in path}
    copied = {path: fact for path, fact in picture(workspace.copy).items() if path != ".git"}
    assert copied == expected
    assert list((workspace.copy / ".git").iterdir()) == []


def test_the_copy_is_mounted_at_the_original_path_and_history_read_only_inside(
    workspace: Workspace, original: Path
) -> None:
    whole, history = workspace.mounts(writable=True)
    assert (whole.source, whole.target, whole.writable) == (workspace.copy, original, True)
    assert (history.source, history.target) == (original / ".git", original / ".git")
    assert not history.writable


def test_nothing_changed_means_no_changes_and_an_empty_diff(workspace: Workspace) -> None:
    assert not workspace.changes()
    assert workspace.diff() == ""


def test_changes_are_named_with_what_was_and_what_is(workspace: Workspace) -> None:
    edit(workspace.copy)
    changes = workspace.changes()
    assert [change.path for change in changes.created] == ["new", "new/file"]
    assert [change.path for change in changes.changed] == ["link", "run.sh", "src/a.py"]
    assert [change.path for change in changes.deleted] == ["src/deep", "src/deep/b.txt"]


def test_the_diff_shows_lines_names_binary_files_and_modes(workspace: Workspace) -> None:
    edit(workspace.copy)
    text = workspace.diff()
    assert "--- a/src/a.py\n+++ b/src/a.py\n" in text
    assert "-two\n+2\n" in text
    assert "new/file: nothing -> file of 7 bytes, mode 0644\nbinary content, not shown\n" in text
    assert "run.sh: file of 10 bytes, mode 0755 -> file of 10 bytes, mode 0700\n" in text


def test_a_file_that_was_only_renamed_shows_where_it_went_and_no_lines(
    workspace: Workspace,
) -> None:
    old = workspace.copy / "src/a.py"
    old.rename(workspace.copy / "src/new.py")
    text = workspace.diff()
    assert text == "src/a.py -> src/new.py: renamed, with the same content\n"


def _twice(copy: Path) -> None:
    content = (copy / "src/a.py").read_bytes()
    (copy / "src/a.py").unlink()
    for name in ("one.py", "two.py"):
        (copy / name).write_bytes(content)


def _changed(copy: Path) -> None:
    (copy / "src/a.py").rename(copy / "one.py")
    (copy / "one.py").write_text("one\n2\n")


def _executable(copy: Path) -> None:
    (copy / "src/a.py").rename(copy / "one.py")
    (copy / "one.py").chmod(0o755)


@pytest.mark.parametrize("change", [_twice, _changed, _executable])
def test_what_is_more_than_a_rename_shows_all_its_lines(
    change: Callable[[Path], None], workspace: Workspace
) -> None:
    change(workspace.copy)
    text = workspace.diff()
    assert "renamed" not in text
    assert "--- a/src/a.py\n+++ /dev/null\n" in text
    assert "--- /dev/null\n+++ b/one.py\n" in text


def test_a_diff_too_long_says_how_much_is_missing(workspace: Workspace) -> None:
    edit(workspace.copy)
    text = workspace.diff(max_bytes=60)
    assert "... and" in text
    assert len(text) < 200


@pytest.mark.proves("B3-UNDO-EXACT")
def test_apply_makes_the_original_like_the_copy_and_undo_brings_everything_back(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    before = picture(original)
    edit(workspace.copy)
    applied = workspace.apply(tmp_path / "undo")
    assert (applied.created, applied.changed, applied.deleted) == (2, 3, 2)
    now = {path: fact for path, fact in picture(original).items() if ".git" not in path}
    assert now == {p: f for p, f in picture(workspace.copy).items() if p != ".git"}
    undo(tmp_path / "undo")
    assert picture(original) == before


def test_undo_restores_the_time_of_change(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    os.utime(original / "src" / "a.py", ns=(5, 1_000_000_007))
    fresh = Workspace.prepare(original, tmp_path / "again")
    (fresh.copy / "src" / "a.py").write_text("x")
    fresh.apply(tmp_path / "undo")
    undo(tmp_path / "undo")
    assert (original / "src" / "a.py").stat().st_mtime_ns == 1_000_000_007


def test_a_workspace_survives_a_restart(workspace: Workspace, tmp_path: Path) -> None:
    edit(workspace.copy)
    assert Workspace.load(workspace.directory) == workspace
    assert Workspace.load(workspace.directory).changes() == workspace.changes()
    with pytest.raises(SandboxError, match="E_SANDBOX_WORKSPACE"):
        Workspace.load(tmp_path)


def test_a_discarded_workspace_is_gone_even_with_locked_directories(workspace: Workspace) -> None:
    (workspace.copy / "src").chmod(0)
    workspace.discard()
    assert not workspace.directory.exists()


def swap(path: Path) -> None:
    moved = path.with_name(f"{path.name}-moved")
    path.rename(moved)
    path.symlink_to(moved)


def replace(root: Path) -> None:
    root.rename(root.with_name("gone"))
    root.mkdir()


# What happens in the original between prepare and apply.

INTERFERENCE: dict[str, Callable[[Path], object]] = {
    "edited": lambda root: (root / "src" / "a.py").write_text("other\n"),
    "mode": lambda root: (root / "src" / "a.py").chmod(0o600),
    "deleted": lambda root: (root / "src" / "a.py").unlink(),
    "created": lambda root: (root / "new").mkdir(),
    "replaced by a link": lambda root: swap(root / "src" / "a.py"),
    "directory replaced by a link": lambda root: swap(root / "src"),
    "file added to a directory that goes": lambda root: (root / "src/deep/mine").write_text("x"),
    "whole root replaced": swap,
    "whole root replaced by a copy": replace,
}


@pytest.mark.parametrize("what", INTERFERENCE)
def test_apply_refuses_when_the_original_changed_meanwhile_and_writes_nothing(
    what: str, workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    edit(workspace.copy)
    INTERFERENCE[what](original)
    before = picture(tmp_path)
    with pytest.raises(SandboxError) as refused:
        workspace.apply(tmp_path / "undo")
    assert refused.value.code == "E_SANDBOX_CONFLICT"
    after = {path: fact for path, fact in picture(tmp_path).items() if not path.startswith("undo")}
    assert after == before


@pytest.mark.parametrize("path", ["src/a.py", "new/file", "run.sh", "new/added"])
def test_undo_refuses_when_a_touched_path_changed_since(
    path: str, workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    (original / path).write_text("the owner's own work")
    before = picture(original)
    with pytest.raises(SandboxError) as refused:
        undo(tmp_path / "undo")
    assert refused.value.code == "E_SANDBOX_CONFLICT"
    assert picture(original) == before


def test_undo_works_once(workspace: Workspace, tmp_path: Path) -> None:
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    undo(tmp_path / "undo")
    with pytest.raises(SandboxError, match="nothing to undo"):
        undo(tmp_path / "undo")
    with pytest.raises(SandboxError, match="no undo journal"):
        undo(tmp_path / "scratch")


def test_an_undo_directory_is_never_used_twice_nor_inside_what_it_guards(
    workspace: Workspace, original: Path, tmp_path: Path
) -> None:
    edit(workspace.copy)
    workspace.apply(tmp_path / "undo")
    with pytest.raises(SandboxError, match="in use"):
        workspace.apply(tmp_path / "undo")
    with pytest.raises(SandboxError, match="lies in the directory"):
        workspace.apply(original / "undo")


# Size.


@pytest.mark.parametrize(
    ("bytes_", "entries", "words"), [(5, 100, "larger than 5 bytes"), (1000, 3, "more than 3")]
)
def test_a_directory_too_large_is_refused_and_leaves_nothing(
    bytes_: int, entries: int, words: str, original: Path, tmp_path: Path
) -> None:
    with pytest.raises(SandboxError, match=words) as refused:
        Workspace.prepare(original, tmp_path / "s", max_bytes=bytes_, max_entries=entries)
    assert refused.value.code == "E_SANDBOX_WORKSPACE_SIZE"
    assert list((tmp_path / "s").iterdir()) == []


def test_a_copy_that_grew_too_large_or_deep_is_refused(original: Path, tmp_path: Path) -> None:
    workspace = Workspace.prepare(original, tmp_path / "s", max_bytes=1000)
    with open(workspace.copy / "sparse", "wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(SandboxError, match="too large"):
        workspace.changes()
    (workspace.copy / "sparse").unlink()
    deep = workspace.copy
    for _ in range(110):
        deep = deep / "d"
        deep.mkdir()
    with pytest.raises(SandboxError, match="nested deeper"):
        workspace.changes()


def test_original_and_scratch_may_not_hold_each_other(original: Path, tmp_path: Path) -> None:
    for scratch in (original / "scratch", original, tmp_path):
        with pytest.raises(SandboxError, match="hold each other"):
            Workspace.prepare(original, scratch)


@pytest.mark.parametrize("what", ["missing", "a link", "a link above", "a file"])
def test_only_a_real_directory_becomes_a_workspace(
    what: str, original: Path, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(original)
    path = {
        "missing": tmp_path / "nothing",
        "a link": tmp_path / "alias",
        "a link above": tmp_path / "alias" / "src",
        "a file": original / "run.sh",
    }[what]
    with pytest.raises(SandboxError) as refused:
        Workspace.prepare(path, tmp_path / "scratch")
    assert refused.value.code == "E_SANDBOX_WORKSPACE"


# The property.

NAMES = st.sampled_from(["a", "b", "c", "d\u00e9", "x y", ".git", "venv", ".ENVRC"])
PATHS = st.lists(NAMES, min_size=1, max_size=3)
CONTENT = st.binary(max_size=40) | st.text(alphabet="ab\n\r\t\x1b\u202e", max_size=20).map(
    lambda text: text.encode()
)
KINDS = st.sampled_from(["file", "dir", "link", "delete", "mode", "move", "time", "hard"])
EDITS = st.lists(
    st.tuples(KINDS, PATHS, CONTENT, st.integers(0, 0o777), PATHS), min_size=1, max_size=15
)


READABLE = 0 if os.geteuid() == 0 else 0o400
"""What nobody but root could read cannot be compared, and is refused with words elsewhere."""


def act(root: Path, kind: str, path: Path, content: bytes, mode: int, second: Path) -> None:
    """One random thing somebody does in a tree; what is impossible does nothing."""
    try:
        if kind == "file":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(mode | READABLE)
        elif kind == "dir":
            path.mkdir(parents=True, exist_ok=True)
            path.chmod(mode | 0o700)
        elif kind == "link":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(os.fsdecode(content.replace(b"\0", b"") or b"t"))
        elif kind == "mode" and not path.is_symlink():
            path.chmod(mode | (0o700 if path.is_dir() else READABLE))
        elif kind == "move":
            path.rename(second)
        elif kind == "time":
            nanoseconds = mode * 10**15 + len(content) * 10**8 + 7
            os.utime(path, ns=(nanoseconds, nanoseconds), follow_symlinks=False)
        elif kind == "hard" and not path.is_symlink():
            os.link(path, second)
        elif path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
    except OSError:  # an impossible edit is no edit
        return


Edits = list[tuple[str, list[str], bytes, int, list[str]]]


def play(root: Path, edits: Edits) -> None:
    for kind, names, content, mode, second in edits:
        path = root.joinpath(*names)
        if any(part.is_symlink() for part in path.parents):
            continue
        act(root, kind, path, content, mode, root.joinpath(*second))


@pytest.mark.proves("B3-UNDO-EXACT")
@settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(tree=EDITS, edits=EDITS)
@example(  # one of two names of a file changes, and the other does not
    tree=[
        ("file", ["a"], b"old", 0o644, ["a"]),
        ("hard", ["a"], b"", 0, ["b"]),
        ("time", ["a"], b"", 3, ["a"]),
    ],
    edits=[("file", ["a"], b"new", 0o600, ["a"])],
)
@example(  # a protected link is left out of the copy, and not lost with its directory
    tree=[("link", ["a", ".git"], b"t", 0, ["a"])], edits=[("delete", ["a"], b"", 0, ["a"])]
)
def test_apply_then_undo_is_as_if_nothing_had_happened(
    tree: Edits,
    edits: Edits,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    base = tmp_path_factory.mktemp("property")
    original = base / "original"
    original.mkdir()
    play(original, tree)
    before, whole = picture(original), exact(original)
    workspace = Workspace.prepare(original, base / "scratch")
    play(workspace.copy, edits)
    changes = workspace.changes()
    assert bool(changes) == bool(workspace.diff()) == bool(changes.all)
    workspace.diff().encode("utf-8")
    lost = {change.path for change in changes.deleted} | {
        change.path for change in changes.changed if change.after and change.after.kind != "dir"
    }
    kept = {path for path in before if is_protected(path)}
    if any(_holds(path, inside) for path in lost for inside in kept):
        with pytest.raises(SandboxError, match="E_SANDBOX_CONFLICT"):
            workspace.apply(base / "undo")
        assert exact(original) == whole
        return
    workspace.apply(base / "undo")
    mine = {p: f for p, f in picture(original).items() if not is_protected(p)}
    theirs = {p: f for p, f in picture(workspace.copy).items() if not is_protected(p)}
    assert mine == theirs
    undo(base / "undo")
    assert exact(original) == whole


def _holds(path: str, inside: str) -> bool:
    """Whether a directory that goes holds a protected part of the original."""
    return inside.startswith(f"{path}/")


def is_protected(path: str) -> bool:
    return bool({".git", "venv", ".envrc"} & set(path.lower().split("/")))
