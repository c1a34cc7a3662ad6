"""What a running sandbox uses, read from `/proc` by the host-side supervisor.

Cgroup controllers are often out of reach, so totals over all processes are sampled. Between two
samples a run can exceed a total; per-process limits of the kernel hold at every moment.
"""

import os
import resource
import select
from collections.abc import Sequence
from typing import NamedTuple

from silas.sandbox.models import SandboxLimits

_PAGE = resource.getpagesize()
_TICKS = os.sysconf("SC_CLK_TCK")
_INODE_BYTES = 1024  # kernel memory behind one file of a memory file system, rounded up
_SOCKET_BYTES = 1 << 18  # what one socket keeps at the size that buffers have; rounded up
_OPEN_FILES = 512
_MEBIBYTE = 1 << 20

# Fields of /proc/PID/stat behind the parenthesised name, which may itself hold anything.
_PARENT, _UTIME, _STIME, _THREADS, _RSS = 1, 11, 12, 17, 21


class Usage(NamedTuple):
    """One sample.

    Attributes:
        processes: Processes and threads, bubblewrap's own init not counted.
        memory: Bytes resident, in private file systems and in sockets; shared pages count fully.
        cpu_seconds: Of the process that used most.
        pids: The processes, each by a thread of it that still runs.
    """

    processes: int
    memory: int
    cpu_seconds: float
    pids: tuple[int, ...]


def _read(path: str) -> bytes:
    """The content of a small /proc file; empty when the process is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def has_ended(process_fd: int) -> bool:
    """Whether a process is over; `select.select` would refuse descriptors above 1023."""
    poll = select.poll()
    poll.register(process_fd, select.POLLIN)
    return bool(poll.poll(0))


def parent(pid: int) -> int:
    """The parent of a process; 0 when it is gone."""
    fields = _stat(pid)
    return int(fields[_PARENT]) if fields else 0


def _stat(pid: int) -> list[bytes]:
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _tasks(pid: int, threads: int) -> list[int]:
    if threads <= 1:
        return [pid]
    try:
        return list(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return []


def _children(pid: int, tasks: Sequence[int]) -> list[int]:
    return [
        int(child) for task in tasks for child in _read(f"/proc/{pid}/task/{task}/children").split()
    ]


def _resident(pid: int, fields: list[bytes], tasks: Sequence[int]) -> tuple[int, int]:
    """Resident bytes of a process, and the thread that tells: one that is over tells nothing.

    The first thread may end before the others; the process then looks as if it held no memory.
    """
    own = int(fields[_RSS])
    if own or len(tasks) <= 1:
        return own * _PAGE, pid
    told = ((int(found[_RSS]), task) for task in tasks if (found := _stat(task)))
    pages, task = max(told, default=(0, pid))
    return pages * _PAGE, task


def _is_set_up(init: int) -> bool:
    """Whether the init stands in a root of its own; before that its `/tmp` is the host's."""
    try:
        theirs, ours = os.stat(f"/proc/{init}/root"), os.stat("/")
    except OSError:  # the run ended meanwhile
        return False
    return (theirs.st_dev, theirs.st_ino) != (ours.st_dev, ours.st_ino)


def _socket_bytes(init: int) -> int:
    """What the sockets of the run may keep; nobody tells what they do, only how many there are."""
    words = _read(f"/proc/{init}/net/sockstat").split(maxsplit=3)  # "sockets: used 12"
    return int(words[2]) * _SOCKET_BYTES if len(words) > 2 else 0


def _private_bytes(init: int, private: Sequence[str]) -> int:
    """Bytes that belong to the run and to no process of it."""
    if not _is_set_up(init):
        return 0
    total = _socket_bytes(init)
    for path in private:
        try:
            facts = os.statvfs(f"/proc/{init}/root{path}")
        except OSError:  # the run ended meanwhile
            continue
        total += (facts.f_blocks - facts.f_bfree) * facts.f_frsize
        total += (facts.f_files - facts.f_ffree) * _INODE_BYTES
    return total


