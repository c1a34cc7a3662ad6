"""Attacks on other processes and on limits, as they run inside the sandbox. Standard library only.

Each takes what the host set up for it and returns what it learned; an `OSError` is a refusal.
"""

import ctypes
import fcntl
import os
import resource
import signal
import struct
import termios
import threading
import time
from contextlib import suppress
from pathlib import Path

from silas.sandbox.conformance.attack_calls import At
from silas.sandbox.conformance.system_calls import call

_HELD: list[object] = []
_ATTACH, _PEEK, _DETACH, _SEIZE = 16, 2, 17, 0x4206
_WORD = 8
_MEBIBYTE = 1 << 20
_PAGE = 4096


class _Span(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


# Other processes.


def trace(at: At) -> str:
    """Attach to a process and read its memory word by word."""
    pid, words = at["pid"], b""
    call("ptrace", _ATTACH, pid, 0, 0)
    os.waitpid(pid, 0x40000000)  # __WALL
    word = ctypes.c_ulong()
    for offset in range(0, at["length"], _WORD):
        call("ptrace", _PEEK, pid, at["address"] + offset, ctypes.byref(word))
        words += struct.pack("Q", word.value)
    call("ptrace", _DETACH, pid, 0, 0)
    return words.decode("utf-8", "replace")


def trace_child(at: At) -> str:
    """Steer a child of its own."""
    del at
    child = _idle_child()
    try:
        call("ptrace", _SEIZE, child, 0, 0)
    finally:
        os.kill(child, signal.SIGKILL)
    return "attached"


def _idle_child() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(20)
        os._exit(0)
    return child


def read_memory(at: At) -> str:
    """Read the memory of another process in one call."""
    buffer = ctypes.create_string_buffer(at["length"])
    mine = _Span(ctypes.addressof(buffer), at["length"])
    theirs = _Span(at["address"], at["length"])
    call("process_vm_readv", at["pid"], ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
    return buffer.raw.decode("utf-8", "replace")


def read_own_memory(at: At) -> str:
    """Read its own memory with the call that reads that of others."""
    own = ctypes.create_string_buffer(at["secret"].encode())
    place = {"pid": os.getpid(), "address": ctypes.addressof(own), "length": len(at["secret"])}
    return read_memory(place)


def write_memory(at: At) -> str:
    """Write into the memory of another process in one call."""
    buffer = ctypes.create_string_buffer(b"#" * at["length"], at["length"])
    mine = _Span(ctypes.addressof(buffer), at["length"])
    theirs = _Span(at["address"], at["length"])
    call("process_vm_writev", at["pid"], ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
    return "written"


def take_descriptor(at: At) -> str:
    """Take an open file out of another process."""
    descriptor = call("pidfd_getfd", os.pidfd_open(at["pid"]), 0, 0)
    return os.pread(descriptor, 200, 0).decode()


def kill(at: At) -> str:
    """End a process of the host."""
    os.kill(at["pid"], signal.SIGTERM)
    return "sent"


def kill_group(at: At) -> str:
    """End a process group of the host."""
    os.killpg(at["pid"], signal.SIGTERM)
    return "sent"


def kill_by_descriptor(at: At) -> str:
    """End a process of the host by a descriptor for it."""
    signal.pidfd_send_signal(os.pidfd_open(at["pid"]), signal.SIGTERM)
    return "sent"


def limit(at: At) -> str:
    """Change the limits of a process of the host."""
    resource.prlimit(at["pid"], resource.RLIMIT_CORE, (0, 0))
    return "changed"


def slow_down(at: At) -> str:
    """Change the priority of a process of the host."""
    os.setpriority(os.PRIO_PROCESS, at["pid"], 19)
    return "changed"


def command_lines(at: At) -> str:
    """Read the command line of every process in sight."""
    del at
    return _everywhere("cmdline")


def environments(at: At) -> str:
    """Read the environment of every process in sight."""
    del at
    return _everywhere("environ")


def _everywhere(name: str) -> str:
    found = b""
    for process in os.listdir("/proc"):
        if process.isdigit():
            with suppress(OSError):
                found += Path("/proc", process, name).read_bytes()
    return found.decode("utf-8", "replace")


# What stays, and what grows.


def daemon(at: At) -> str:
    """Leave a process behind that belongs to nobody."""
    del at
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with suppress(OSError):
                os.closerange(0, 256)
            time.sleep(20)
        os._exit(0)
    return "left"


def deaf_daemon(at: At) -> str:
    """Leave a process behind that ignores every signal it may."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    return daemon(at)


def ignore_the_end(at: At) -> str:
    """Ignore the request to end, and stay."""
    del at
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
        signal.signal(number, signal.SIG_IGN)
    signal.alarm(0)
    time.sleep(20)
    return "stayed"


def spin(at: At) -> str:
    """Use more processor time than is allowed."""
    signal.alarm(0)
    while time.process_time() < at["seconds"]:
        pass
    return "stood"


def many_processes(at: At) -> str:
    """Start more processes than are allowed, and report only if all of them live for a while."""
    for _ in range(at["count"]):
        _idle_child()
    time.sleep(at["seconds"])
    return "stood"


def many_threads(at: At) -> str:
    """Start more threads than are allowed, and report only if all of them live for a while."""
    threading.stack_size(64 * 1024)
    for _ in range(at["count"]):
        try:
            threading.Thread(target=time.sleep, args=(at["seconds"] + 1,), daemon=True).start()
        except RuntimeError as error:
            raise BlockingIOError(11, str(error)) from error
    time.sleep(at["seconds"])
    return "stood"


def much_memory(at: At) -> str:
    """Take more memory in one process than is allowed."""
    _HELD.append(bytearray(at["mebibytes"] * _MEBIBYTE))
    return "stood"


def much_memory_together(at: At) -> str:
    """Take more memory in many processes than is allowed, each of them within its own limit."""
    for _ in range(at["count"]):
        if os.fork() == 0:
            hoard = bytearray(at["mebibytes"] * _MEBIBYTE)
            hoard[::_PAGE] = b"x" * len(hoard[::_PAGE])
            time.sleep(20)
            os._exit(0)
    time.sleep(at["seconds"])
    return "stood"


def flood(at: At) -> str:
    """Write more output than is allowed."""
    for _ in range(at["kibibytes"]):
        os.write(at["stream"], b"x" * 1023 + b"\n")
    return "stood"


def forgotten_memory(at: At) -> str:
    """Take memory that belongs to no process."""
    del at
    _HELD.append(call("memfd_create", b"silas-conformance", 0))
    return "made"


# The terminal.


def write_terminal(at: At) -> str:
    """Write to the owner's terminal."""
    with open(at["path"], "wb", buffering=0) as terminal:
        terminal.write(b"hello")
    return "written"


def type_into_terminal(at: At) -> str:
    """Type a command into a terminal, as if the owner had."""
    del at
    main, side = os.openpty()
    _HELD.append((main, side))
    fcntl.ioctl(side, termios.TIOCSTI, b"x")
    return "typed"
