"""What a run may do below which path, as Landlock rules: the second wall behind the mounts (A20).

Mounts decide what is visible and what can be written. Landlock says the same once more, in the
process itself, so that a mount that shows too much still gives nothing. It only grants: what is
allowed below a path is allowed below everything in it, so a read-only mount inside a writable one
is kept by its mount alone. It does not judge `stat`, `chmod` and `chown`, nor UDP.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from typing import NamedTuple

from silas.sandbox.errors import SandboxUnavailable

_CREATE_RULESET = 444
_ASK_VERSION = 1
OLDEST = 2
"""ABI 1 forbids every rename between directories, which ordinary programs cannot live with."""

# (right, its bit, the first version that knows it).
_FILE_RIGHTS = (
    ("execute", 0, 1),
    ("write_file", 1, 1),
    ("read_file", 2, 1),
    ("read_dir", 3, 1),
    ("remove_dir", 4, 1),
    ("remove_file", 5, 1),
    ("make_char", 6, 1),
    ("make_dir", 7, 1),
    ("make_reg", 8, 1),
    ("make_sock", 9, 1),
    ("make_fifo", 10, 1),
    ("make_block", 11, 1),
    ("make_sym", 12, 1),
    ("refer", 13, 2),
    ("truncate", 14, 3),
    ("ioctl_dev", 15, 5),
)
_BITS = {name: 1 << bit for name, bit, _ in _FILE_RIGHTS}
_OF_FILES = ("execute", "write_file", "read_file", "truncate", "ioctl_dev")

_NET_SINCE, _BIND_AND_CONNECT_TCP = 4, 0b11
_SCOPE_SINCE, _ABSTRACT_SOCKETS_AND_SIGNALS = 6, 0b11

# What each version added, for `silas doctor`.
_PROTECTS = (
    (1, "files"),
    (_NET_SINCE, "TCP"),
    (5, "devices"),
    (_SCOPE_SINCE, "abstract sockets and signals"),
)


def _rights(*names: str) -> int:
    return sum(_BITS[name] for name in names)


LIST = _rights("read_dir")
"""Names only."""
READ = LIST | _rights("read_file")
PROGRAMS = READ | _rights("execute")
SHARED = READ | _rights(
    *("write_file", "remove_dir", "remove_file", "make_dir", "make_reg", "make_sock"),
    *("make_fifo", "make_sym", "refer", "truncate"),
)
"""Everything but programs and device nodes."""
WRITE = SHARED | _rights("execute")
DEVICE = READ | _rights("write_file", "ioctl_dev")
"""Using device nodes that are there, never making one."""


class LandlockRule(NamedTuple):
    """What is allowed for a path and everything below it."""

    path: str
    rights: int
    directory: bool = True


def kernel_version() -> int:
    """The Landlock version of this kernel; 0 if it has none or was started without.

    Raises:
        SandboxUnavailable: Something around Silas keeps it from asking.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    version = libc.syscall(
        *(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))
    )
    return read_version(int(version), ctypes.get_errno())


def read_version(answer: int, error: int) -> int:
    """What the kernel's answer means.

    Raises:
        SandboxUnavailable: A filter around Silas answered in the kernel's place.
    """
    if answer >= 0:
        return answer
    if error in (errno.ENOSYS, errno.EOPNOTSUPP):
        return 0
    raise SandboxUnavailable(
        f"The kernel cannot be asked for Landlock ({os.strerror(error)}); in a container, start it "
        "with --security-opt seccomp=unconfined.",
        code="E_SANDBOX_LANDLOCK",
    )


class Landlock(NamedTuple):
    """Landlock in one version (ABI); below `OLDEST` it is not used, and says so."""

    version: int

    @property
    def used(self) -> bool:
        """Whether runs are put behind it."""
        return self.version >= OLDEST

    def words(self) -> str:
        """One line for `silas doctor`: the version and what it protects."""
        if not self.version:
            return "not in this kernel; mounts and the system-call filter stand alone"
        if not self.used:
            return (
                f"ABI {self.version} is too old to use, Linux 5.19 has ABI {OLDEST}; mounts and "
                "the system-call filter stand alone"
            )
        protected = ", ".join(what for since, what in _PROTECTS if self.version >= since)
        return f"ABI {self.version}, protects {protected}"

    @property
    def handled(self) -> int:
        """Every right on files that this version judges; what no rule grants is refused."""
        return sum(1 << bit for _, bit, since in _FILE_RIGHTS if since <= self.version)

    def ruleset(self, *, tcp: bool) -> bytes:
        """`struct landlock_ruleset_attr`, as long as this version knows it.

        Args:
            tcp: Whether TCP stays possible; else no port can be bound or reached.
        """
        network = 0 if tcp else _BIND_AND_CONNECT_TCP
        fields = [self.handled]
        if self.version >= _NET_SINCE:
            fields.append(network)
        if self.version >= _SCOPE_SINCE:
            fields.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
        return struct.pack(f"<{len(fields)}Q", *fields)

    def rule(self, rule: LandlockRule, descriptor: int) -> bytes:
        """`struct landlock_path_beneath_attr` for a path opened at a descriptor."""
        rights = rule.rights & self.handled
        if not rule.directory:
            rights &= _rights(*_OF_FILES)
        return struct.pack("<Qi", rights, descriptor)


_NODES = ("null", "zero", "full", "random", "urandom", "tty")
_OWN = (
    LandlockRule("/", LIST),  # `ls /`: directories between mounts hold nothing else
    LandlockRule("/etc", READ),
    LandlockRule("/proc", READ),
    LandlockRule("/dev/pts", DEVICE),
    LandlockRule("/dev/shm", SHARED),  # noqa: S108 - the sandbox's own
    *(LandlockRule(f"/dev/{node}", DEVICE, directory=False) for node in _NODES),
)


def rules(
    programs: Iterable[str], private: Iterable[str], mounts: Iterable[LandlockRule]
) -> tuple[LandlockRule, ...]:
    """Everything a run may touch.

    Args:
        programs: The host's read-only programs and libraries.
        private: Its own writable places in memory.
        mounts: What the plan shows.
    """
    read_only = (LandlockRule(path, PROGRAMS) for path in programs)
    own = {rule.path for rule in _OWN}
    writable = (LandlockRule(path, WRITE) for path in private if path not in own)
    return (*_OWN, *read_only, *writable, *mounts)