def sample(init: int, private: Sequence[str], most: int) -> Usage:
    """Walk the process tree below the sandbox's init; stop early beyond `most` processes."""
    processes, memory, cpu = 0, _private_bytes(init, private), 0
    seen: list[int] = []
    waiting = _children(init, [init])
    while waiting and processes <= most:
        pid = waiting.pop()
        fields = _stat(pid)
        if not fields:
            continue
        threads = max(1, int(fields[_THREADS]))
        tasks = _tasks(pid, threads)
        resident, teller = _resident(pid, fields, tasks)
        seen.append(teller)
        processes += threads
        memory += resident
        cpu = max(cpu, int(fields[_UTIME]) + int(fields[_STIME]))
        waiting += _children(pid, tasks)
    return Usage(processes, memory, cpu / _TICKS, tuple(seen))


def sample_members(members: Sequence[int], init: int, private: Sequence[str], most: int) -> Usage:
    """The same for a run whose processes are known; `init` is the guard, which does not count."""
    processes, memory, cpu = 0, 0, 0
    seen: list[int] = []
    for pid in members:
        fields = [] if pid == init or processes > most else _stat(pid)
        if fields:
            threads = max(1, int(fields[_THREADS]))
            held, teller = _resident(pid, fields, _tasks(pid, threads))
            seen.append(teller)
            processes += threads
            memory += held
            cpu = max(cpu, int(fields[_UTIME]) + int(fields[_STIME]))
    # Nobody may look into the guard, so its file systems are found through its neighbours.
    memory += next((size for pid in seen if (size := _private_bytes(pid, private))), 0)
    return Usage(processes, memory, cpu / _TICKS, tuple(seen))


def exact_members(private: Sequence[str], usage: Usage) -> int:
    """As `exact_memory`, for a run whose processes are known."""
    views = (_private_bytes(pid, private) for pid in usage.pids)
    return next((size for size in views if size), 0) + sum(map(_proportional, usage.pids))


def _proportional(pid: int) -> int:
    """Resident bytes with shared pages divided among their users."""
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def exact_memory(init: int, private: Sequence[str], usage: Usage) -> int:
    """Memory with shared pages counted once: dearer, so asked only when a sample looks too high."""
    return _private_bytes(init, private) + sum(_proportional(pid) for pid in usage.pids)


def impose(pid: int, limits: SandboxLimits, *, count_processes: bool) -> None:
    """Set the kernel's per-process limits on the sandbox's init, which everything inherits.

    Args:
        pid: The init, still waiting to start the command.
        limits: What to impose.
        count_processes: Whether the kernel counts processes per user namespace (5.14 and newer).
            Root is never limited this way, but by `silas.sandbox.process_group`; the supervisor
            counts in any case.
    """
    for kind, (soft, hard) in ceilings(limits).items():
        resource.prlimit(pid, kind, (_cap_limit(kind, soft), _cap_limit(kind, hard)))
    if count_processes:
        most = _cap_limit(resource.RLIMIT_NPROC, limits.processes + 1)
        resource.prlimit(pid, resource.RLIMIT_NPROC, (most, most))


def ceilings(limits: SandboxLimits) -> dict[int, tuple[int, int]]:
    """The kernel's limits on every process of a run: soft and hard, by kind."""
    memory, size = limits.memory_mb * _MEBIBYTE, limits.file_mb * _MEBIBYTE
    return {
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_FSIZE: (size, size),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NOFILE: (_OPEN_FILES, _OPEN_FILES),
        # SIGXCPU first, SIGKILL a second later for those that ignore it.
        resource.RLIMIT_CPU: (limits.cpu_seconds, limits.cpu_seconds + 1),
    }


def _cap_limit(kind: int, value: int) -> int:
    """Never above what this process may set."""
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
