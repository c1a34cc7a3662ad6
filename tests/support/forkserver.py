"""Python with all of Silas imported, from which commands are forked, and code of tests.

Most of what a command costs is the import of what it uses, and the suite starts thousands. A forked
command has descriptors, environment, directory, signals and an end of its own, as one that was
started has; what it cannot show is what the import itself does, and tests of that start Python.
The tables of a new home and the cost of its key file are a test's (`made_once.py`).

A command that is done leaves at once. To take everything apart that was imported, as Python does
at its end, would write to all the memory that it shares with its server, and cost more than most
commands do.

A request is one message over a socket: JSON, with a socket for the answers and the three standard
descriptors beside it. The answers are lines: the id of the process, then its exit code.
"""

import atexit
import gc
import importlib
import importlib.util
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

_MADE_ONCE: Final = Path(__file__).with_name("made_once.py")
_LATE: Final = (
    "cronsim",
    "dateparser.date",
    "encodings.idna",
    "openai.resources.chat.completions",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai_compatible",
    "uvicorn",
)
"""What Silas imports when it is first used, and many a command does."""
_MOST: Final = 1 << 20  # bytes of a request
_TAKE_TERMINAL: Final = 0x540E  # TIOCSCTTY; fcntl and termios are Silas's to import


def main(door: socket.socket) -> None:
    """Fork for each request until the other side is gone; in a child it becomes the command."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, _noticed)
    answers: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([door, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _tell_ends(answers)
        if door in ready:
            message, descriptors, _, _ = socket.recv_fds(door, _MOST, 4)
            if not message:
                return
            answer = socket.socket(fileno=descriptors[0])
            pid = os.fork()
            if pid == 0:
                for other in (door, answer, *answers.values()):
                    other.close()
                os.close(wake)
                os.close(woken)
                _become(json.loads(message), descriptors[1:])
                return
            for descriptor in descriptors[1:]:
                os.close(descriptor)
            answers[pid] = answer
            answer.sendall(f"{pid}\n".encode())


def _noticed(_number: int, _frame: object) -> None:
    """The signal only wakes the loop."""


def _tell_ends(answers: dict[int, socket.socket]) -> None:
    while answers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with answers.pop(pid) as answer:
            answer.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(request: dict[str, Any], standard: list[int]) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if request["terminal"]:
        os.setsid()
    for place, descriptor in enumerate(standard):
        os.dup2(descriptor, place)
        os.close(descriptor)
    if request["terminal"]:
        importlib.import_module("fcntl").ioctl(0, _TAKE_TERMINAL, 0)
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    _open_standard()
    sys.path[:0] = request["packages"]
    try:
        if request["code"] is None:
            sys.argv = ["", *request["words"]]
            runpy.run_module("silas", run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *request["words"]]
            sys.path.insert(0, "")
            sys.modules["__main__"] = program = types.ModuleType("__main__")
            exec(compile(request["code"], "<string>", "exec"), vars(program))
    except SystemExit as ended:
        _leave(ended.code)
        raise
    _leave(0)


def _leave(code: object) -> None:
    """End as Python does, but leave the memory to the kernel; return where Python has more to say.

    It has for a code that is words, and for output that cannot be written.
    """
    if code is not None and not isinstance(code, int):
        return
    shut_down: Callable[[], None] = getattr(threading, "_shutdown")  # noqa: B009 - in no stub
    shut_down()  # waits for threads, as the interpreter does before all else
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code or 0)


def _open_standard() -> None:
    """Text over the three descriptors, as the interpreter makes it when it starts."""
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        before = cast("io.TextIOWrapper", getattr(sys, name))
        stream = io.TextIOWrapper(
            open(place, "wb" if place else "rb"),  # noqa: SIM115 - ends with the process
            encoding=before.encoding,
            errors=before.errors,
            line_buffering=place == 2 or os.isatty(place),
        )
        before.detach()  # or closing it would close the descriptor
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


class _Names:
    """Puts something else where a dotted path says, for good."""

    def setattr(self, target: str, name: object) -> None:
        place, _, last = target.rpartition(".")
        setattr(pkgutil.resolve_name(place), last, name)


def _imported() -> None:
    silas = importlib.import_module("silas")
    for module in pkgutil.walk_packages(silas.__path__, "silas."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in _LATE:
        importlib.import_module(name)
    spec = importlib.util.spec_from_file_location("made_once", _MADE_ONCE)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(made_once := importlib.util.module_from_spec(spec))
    made_once.made_once(_Names())
    made_once.make()


if __name__ == "__main__":
    _imported()
    gc.freeze()
    main(socket.socket(fileno=int(sys.argv[1])))
