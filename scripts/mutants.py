"""Break each promise of `docs/security.md` once and show that its named test goes red.

Every promise has a mutant in `tests/mutants/*.toml`: one edit of the code that keeps it. The edit
is made in a private copy of the tree, all named tests run there, and the mutant is caught when its
own test fails and no other promise's test does, save those it lists as resting on the same code.
`make mutants` takes half an hour; `make mutants ONLY=replay` runs those whose test matches.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)
_COPIED = ("silas", "tests", "plans", "config", "docs", "scripts", "benchmarks")
_FAILED = re.compile(r"^FAILED (\S+?::\w+(?:::\w+)*)", re.MULTILINE)
_SECONDS = 600.0
"""A run of all named tests takes half a minute; one that hangs is a mutant caught by the clock."""


class Mutant(BaseModel, frozen=True, extra="forbid"):
    """One edit that breaks one promise.

    Attributes:
        test: The promise's named test, as `docs/security.md` has it.
        file: The file that is edited.
        find: Text that occurs in it exactly once.
        replace: What takes its place.
        also: Named tests of other promises that rest on the same line.
    """

    test: str
    file: str
    find: str
    replace: str
    also: tuple[str, ...] = ()

    def applied(self, text: str) -> str:
        """The mutated text. Raises `ValueError` unless `find` occurs exactly once."""
        if text.count(self.find) != 1:
            raise ValueError(f"{self.file}: the text to break occurs {text.count(self.find)} times")
        return text.replace(self.find, self.replace)


class Verdict(NamedTuple):
    """What a mutant did; `words` are empty when it was caught by exactly its test."""

    mutant: Mutant
    words: str


def promises(root: Path = ROOT) -> dict[str, str]:
    """The named test of every promise, and the file that keeps it."""
    page = (root / "docs" / "security.md").read_text(encoding="utf-8")
    return {test: code for code, test in _ROW.findall(page)}


def mutants(root: Path = ROOT) -> tuple[Mutant, ...]:
    """All of them, file by file."""
    return tuple(
        Mutant.model_validate(entry)
        for path in sorted((root / "tests" / "mutants").glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    )


def copied(into: Path) -> Path:
    """A tree of its own with everything the tests read."""
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, into / name, ignore=unwanted, symlinks=True)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, into / path.name)
    return into


def failing(tree: Path, tests: list[str]) -> set[str] | None:
    """Which of `tests` fail in `tree`; None when they could not even be collected."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-n", "2", "--tb=no", "-rf", *tests]
    try:
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider"],
            cwd=tree,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return set(tests)
    if done.returncode not in (0, 1):
        return None
    return {name.split("[")[0] for name in _FAILED.findall(done.stdout)}


def judged(mutant: Mutant, tree: Path, tests: list[str]) -> Verdict:
    """Break the promise in `tree`, run `tests`, put it back."""
    path = tree / mutant.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(whole), encoding="utf-8")
    try:
        red = failing(tree, tests)
    finally:
        path.write_text(whole, encoding="utf-8")
    if red is None:
        return Verdict(mutant, "the tests could not be collected; the edit must leave a program")
    if mutant.test not in red:
        return Verdict(mutant, "survived: its named test stays green")
    others = sorted(red - {mutant.test, *mutant.also})
    return Verdict(mutant, f"other promises went red, too: {', '.join(others)}" if others else "")


def verdicts(chosen: list[Mutant], *, alone: bool) -> Iterator[Verdict]:
    """Each mutant's verdict, as it comes; `alone` runs only its own test."""
    everything = sorted(promises())
    with tempfile.TemporaryDirectory(prefix="silas-mutants-") as directory:
        tree = copied(Path(directory))
        broken = failing(tree, everything)
        if broken is None or broken:
            raise SystemExit(f"The tests must be green before anything is broken: {broken}")
        for mutant in chosen:
            yield judged(mutant, tree, [mutant.test] if alone else everything)


def main() -> int:
    """Run, print a line a mutant, end with 1 unless every one was caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a test")
    parser.add_argument("--alone", action="store_true", help="run only the named test of each")
    args = parser.parse_args()
    chosen = [m for m in mutants() if args.only in m.test]
    missed = 0
    for number, (mutant, words) in enumerate(verdicts(chosen, alone=args.alone), 1):
        missed += bool(words)
        state = f"MISSED  {words}" if words else "caught"
        print(f"{number:3}/{len(chosen)}  {mutant.test.split('::')[-1]}  {state}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} broken promises were caught.")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
