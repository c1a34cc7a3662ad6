"""The real sandbox of this machine, and a Python inside it."""

import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from silas.sandbox import (
    Mount,
    Sandbox,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxResult,
    default,
)
from silas.workspace.copy import Workspace
from tests.support.waits import SECONDS

_PREFIX = Path(sys.base_prefix).resolve()
PYTHON = str(Path(sys.executable).resolve())
PYTHON_MOUNTS = () if _PREFIX.is_relative_to("/usr") else (Mount(source=_PREFIX, target=_PREFIX),)

Run = Callable[..., Coroutine[Any, Any, SandboxResult]]

AMPLE: dict[str, Any] = {"wall_seconds": SECONDS}


@pytest.fixture
def sandbox() -> Sandbox:
    return default(SandboxConfig(), forbidden=())


@pytest.fixture
def run(sandbox: Sandbox, tmp_path: Path) -> Run:
    """Run an argument list; limits and files by keyword."""

    async def call(
        argv: Sequence[str],
        *,
        limits: dict[str, Any] | None = None,
        mounts: tuple[Mount, ...] = (),
        **files: Any,
    ) -> SandboxResult:
        files.setdefault("cwd", Path("/work/empty"))
        return await sandbox.run(
            argv,
            SandboxLimits(**{**AMPLE, **(limits or {})}),
            SandboxFiles(mounts=(*PYTHON_MOUNTS, *mounts), **files),
        )

    return call


@pytest.fixture
def python(run: Run) -> Run:
    """Run Python source with this interpreter, inside."""

    async def call(source: str, **options: Any) -> SandboxResult:
        return await run([PYTHON, "-I", "-c", source], **options)

    return call


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """A directory of the host that a run may write to."""
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture
def original(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "a.py").write_text("one\ntwo\nthree\n")
    (root / "src" / "deep" / "b.txt").write_text("b\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/a.py")
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root


@pytest.fixture
def workspace(original: Path, tmp_path: Path) -> Workspace:
    return Workspace.prepare(original, tmp_path / "scratch")
