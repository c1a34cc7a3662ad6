"""`make quick`: what a change is checked by; the aim is 90 seconds on two idle cores.

Format and lint of everything, types of the files that changed since the branch left
`origin/main` (or since the last commit, where there is none), import floors, and the tests that
start no process (`tests/support/quick.py`). It stops at the first that fails and ends as that did.
Beside the seconds it says the processor time, which tells little of what else runs.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_BIN = Path(sys.executable).parent
_WORKERS = ("-n", "2", "--dist", "worksteal")


def main(arguments: Sequence[str]) -> int:
    changed, page = changed_files("*.py"), changed_files("web/*.js")
    steps: list[tuple[str, list[str]]] = [
        ("format", [f"{_BIN}/ruff", "format", "--check", "--quiet", "."]),
        ("lint", [f"{_BIN}/ruff", "check", "--quiet", "."]),
        ("types", [f"{_BIN}/basedpyright", *changed]),
        ("page", [sys.executable, "-m", "scripts.page_types"]),
        ("floors", [f"{_BIN}/lint-imports", "--no-logo"]),
        ("tests", [sys.executable, "-m", "pytest", "--quick", *_WORKERS, *arguments]),
    ]
    for name, command in steps:
        if (name == "types" and not changed) or (name == "page" and not page):
            continue
        began, used = time.monotonic(), _processor_seconds()
        code = subprocess.run(command, check=False).returncode
        took, used = time.monotonic() - began, _processor_seconds() - used
        ended = "ok" if code == 0 else "failed"
        print(f"{name}: {ended}, {took:.0f} s ({used:.0f} s of processor)")
        if code:
            return code
    return 0


def changed_files(pattern: str) -> list[str]:
    """Files that differ from where the branch began, those not yet in git included."""
    base = _git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    named = _git("diff", "--name-only", "--diff-filter=d", base[0], "--", pattern)
    new = _git("ls-files", "--others", "--exclude-standard", "--", pattern)
    return sorted({*named, *new})


def _processor_seconds() -> float:
    ended = os.times()
    return ended.children_user + ended.children_system


def _git(*words: str) -> list[str]:
    command = ["git", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
