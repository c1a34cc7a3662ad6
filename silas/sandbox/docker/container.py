"""The two first programs of a container: the guard, and the starter of the command (spec 9.1).

A container belongs to the engine and would outlive Silas. So the first process inside is the guard,
which waits at one end of a pipe whose other end only Silas holds: whatever ends Silas, the kernel
closes that end, the guard ends, and the kernel kills all that is left in its process namespace.
Nothing inside can stop the guard: it is the init of its namespace, and no process may look into it.

The command starts behind it, through a starter that adds in the process itself what the engine
does not give: a user namespace of its own without any capability, address-space limits, Landlock,
and the system-call filter, byte for byte the one of bubblewrap. The engine's own filter is the
coarser wall around both.
"""

import errno
import functools
import os
import struct

from silas.sandbox.landlock import Landlock, LandlockRule
from silas.sandbox.models import SandboxLimits
from silas.sandbox.seccomp import Machine, compile_filter
from silas.sandbox.starter import APPLIED, PIPE, Script, StartCommand, Starter, complete
from silas.sandbox.syscall_player import NOTE, Counted, SyscallStep, assemble
from silas.sandbox.watch import ceilings

HOUSE = "/.silas"
"""Where both programs lie inside, read-only, with the files they open."""

GUARD, STARTER, STDIN, REPORT, LIFE = (
    f"{HOUSE}/{name}" for name in ("guard", "start", "stdin", "report", "life")
)
WHOLE_IMAGE = "/"
"""The image is public and read-only: below it Landlock allows programs, and no writing."""

Ceilings = tuple[tuple[int, tuple[int, int]], ...]

_NO_SECRETS = -1  # a container gets none
_FROM_HERE, _AND_ALL = PIPE, 0xFFFFFFFF
_AT_FDCWD = -100
_CLOEXEC, _NONBLOCK = 0o2000000, 0o4000
_SET_STATUS = 4  # F_SETFL
_SIGCHLD, _IGNORE, _MASK_BYTES = 17, 1, 8
_NOT_DUMPABLE, _NO_NEW_PRIVILEGES = (4, 0, 0, 0), (38, 1, 0, 0)
_USER_NAMESPACE = 0x10000000
_SANDBOX_USER = 1000
_DROP_FROM_BOUNDING, _CAPABILITIES = 24, 64  # of the numbers there can be, most are not in use
_CAPABILITY_VERSION = 0x20080522
_WRITE_ONLY = 1
_SET_FILTER = 1
_INSTRUCTION_BYTES = 8


def _path(inside: str) -> bytes:
    return os.fsencode(inside) + b"\0"


@functools.cache
def guard(machine: Machine, life: str) -> bytes:
    """The program that holds a container as long as Silas lives.

    Args:
        machine: Whose instructions.
        life: Where the pipe is that Silas holds.
    """
    script = Script(machine, (), _NO_SECRETS)
    # Orphans are its children, and nobody waits for them.
    ignore = struct.pack("<4Q", _IGNORE, 0, 0, 0)
    script.add("rt_sigaction", _SIGCHLD, ignore, 0, _MASK_BYTES, what="forget orphans")
    script.add("close_range", _FROM_HERE, _AND_ALL, 0, what="close what was inherited")
    # A blocking open would wait for ever for a Silas that is dead already.
    script.add("openat", _AT_FDCWD, _path(life), _NONBLOCK | _CLOEXEC, 0, what="find the pipe")
    script.add("fcntl", PIPE, _SET_STATUS, 0, what="wait at the pipe")
    # Until the first byte Silas looks at what is mounted; from the second on, nobody looks in.
    script.add("read", PIPE, bytes(8), 1, what="wait to be looked at")
    script.add("prctl", *_NOT_DUMPABLE, what="be closed to its neighbours")
    script.add("read", PIPE, bytes(8), 1, what="say so")
    script.add("read", PIPE, bytes(8), 1, what="wait for the end")
    script.end()
    return assemble(machine, (), script.steps)


def _limit(script: Script, most: Ceilings) -> None:
    for kind, (soft, hard) in most:
        value = struct.pack("<2Q", soft, hard)
        script.add("prlimit64", 0, kind, value, 0, what=f"limit resource {kind}")


def _own_user(script: Script) -> None:
    """A user namespace with one user in it, who has no capability even there."""
    script.add("unshare", _USER_NAMESPACE, what="make a user namespace")
    for name, content in (
        ("setgroups", "deny"),
        ("uid_map", f"{_SANDBOX_USER} {os.geteuid()} 1"),
        ("gid_map", f"{_SANDBOX_USER} {os.getegid()} 1"),
    ):
        what, path = f"write {name}", _path(f"/proc/self/{name}")
        script.add("openat", _AT_FDCWD, path, _WRITE_ONLY | _CLOEXEC, 0, what=what)
        script.add("write", PIPE + 1, content.encode(), len(content), what=what)
        script.add("close_range", PIPE + 1, _AND_ALL, 0, what=what)
    for capability in range(_CAPABILITIES):
        what = "drop capabilities for good"
        script.add("prctl", _DROP_FROM_BOUNDING, capability, what=what, unless=errno.EINVAL)
    header = struct.pack("<Ii", _CAPABILITY_VERSION, 0)
    script.add("capset", header, bytes(24), what="drop capabilities")


@functools.lru_cache(maxsize=64)
def _closing(
    machine: Machine, landlock: Landlock, rules: tuple[LandlockRule, ...], tcp: bool, most: Ceilings
) -> tuple[SyscallStep, ...]:
    script = Script(machine, (), _NO_SECRETS)
    script.add("close_range", _FROM_HERE, _AND_ALL, 0, what="close what was inherited")
    script.add("openat", _AT_FDCWD, _path(REPORT), 1 | _CLOEXEC, 0, what="find the report's pipe")
    script.add("openat", _AT_FDCWD, _path(STDIN), _CLOEXEC, 0, what="open standard input")
    script.add("dup3", PIPE + 1, 0, 0, what="open standard input")
    script.add("close_range", PIPE + 1, _AND_ALL, 0, what="close standard input's file")
    _limit(script, most)
    _own_user(script)
    script.add("prctl", *_NO_NEW_PRIVILEGES, what="give up new privileges")
    if landlock.used:
        script.restrict(landlock, rules, tcp=tcp)
    program = Counted(compile_filter(machine), _INSTRUCTION_BYTES)
    script.add("seccomp", _SET_FILTER, 0, program, what="load the system-call filter")
    script.add("write", PIPE, APPLIED, NOTE.size, what="report")
    return tuple(script.steps)


def starter(
    machine: Machine,
    landlock: Landlock,
    rules: tuple[LandlockRule, ...],
    command: StartCommand,
    limits: SandboxLimits,
    *,
    tcp: bool,
) -> Starter:
    """The first program of one command; what it reports is judged as in any other sandbox."""
    closing = _closing(machine, landlock, rules, tcp, tuple(ceilings(limits).items()))
    return complete(machine, closing, command, "E_SANDBOX_SETUP", _NO_SECRETS)
