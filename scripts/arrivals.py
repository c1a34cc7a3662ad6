"""Which places of a program each test arrives at, its child processes included.

The places of a watched tree say so themselves (`scripts/places.py` writes a probe before each), to
`at`. `start` is called by every Python of a tree in whose environment this file and a line in a
`.pth` lie; as a plugin of pytest it runs every test in a process of its own, forked when all are
collected, so that nothing which an earlier test computed and kept is missing from what a later one
executes.

A test that reads a source file as a file, or hands it to another program, arrives at every place
of it; tracebacks, and Hypothesis in search of values to try, do not count as readers. What cannot
be told apart errs towards more: code that runs while tests are collected, and a process whose test
is not known, count for all tests. A process that arrives somewhere and cannot say so dies, which
its test shows.
"""

import contextlib
import functools
import gc
import importlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

ANY = "*"
"""In a record: whichever test."""
RED = "!"
"""In a record: the test failed while it was watched."""
_HERE = os.path.dirname(os.path.abspath(__file__))
_IMPORTING = ("<frozen importlib._bootstrap_external>", "<frozen runpy>")
_QUOTING = ("/linecache.py", "/tokenize.py", "/hypothesis/internal/constants_ast.py")
_CALLERS = 4
"""Functions between who wants a file and who opens it."""
_PARENTS = 40
"""A chain of processes is no longer."""
_NAME: tuple[type, ...] = (str, bytes, os.PathLike)


class Watch:
    """What one process has arrived at.

    Args:
        root: The tree.
        files: Those with places in them.
    """

    def __init__(self, root: str, files: frozenset[str]) -> None:
        self._root, self._files = root, files
        self._names = {os.path.basename(file) for file in files}
        self._test, self._seen = _inherited(root), set[tuple[str, str]]()

    def begin(self, test: str) -> None:
        """From here on this process and what it starts are of this test."""
        self._test = test
        _write(_claim(self._root, os.getpid()), test)

    def ended(self, test: str, pid: int, *, well: bool) -> None:
        """The process of a test is gone, and its number may be another's soon."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_claim(self._root, pid))
        if not well:
            self._note(test, RED)

    def arrived(self, place: str) -> None:
        """The test of this process was here; written down at once, and once."""
        if (self._test, place) not in self._seen:
            self._seen.add((self._test, place))
            self._note(self._test, place)

    def knows(self, place: str) -> bool:
        """Whether the test of this process is known to have been here."""
        return (self._test, place) in self._seen

    def _note(self, test: str, place: str) -> None:
        _write(f"{self._root}/.arrivals/{os.getpid()}.seen", f"{test}\t{place}\n")

    def _file(self, name: str) -> str:
        inside = self._root + os.sep
        if name.startswith(inside) and (near := name[len(inside) :]) in self._files:
            return near
        if os.path.basename(name) not in self._names:
            return ""
        path = os.path.realpath(name)
        return path[len(inside) :] if path.startswith(inside) else ""

    def heard(self, event: str, args: tuple[Any, ...]) -> None:
        """The hook for what the interpreter does: files it reads, programs it starts."""
        if event == "open":
            self._read([args[0]], "")
        elif event == "subprocess.Popen":
            self._read([args[0], *args[1]], args[2] or "")
        elif event in ("os.posix_spawn", "os.exec"):
            self._read([args[0], *args[1]], "")

    def _read(self, said: list[Any], where: Any) -> None:
        names = [os.fsdecode(x) for x in said if isinstance(x, _NAME)]
        files = [
            file for name in names if (file := self._file(os.path.join(where, name))) in self._files
        ]
        if files and not _is_import(sys._getframe(2)):  # pyright: ignore[reportPrivateUsage]
            for file in files:
                self.arrived(file)


def _is_import(frame: FrameType | None) -> bool:
    """Whether a program is read to run it, to quote it, or by Hypothesis for values to try."""
    for _ in range(_CALLERS):
        name = frame.f_code.co_filename if frame else ""
        if name in _IMPORTING or name.endswith(_QUOTING):
            return True
        frame = frame.f_back if frame else None
    return False


def _claim(root: str, pid: int) -> str:
    return f"{root}/.arrivals/{pid}.test"


def _inherited(root: str) -> str:
    """The test that started this process: that of the nearest parent which has one."""
    pid = os.getpid()
    for _ in range(_PARENTS):
        with contextlib.suppress(OSError), open(_claim(root, pid), encoding="utf-8") as claim:
            return claim.read()
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                pid = int(stat.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return ANY


def _write(path: str, words: str) -> None:
    """Append; whoever cannot say where it was must not go on unseen."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(OSError):
            os.fchmod(file, 0o666)  # some tests become another user
        os.write(file, words.encode())
        os.close(file)
    except OSError:
        os.abort()


