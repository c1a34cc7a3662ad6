"""Points of a run at which it can be killed, or at which the disk or the database refuses.

A point is every commit of the database, before and after; every change of a file by the sandbox's
and the workspace's code; the two sides of every run in a sandbox and of every effect; and every
moment at which a task goes on, which is every await that ever waited. A crash is an exception that
nothing catches, after which nothing reaches the disk any more: whoever still runs, in whatever
`finally`, dies at the next point, too.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

import silas.workspace.copy
import silas.workspace.journal
import silas.workspace.transition
import silas.workspace.tree
import silas.workspace.undo
from silas.db import Database, Tx

FILE_CALLS = frozenset(
    {"open", "write", "rename", "mkdir", "rmdir", "unlink", "symlink", "fsync", "fchmod", "utime"}
)
_FILE_MODULES: tuple[ModuleType, ...] = (
    silas.workspace.journal,
    silas.workspace.transition,
    silas.workspace.tree,
    silas.workspace.undo,
    silas.workspace.copy,
)


class Crash(BaseException):
    """The process is gone; nothing in it may do anything about that."""


def crash() -> BaseException:
    """What a point raises so that the process is gone."""
    return Crash()


def kill_this_process() -> BaseException:
    """Really."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def _unheard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What is dead complains to nobody."""


class Faults:
    """Counts points; at the one that is wanted, something happens.

    Args:
        at: The number of the point, from 1; 0 for never.
        what: What happens there: an exception to raise. After a `Crash` every point raises one.
        kinds: Which kinds of points count; all where empty.

    Attributes:
        seen: The kinds of the points passed, in order.
    """

    def __init__(
        self,
        at: int = 0,
        what: Callable[[], BaseException] = crash,
        kinds: frozenset[str] = frozenset(),
    ) -> None:
        self._at = at
        self._what = what
        self._kinds = kinds
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.dead = False
        self.seen: list[str] = []

    def point(self, kind: str) -> None:
        """Pass a point, or not."""
        with self._lock:
            if self.dead:
                raise Crash
            if self._kinds and kind not in self._kinds:
                return
            self.seen.append(kind)
            if len(self.seen) != self._at:
                return
            error = self._what()
            self.dead = isinstance(error, Crash)
        if self.dead and self._loop is not None:
            self._loop.call_soon_threadsafe(self._end_everything)
        raise error

    def _end_everything(self) -> None:
        """Tasks that wait for something that will not come any more die, too."""
        for task in asyncio.all_tasks(self._loop):
            task.cancel()

    def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Run to the end, or to the crash; whether it came to its end."""

        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            self._loop.set_exception_handler(_unheard)
            self._loop.set_task_factory(self._task)
            await self._loop.create_task(work())

        try:
            asyncio.run(main())
        except (Crash, asyncio.CancelledError):
            if not self.dead:
                raise
            return False
        finally:
            self._loop = None
        return not self.dead

    def _task(
        self, loop: asyncio.AbstractEventLoop, work: Any, **given: Any
    ) -> "asyncio.Task[Any]":
        return asyncio.Task(_Stepped(work, self), loop=loop, **given)

    @contextmanager
    def installed(self) -> Generator[None]:
        """Every point in the code of Silas leads here."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Database, "write", _write_with(self, Database.write))
            for module in _FILE_MODULES:
                if hasattr(module, "os"):
                    kind = "journal" if module is silas.workspace.journal else "file"
                    patch.setattr(module, "os", _FaultyOs(self, kind))
            yield


def _write_with(faults: Faults, write: Callable[..., Any]) -> Callable[..., Any]:
    nesting: set[int] = set()  # the databases with an open transaction

    @contextmanager
    def faulty(self: Database, *, durable: bool = False) -> Generator[Tx]:
        if id(self) in nesting:  # it joins
            with write(self, durable=durable) as tx:
                yield tx
            return
        with write(self, durable=durable) as tx:
            nesting.add(id(self))
            try:
                faults.point("db")
                yield tx
                faults.point("db")
            finally:
                nesting.discard(id(self))
        faults.point("committed")

    return faulty


class _FaultyOs:
    """`os`, with a point before everything that changes a file."""

    def __init__(self, faults: Faults, kind: str) -> None:
        self._faults, self._kind = faults, kind

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in FILE_CALLS:
            return real

        def faulty(*args: Any, **given: Any) -> Any:
            if name != "open" or (len(args) > 1 and args[1] & os.O_CREAT):
                self._faults.point(self._kind)
            return real(*args, **given)

        return faulty


class _Stepped(Coroutine[Any, Any, Any]):
    """A coroutine with a point at every moment at which it goes on."""

    def __init__(self, work: Coroutine[Any, Any, Any], faults: Faults) -> None:
        self._work = work
        self._faults = faults

    def send(self, value: Any) -> Any:
        try:
            self._faults.point("step")
        except BaseException as error:
            return self._dying(error)
        return self._work.send(value)

    def throw(self, *error: Any) -> Any:
        if self._faults.dead:
            return self._dying(Crash())
        return self._work.throw(*error)

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise AssertionError("a task steps it")

    def _dying(self, error: BaseException) -> Any:
        while True:  # whatever it still wants to wait for
            self._work.throw(error)
            if not self._faults.dead:
                raise AssertionError("only a crash is thrown into a task")
