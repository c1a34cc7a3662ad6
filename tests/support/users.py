"""Other users of this machine, for whoever tests as root; without root everybody is oneself."""

import ctypes
import json
import os
import pty
import select
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.support.command import Person
from tests.support.waits import SECONDS

_SET_DUMPABLE = 4  # of prctl(2)


class User(NamedTuple):
    """A user by numbers; `groups` are further ones."""

    uid: int
    gid: int
    groups: tuple[int, ...] = ()


ME = User(os.geteuid(), os.getegid())


def become(user: User) -> None:
    """Give up root for good, where we are root. As open as a process that was started.

    A fork, because the Python and the Silas under test may lie where nobody else reads.
    """
    if user.uid != ME.uid:
        os.setgroups(user.groups)
        os.setresgid(user.gid, user.gid, user.gid)
        os.setresuid(user.uid, user.uid, user.uid)
    # The kernel closes a process that changed its user, and a test before may have closed this one
    # for good; one that was started by the user is open.
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 1, 0, 0, 0)


def acting_as(user: User, act: Callable[[], Any]) -> Any:
    """Call something as a user, in a child; its answer as JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer: dict[str, Any] = {}
        try:
            os.close(reading)
            become(user)
            answer["value"] = act()
        except BaseException:  # whatever went wrong is the parent's to report
            answer["error"] = traceback.format_exc()
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        if not select.select([pipe], [], [], SECONDS)[0]:
            os.kill(child, signal.SIGKILL)
        told = pipe.read()
    os.waitpid(child, 0)
    answer = json.loads(told)
    assert "error" not in answer, answer["error"]
    return answer["value"]


class _Forked:
    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """The code; the caller has seen the end of the terminal before, so it comes at once."""
        del timeout
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def end(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()


@contextmanager
def person_as(user: User, act: Callable[[], object], env: Mapping[str, str]) -> Generator[Person]:
    """Something that a user does at a terminal of its own, in a child."""
    pid, screen = pty.fork()
    if pid == 0:
        code = 1
        try:
            become(user)
            os.environ.clear()
            os.environ.update(env)
            sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, m) for n, m in enumerate("rww"))
            act()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    process = _Forked(pid)
    try:
        yield Person(screen, process)
    finally:
        process.end()
        os.close(screen)