_started: list[Watch] = []


def at(place: int) -> None:
    """Called by a probe."""
    if _started:
        _started[0].arrived(str(place))


def told(
    place: int,
    new: Callable[[], Any] | None,
    old: Callable[[], Any],
    *,
    truth: bool = False,
    fresh: bool = False,
    sure: Callable[[], Any] | None = None,
) -> Any:
    """What an expression gives; its test was here where an edit would have given something else.

    Args:
        place: The place.
        new: The edited expression, which nobody notices; None where that is not so.
        old: What stands there.
        truth: Only whether it is true matters.
        fresh: Both are containers that nobody else has.
        sure: The old expression, which raises where anybody may notice that it is left out.
    """
    if not _started or _started[0].knows(str(place)):
        return old()
    would, value = _tried(new)
    if would and sure is not None:
        would, _ = _tried(sure)
    try:
        was = old()
    except BaseException:
        at(place)
        raise
    if not would or _compared().differ(was, value, truth=truth, fresh=fresh):
        at(place)
    return was


def _tried(new: Callable[[], Any] | None) -> tuple[bool, Any]:
    try:
        return (False, None) if new is None else (True, new())
    except Exception:
        return False, None


@functools.cache
def _compared() -> Any:
    """Imported when it is first needed: most processes of a watched tree never compare."""
    try:
        return importlib.import_module("compared")
    except ImportError:
        return importlib.import_module("scripts.compared")


def __getattr__(name: str) -> Any:
    if name in ("steady", "item", "called", "made"):
        return getattr(_compared(), name)
    raise AttributeError(name)


def further(
    place: int, more: Callable[[], Any] | None, value: Any, *, stop: bool, truth: bool
) -> Any:
    """A value of a chain of `and` or `or` behind which an edit adds another.

    Args:
        place: The place.
        more: What is added; None where it cannot be evaluated.
        value: The value.
        stop: What ends the chain: true for `or`.
        truth: Only whether they are true matters.
    """
    if _started and bool(value) is not stop and not _started[0].knows(str(place)):
        would, added = _tried(more)
        if not would or _compared().differ(value, added, truth=truth, fresh=False):
            at(place)
    return value


_kept: dict[str, Any] = {}


def keep(key: str, new: Callable[[], Any]) -> None:
    """Remember what an edited constant would have been, where that can be computed."""
    with contextlib.suppress(Exception):
        _kept[key] = new()


def kept(key: str) -> Any:
    """An edited constant. Raises `KeyError` where it could not be computed."""
    return _kept[key]


def start() -> None:
    """Watch this process. What is watched stands in the file beside this one."""
    if _started:  # a `.pth` may be read twice
        return
    with open(f"{_HERE}/arrivals.json", encoding="utf-8") as file:
        told = json.load(file)
    _started.append(Watch(told["root"], frozenset(told["files"])))
    sys.addaudithook(_started[0].heard)


_failed: list[str] = []


def pytest_runtest_logreport(report: Any) -> None:
    """Remember what failed in this process."""
    if report.failed:
        _failed.append(report.nodeid)


def pytest_runtestloop(session: Any) -> bool:
    """Run each test, with all its cases, in a process of its own; the result is in the record."""
    watch = _started[0]
    gc.freeze()
    for test, cases in itertools.groupby(session.items, lambda x: x.nodeid.partition("[")[0]):
        pid = os.fork()
        if not pid:
            code = 1
            with contextlib.suppress(BaseException):
                watch.begin(test)
                some = list(cases)
                for item, after in zip(some, [*some[1:], None], strict=True):
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                code = int(bool(_failed))
            os._exit(code)
        watch.ended(test, pid, well=not os.waitpid(pid, 0)[1])
    return True


def recorded(root: str) -> Iterator[tuple[str, str]]:
    """Each test and place of the record of a tree."""
    for name in os.listdir(f"{root}/.arrivals"):
        if name.endswith(".seen"):
            with open(f"{root}/.arrivals/{name}", encoding="utf-8") as file:
                for line in file:
                    test, _, place = line.rstrip("\n").partition("\t")
                    yield test, place
