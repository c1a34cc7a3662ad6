"""Commands of Silas that are forked from a Python which has imported it (`forkserver.py`)."""

import atexit
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_SERVER: Final = Path(__file__).with_name("forkserver.py")
_COMMAND: Final = (sys.executable, "-I", "-m", "silas")
_INSTALLED: Final = (str(Path(sys.executable).with_name("silas")),)
_CODE: Final = (sys.executable, "-c")
_LANGUAGE: Final = "C.UTF-8"
_WORDS: Final = "LC_MESSAGES"  # Python takes nothing from it, and Silas the language of its words
_PIECE: Final = 1 << 16
_MOST: Final = 100_000  # bytes of a request, far below what one message over a socket may have


class Forked:
    """A command that runs; waits like `subprocess.Popen`."""

    def __init__(self, answer: socket.socket) -> None:
        self._answer = answer.makefile("r", encoding="ascii")
        self._socket = answer
        self.pid = int(self._answer.readline())
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code; negative for the signal that ended it.

        Raises:
            TimeoutError: It did not end in `timeout` seconds.
        """
        if self.returncode is None:
            self._socket.settimeout(timeout)
            self.returncode = int(self._answer.readline())
            self._answer.close()
            self._socket.close()
        return self.returncode

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        if self.returncode is None and select.select([self._socket], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """A signal, where it still runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def kill(self) -> None:
        """The signal that nobody can answer."""
        self.send_signal(signal.SIGKILL)

    def end(self) -> None:
        """Kill it, where it still runs, and wait."""
        self.kill()
        self.wait()


class Piped(Forked):
    """A command that reads nothing, and writes to us."""

    def __init__(self, answer: socket.socket, out: int, err: int) -> None:
        super().__init__(answer)
        self._ends = out, err

    def communicate(self, timeout: float) -> tuple[str, str]:
        """What it wrote until its end, with output and errors apart."""
        told = _communicate(None, *self._ends, b"", timeout)
        self.wait(timeout)
        return told


class _Server:
    def __init__(self) -> None:
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(_SERVER), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={"PATH": os.environ["PATH"], "LANG": _LANGUAGE},
            )

    def start(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        standard: tuple[int, int, int],
        *,
        terminal: bool,
    ) -> socket.socket:
        umask = os.umask(0)
        os.umask(umask)
        begin = _beginning(argv)
        is_code = begin == _CODE
        words = argv[len(begin) :]
        request = {
            "code": words[0] if is_code else None,
            "words": list(words[1:] if is_code else words),
            "env": dict(env),
            "cwd": str(cwd),
            "umask": umask,
            "terminal": terminal,
            "packages": _packages(env) if begin == _INSTALLED else [],
        }
        answer, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(
                self._door, [json.dumps(request).encode()], [theirs.fileno(), *standard]
            )
        sys.audit("subprocess.Popen", sys.executable, list(words), str(cwd), dict(env))
        return answer

    def close(self) -> None:
        self._door.close()
        self._process.wait()


_servers: dict[int, _Server] = {}


def _beginning(argv: Sequence[str]) -> tuple[str, ...]:
    begins = (_COMMAND, _INSTALLED, _CODE)
    return next((one for one in begins if tuple(argv[: len(one)]) == one), ())


def _packages(env: Mapping[str, str]) -> list[str]:
    return [place for place in env.get("PYTHONPATH", "").split(os.pathsep) if place]


def may_be(argv: Sequence[str], env: Mapping[str, str], *, code: bool = False) -> bool:
    """Whether a forked command is the same as one that is started.

    So is code of a test (`code`), where the test says so: it begins with Silas imported.

    It is not where Python itself is told something by the environment, and where what a test
    reaches is measured (`scripts/reached.py` watches a Python from its start).
    """
    told = {name for name in env if name.startswith(("PYTHON", "LC_", "COVERAGE"))} - {_WORDS}
    begin = _beginning(argv)
    if begin == _INSTALLED:
        told -= {"PYTHONPATH"}  # packages that are installed beside Silas
    return (
        begin in (_COMMAND, _INSTALLED, *([_CODE] if code else []))
        and not told
        and env.get("LANG") == _LANGUAGE
        and "reached" not in sys.modules
        and sum(len(word) for word in argv) < _MOST
    )


def start(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    standard: tuple[int, int, int],
    *,
    terminal: bool = False,
) -> Forked:
    """Fork a command over standard input, output and error.

    Args:
        argv: As `may_be` accepted it.
        env: All of its environment.
        cwd: Its directory.
        standard: Descriptors; whoever opened them closes them.
        terminal: It leads a session of its own, of which standard input is the terminal.
    """
    return Forked(_answer(argv, env, cwd, standard, terminal=terminal))


def _answer(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path,
    standard: tuple[int, int, int],
    *,
    terminal: bool = False,
) -> socket.socket:
    server = _servers.get(os.getpid())  # a fork of this process shares no server with it
    if server is None:
        server = _servers[os.getpid()] = _Server()
        atexit.register(server.close)
    return server.start(argv, env, cwd, standard, terminal=terminal)


def run(
    argv: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: str, seconds: float
) -> tuple[int, str, str]:
    """Fork a command with pipes, and wait; its exit code and what it wrote."""
    with _pipes() as (inside, (to, out, err)):
        process = start(argv, env, cwd, inside)
        for descriptor in inside:
            os.close(descriptor)
        try:
            told = _communicate(to, out, err, stdin.encode(), seconds)
            return process.wait(seconds), *told
        finally:
            process.end()


@contextmanager
def piped(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Generator[Piped]:
    """Fork a command that goes on; killed at the end if it still runs."""
    with _pipes() as (inside, (to, out, err)):
        os.close(to)  # nothing to read
        process = Piped(_answer(argv, env, cwd, inside), out, err)
        for descriptor in inside:
            os.close(descriptor)
        try:
            yield process
        finally:
            process.end()


@contextmanager
def _pipes() -> Generator[tuple[tuple[int, int, int], tuple[int, int, int]]]:
    """Of the command: what it reads, writes, complains to; and our ends of them."""
    (stdin, to), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
    try:
        yield (stdin, stdout, stderr), (to, out, err)
    finally:
        for descriptor in (out, err):
            os.close(descriptor)


def _communicate(
    to: int | None, out: int, err: int, text: bytes, seconds: float
) -> tuple[str, str]:
    found: dict[int, bytearray] = {out: bytearray(), err: bytearray()}
    until = time.monotonic() + seconds
    with selectors.DefaultSelector() as ends:
        for place in found:
            ends.register(place, selectors.EVENT_READ)
        if to is not None:
            ends.register(to, selectors.EVENT_WRITE)
        while ends.get_map():
            ready = ends.select(until - time.monotonic())
            if not ready:
                raise TimeoutError(f"a command did not end in {seconds} s")
            for key, _ in ready:
                if to is not None and key.fd == to:
                    text = _written(to, text)
                    done = not text
                else:
                    piece = os.read(key.fd, _PIECE)
                    found[key.fd] += piece
                    done = not piece
                if done:
                    ends.unregister(key.fd)
                    if key.fd == to:
                        os.close(key.fd)
    return _text(found[out]), _text(found[err])


def _written(to: int, text: bytes) -> bytes:
    try:
        return text[os.write(to, text[: select.PIPE_BUF]) :] if text else b""
    except BrokenPipeError:  # it does not read
        return b""


def _text(written: bytes | bytearray) -> str:
    return written.decode().replace("\r\n", "\n").replace("\r", "\n")
