"""A directory with one of everything a workspace can hold."""

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src" / "empty").mkdir(parents=True)
    (root / "result.txt").write_text("before\n")
    (root / "binary").write_bytes(bytes(range(256)))
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o750)
    (root / "src" / "old.py").write_text("old\n")
    (root / "link").symlink_to("result.txt")
    return root
