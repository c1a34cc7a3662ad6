"""`make quick`: what a change is checked by in under 90 seconds.

Format and lint of everything, types of the files that changed since the branch left
`origin/main` (or since the last commit, where there is none), import floors, and the tests that
start no process (`tests/support/quick.py`). It stops at the first that fails and ends as that did.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_BIN = Path(sys.executable).parent


def main(arguments: Sequence[str]) -> int:
    changed, page = changed_files("*.py"), changed_files("web/*.js")
    steps: list[tuple[str, list[str]]] = [
        ("format", [f"{_BIN}/ruff", "format", "--check", "--quiet", "."]),
        ("lint", [f"{_BIN}/ruff", "check", "--quiet", "."]),
        ("types", [f"{_BIN}/basedpyright", *changed]),
        ("page", [sys.executable, "-m", "scripts.page_types"]),
        ("floors", [f"{_BIN}/lint-imports", "--no-logo"]),
        ("tests", [sys.executable, "-m", "pytest", "--quick", "-n", "2", *arguments]),
    ]
    for name, command in steps:
        if (name == "types" and not changed) or (name == "page" and not page):
            continue
        began = time.monotonic()
        code = subprocess.run(command, check=False).returncode
        print(f"{name}: {'ok' if code == 0 else 'failed'}, {time.monotonic() - began:.0f} s")
        if code:
            return code
    return 0


def changed_files(pattern: str) -> list[str]:
    """Files that differ from where the branch began, those not yet in git included."""
    base = _git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    named = _git("diff", "--name-only", "--diff-filter=d", base[0], "--", pattern)
    new = _git("ls-files", "--others", "--exclude-standard", "--", pattern)
    return sorted({*named, *new})


def _git(*words: str) -> list[str]:
    command = ["git", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
