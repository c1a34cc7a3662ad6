"""Silas as a user starts it: a process of its own, with pipes or with a terminal."""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tests.support import forked
from tests.support.waits import SECONDS

ROOT = Path(__file__).resolve().parents[2]


_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios\n"
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal the process's own, so that Ctrl-C and hidden typing work as they do."""


class Ended(NamedTuple):
    """What a process left behind."""

    code: int
    out: str
    err: str


def environment(home: Path, **extra: str) -> dict[str, str]:
    """No key of the tester's, no key store, no home but the given one; colours are off."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SILAS_HOME": str(home),
        "SILAS_KEYS__BACKEND": "file",
        **extra,
    }


def silas(*words: str | Path) -> list[str]:
    """The command line."""
    return [sys.executable, "-I", "-m", "silas", *(str(word) for word in words)]


def python(code: str, *words: str | Path) -> list[str]:
    """The command line of a program that a test holds as text."""
    return [sys.executable, "-c", code, *(str(word) for word in words)]


def run(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: str = "",
    cwd: Path = ROOT,
    imported: bool = False,
) -> Ended:
    """Start, wait, collect; no terminal anywhere. Silas itself is forked where that is the same.

    Args:
        argv: The command line.
        env: All of its environment.
        stdin: What it reads.
        cwd: Its directory.
        imported: Code (`python(...)`) that may begin with all of Silas imported is forked, too.
    """
    if forked.may_be(argv, env, code=imported):
        return Ended(*forked.run(argv, env, cwd, stdin, SECONDS))
    done = subprocess.run(
        argv,
        env=env,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@contextmanager
def started(
    argv: Sequence[str], env: Mapping[str, str], *, imported: bool = False
) -> Generator["Going"]:
    """A process that goes on; killed at the end if it still runs. Forked where that is the same.

    Code (`python(...)`) that may begin with all of Silas imported (`imported`) is forked, too.
    """
    if forked.may_be(argv, env, code=imported):
        with forked.piped(argv, env, ROOT) as child:
            yield child
        return
    process = subprocess.Popen(
        argv,
        env=env,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=SECONDS)


def without_bubblewrap(argv: Sequence[str]) -> list[str]:
    """The same command on a machine that seems to have no bubblewrap: an empty file is there."""
    found = shutil.which("bwrap")
    assert found is not None
    return [found, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", os.path.realpath(found), *argv]


def read_until(terminal: int, words: str) -> str:
    """What a terminal shows up to a line with these words; a read may give any part of it."""
    shown = b""
    while words.encode() not in shown:
        shown += os.read(terminal, 65536)
    return shown.decode()


class Running(Protocol):
    """A process: `subprocess.Popen`, or one that was forked."""

    pid: int

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has one."""
        ...


class Going(Running, Protocol):
    """One that nobody types to."""

    returncode: Any

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        ...

    def send_signal(self, number: int, /) -> None:
        """A signal."""
        ...

    def kill(self) -> None:
        """The signal that nobody can answer."""
        ...

    def communicate(self, *, timeout: float) -> tuple[str, str]:
        """What it wrote until its end."""
        ...


class Person:
    """Somebody at a pseudo-terminal, who reads before typing."""

    def __init__(self, screen: int, process: Running) -> None:
        self._screen = screen
        self._process = process
        self._read = 0
        self.seen = ""

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def waits_for(self, text: str) -> None:
        """Read until a text appears behind what was waited for before."""
        while (at := self.seen.find(text, self._read)) < 0:
            if not self._more():
                raise AssertionError(f"{text!r} did not appear after:\n{self.seen[-3000:]}")
        self._read = at + len(text)

    def types(self, text: str) -> None:
        """Press keys; `\\r` is Enter, `\\x04` Ctrl-D, `\\x03` Ctrl-C."""
        os.write(self._screen, text.encode())

    def leaves(self) -> int:
        """Read to the end; the exit code."""
        while self._more():
            pass
        return self._process.wait(timeout=SECONDS)

    def _more(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], SECONDS)
        if not ready:
            raise AssertionError(f"nothing happened any more after:\n{self.seen[-3000:]}")
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # how Linux says that the other side of a terminal is closed
            return False
        self.seen += piece.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)


@contextmanager
def person(argv: Sequence[str], env: Mapping[str, str], *, cwd: Path = ROOT) -> Generator[Person]:
    """A process on a terminal of its own."""
    screen, inside = pty.openpty()
    env = {"TERM": "xterm", **env}
    if forked.may_be(argv, env):
        child = forked.start(argv, env, cwd, (inside, inside, inside), terminal=True)
        os.close(inside)
        try:
            yield Person(screen, child)
        finally:
            child.end()
            os.close(screen)
        return
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _TAKE_TERMINAL, *argv],
        env=env,
        cwd=cwd,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    try:
        yield Person(screen, process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(timeout=SECONDS)
        os.close(screen)


def processes_saying(text: str) -> list[int]:
    """The ids of processes whose command line contains a text."""
    found: list[int] = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if text.encode() in (place / "cmdline").read_bytes():
                    found.append(int(place.name))
            except OSError:  # it ended while we looked
                continue
    return found
