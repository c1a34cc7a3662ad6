"""Which tests run which lines of a program, by the contexts of coverage.py.

As a plugin of pytest it runs every test in a process of its own, forked when all are collected, so
that nothing which an earlier test computed and kept is missing from what a later one runs. `start`
is called by every Python of a watched tree, through a line in a `.pth`: what a test starts counts
for it. A process that is killed leaves a mark and no lines; its test then counts for every line.

Coverage sees no file that is read instead of run: a page's script, a program handed to another
interpreter. Whoever opens such a file of `silas` or `web` counts for all of it.
"""

import contextlib
import itertools
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

import coverage

RECORD: Final = ".reached"
OPTIONS: Final = ("-p", "reached", "-W", "ignore:Module already")
"""Of pytest: the plugin, which the `.pth` imported before."""
RED: Final = "!"
"""In a record, in place of a file: the test failed while it was watched."""
_READ: Final = ("silas/", "web/")
_READING: Final = ("<frozen importlib._bootstrap_external>", "<frozen runpy>", "/linecache.py",
    "/tokenize.py", "/hypothesis/internal/constants_ast.py", "/coverage/")  # fmt: skip
"""Who opens a program to run it, to quote it, or to look for values in it."""
_WARNINGS: Final = ("no-data-collected", "module-not-imported", "module-not-measured",
    "already-imported", "trace-changed", "couldnt-parse")  # fmt: skip
_CALLERS: Final = 4
"""Functions between who wants a file and who opens it."""


class Reached(NamedTuple):
    """What the tests of a run came by.

    Attributes:
        lines: For each file the tests that ran each of its lines; a file by its path in the tree.
        files: For each file the tests that read it.
        everywhere: Tests of which nothing better is known than that they may come by anything.
        red: Tests that failed.
    """

    lines: dict[str, dict[int, frozenset[str]]]
    files: dict[str, frozenset[str]]
    everywhere: frozenset[str]
    red: frozenset[str]


class _Watch:
    """What one process runs and reads, for the test that started it."""

    def __init__(self, root: Path) -> None:
        self._root, self._record = root, root / RECORD
        self._test = (self._record / "test").read_text(encoding="utf-8")
        self._coverage = coverage.Coverage(
            data_file=str(self._record / "lines"),
            data_suffix=True,
            config_file=False,
            include=[f"{root}/silas/*"],
            context=self._test or None,
        )
        self._coverage.set_option("run:sigterm", True)
        self._coverage.set_option("run:disable_warnings", list(_WARNINGS))
        self._answer()
        self._coverage.start()
        sys.addaudithook(self._heard)
        os.register_at_fork(after_in_child=self._answer)

    def _answer(self) -> None:
        """From here on this process answers for what it runs."""
        self._pid = os.getpid()
        self._mark = self._record / f"{self._pid}.{os.urandom(4).hex()}.open"
        self._mark.write_text(self._test, encoding="utf-8")

    def begin(self, test: str) -> None:
        """This process is a copy, and runs this test."""
        self._test = test
        self._mark.write_text(test, encoding="utf-8")
        self._coverage.switch_context(test)

    def end(self) -> None:
        """What was run is in the record."""
        if self._pid == os.getpid():  # a copy that nobody told of it has nothing to say
            self._coverage.stop()
            self._coverage.save()
            self._mark.unlink(missing_ok=True)

    def note(self, file: str) -> None:
        """The test of this process read a file, or failed."""
        line = json.dumps([self._test, file]) + "\n"
        with (self._record / f"{os.getpid()}.read").open("a", encoding="utf-8") as notes:
            notes.write(line)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(args[0], str):  # a path comes as its text
            return
        path = os.path.abspath(args[0])
        near = path.removeprefix(f"{self._root}/")
        if near == path or not near.startswith(_READ) or near.endswith(".pyc"):
            return
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        for _ in range(_CALLERS):
            if any(part in frame.f_code.co_filename for part in _READING):
                return
            if frame.f_back is None:
                break
            frame = frame.f_back
        with contextlib.suppress(OSError):
            self.note(near)


_started: list[_Watch] = []


def start(root: str) -> None:
    """Watch this process, unless it may not write into the record (a sandbox)."""
    import atexit  # noqa: PLC0415 - as little as possible in every process of a watched tree

    if _started:  # a `.pth` may be read twice
        return
    with contextlib.suppress(OSError):
        watch = _Watch(Path(root))
        _started.append(watch)
        atexit.register(watch.end)


def pytest_runtest_logreport(report: Any) -> None:
    """Tell what failed."""
    if report.failed:
        _started[0].note(RED)


def pytest_runtestloop(session: Any) -> bool:
    """Run each test, with all its cases, in a process of its own; the result is in the record."""
    (watch,) = _started
    record = Path(session.config.rootpath) / RECORD
    for test, cases in itertools.groupby(session.items, lambda x: x.nodeid.partition("[")[0]):
        (record / "test").write_text(test, encoding="utf-8")
        pid = os.fork()
        if not pid:
            with contextlib.suppress(BaseException):
                watch.begin(test)
                some = list(cases)
                for item, after in zip(some, [*some[1:], None], strict=True):
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                watch.end()
            os._exit(0)
        os.waitpid(pid, 0)
    (record / "test").write_text("", encoding="utf-8")
    return True


def recorded(roots: Iterable[Path]) -> Reached:
    """What the records of watched trees say together."""
    lines = dict[str, dict[int, frozenset[str]]]()
    files = dict[str, set[str]]()
    everywhere = set[str]()
    for root in roots:
        record = root / RECORD
        for file, found in _lines(record).items():
            known = lines.setdefault(str(Path(file).relative_to(root)), {})
            for number, tests in found.items():
                known[number] = known.get(number, frozenset()) | frozenset(tests)
        everywhere |= {path.read_text(encoding="utf-8") for path in record.glob("*.open")}
        for path in record.glob("*.read"):
            for test, file in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                files.setdefault(file, set()).add(test)
    red = frozenset(files.pop(RED, set[str]()))
    return Reached(
        lines,
        {file: frozenset(who) for file, who in files.items()},
        frozenset(everywhere | red) - {""},
        red,
    )


def _lines(record: Path) -> dict[str, dict[int, list[str]]]:
    whole = coverage.CoverageData(basename=str(record / "whole"))
    for path in record.glob("lines.*"):
        part = coverage.CoverageData(basename=str(path))
        part.read()
        whole.update(part)
    return {file: whole.contexts_by_lineno(file) for file in whole.measured_files()}
