"""Which files can be followed (spec 3.5, ADR-016)."""

import os
from pathlib import Path

import pytest

from silas.context import ContextError
from silas.context.files import WorkspaceFiles
from tests.context.kit import A, B


@pytest.fixture
def work(tmp_path: Path) -> Path:
    root = (tmp_path / "work").resolve()
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text("one\ntwo\n")
    (root / ".env").write_text("SECRET=1")
    (root / "src" / ".hidden").write_text("x")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("x")
    (tmp_path / "outside.txt").write_text("outside")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "up").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    (root / "big.txt").write_bytes(b"x" * 1_000_001)
    return root


@pytest.mark.parametrize("path", ["src/auth.py", "{root}/src/auth.py"])
def test_a_file_of_the_work_is_read(work: Path, path: str) -> None:
    files = WorkspaceFiles()
    files.enter(A, work)
    assert files(A, path.format(root=work)) == b"one\ntwo\n"


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "src/../../outside.txt",
        "{root}/../outside.txt",
        "/etc/passwd",
        "link.txt",
        "up/outside.txt",
        "up/work/src/auth.py",
        ".env",
        "src/.hidden",
        ".git/config",
        "src/./auth.py",
        "pipe",
        "src",
        "",
        "nothing.txt",
        "src/auth.py\0.txt",
        "big.txt",
        "{root}-other/x",
    ],
)
def test_nothing_else_is(work: Path, path: str) -> None:
    files = WorkspaceFiles()
    files.enter(A, work)
    with pytest.raises(ContextError):
        files(A, path.format(root=work))


def test_no_scope_reads_what_another_works_on(work: Path) -> None:
    files = WorkspaceFiles()
    files.enter(A, work)
    with pytest.raises(ContextError, match="no directory"):
        files(B, f"{work}/src/auth.py")
    files.leave(A)
    with pytest.raises(ContextError, match="no directory"):
        files(A, "src/auth.py")
