"""Attacks that ask the kernel for rights, as they run inside. Standard library only.

Each takes what the host set up for it and returns what it learned; an `OSError` is a refusal.
"""

import ctypes
import os
import signal
import struct
from contextlib import suppress
from pathlib import Path

from silas.sandbox.conformance.attack_calls import At, reach
from silas.sandbox.conformance.system_calls import call

_HELD: list[object] = []
_PAGE = 4096
_FIFO = 1


def become(at: At) -> str:
    """Become another user."""
    os.setresuid(at["user"], at["user"], at["user"])
    return "changed"


def nested_namespace(at: At) -> str:
    """Make a namespace in which it has the rights of root."""
    call("unshare", at["flags"])
    return "made"


def clone_namespace(at: At) -> str:
    """Start a child in a namespace in which it has the rights of root."""
    child = call("clone", at["flags"] | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "made"


def join_namespace(at: At) -> str:
    """Enter the namespaces of another process."""
    namespace = os.open(f"/proc/{at['pid']}/ns/{at['kind']}", os.O_RDONLY)
    call("setns", namespace, 0)
    return "entered"


def change_root(at: At) -> str:
    """Make a directory of its own the root."""
    call("chroot", at["path"].encode())
    return "changed"


def real_time(at: At) -> str:
    """Ask to run before everything else."""
    del at
    os.sched_setscheduler(0, _FIFO, os.sched_param(1))
    return "granted"


def real_time_2(at: At) -> str:
    """Ask to run before everything else, with the newer call."""
    del at
    call("sched_setattr", 0, struct.pack("IIQiIQQQ", 48, _FIFO, 0, 0, 1, 0, 0, 0), 0)
    return "granted"


def hurry(at: At) -> str:
    """Ask to run before others."""
    del at
    os.setpriority(os.PRIO_PROCESS, 0, -5)
    return "granted"


def personality(at: At) -> str:
    """Switch address randomisation off."""
    del at
    call("personality", 0x0040000)
    return "changed"


def host_name(at: At) -> str:
    """Rename the machine."""
    call("sethostname", at["called"].encode(), len(at["called"]))
    return "changed"


# The kernel.


def add_key(at: At) -> str:
    """Leave a key in the owner's key ring."""
    name = at["name"].encode()
    return str(call("add_key", b"user", name, name, len(name), -4))  # KEY_SPEC_USER_KEYRING


def find_key(at: At) -> str:
    """Read a key of the owner."""
    buffer = ctypes.create_string_buffer(200)
    key = call("keyctl", 10, -4, b"user", at["name"].encode(), 0)  # KEYCTL_SEARCH
    call("keyctl", 11, key, buffer, 200)  # KEYCTL_READ
    return buffer.value.decode()


def list_keys(at: At) -> str:
    """Read the kernel's list of keys."""
    return Path(at["path"]).read_text(encoding="utf-8")


def bpf(at: At) -> str:
    """Make a map that programs in the kernel use."""
    del at
    attributes = struct.pack("5I", 2, 4, 4, 1, 0) + bytes(100)
    call("bpf", 0, attributes, 72)
    return "made"


def userfault(at: At) -> str:
    """Handle the page faults of the kernel."""
    del at
    call("userfaultfd", 1)  # UFFD_USER_MODE_ONLY: the right every user has
    return "made"


def performance(at: At) -> str:
    """Count what the processor does."""
    del at
    # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, user space only.
    attributes = struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 0b1100000) + bytes(112 - 48)
    call("perf_event_open", attributes, 0, -1, -1, 0)
    return "made"


def module(at: At) -> str:
    """Load a kernel module; what is given is none."""
    del at
    return reach("init_module", b"none", 4, b"")


def new_kernel(at: At) -> str:
    """Prepare another kernel; the arguments are invalid."""
    del at
    return reach("kexec_load", 0, 17, 0, 0x3E << 16 | 0x80)


def restart(at: At) -> str:
    """Restart the machine; the magic numbers are wrong."""
    del at
    return reach("reboot", 0, 0, 0, 0)


def clock(at: At) -> str:
    """Ask the call that sets the clock; nothing is set."""
    del at
    return reach("adjtimex", ctypes.create_string_buffer(512))


def kernel_log(at: At) -> str:
    """Ask for the size of the kernel's log."""
    del at
    return reach("syslog", 10, 0, 0)


def newest_clone(at: At) -> str:
    """Use the clone call whose flags no filter sees; the arguments are invalid."""
    del at
    return reach("clone3", 0, 0)


# System V and POSIX messages.


def segment(at: At) -> str:
    """Attach the host's shared memory segment and read it."""
    number = call("shmget", at["key"], 0, 0)
    address = call("shmat", number, 0, 0)
    return ctypes.string_at(address, at["length"]).decode()


def make_segment(at: At) -> str:
    """Make a shared memory segment, which no limit counts."""
    del at
    number = call("shmget", 0, _PAGE, 0o1600)
    with suppress(OSError):
        ctypes.CDLL(None).shmctl(number, 0, None)  # IPC_RMID
    return "made"


def message(at: At) -> str:
    """Take a message out of the host's queue."""
    buffer = ctypes.create_string_buffer(300)
    number = call("msgget", at["key"], 0)
    length = call("msgrcv", number, buffer, 200, 0, 0o4000)  # IPC_NOWAIT
    return buffer.raw[8 : 8 + length].decode()


def semaphore(at: At) -> str:
    """Change the host's semaphore."""
    number = call("semget", at["key"], 1, 0)
    call("semctl", number, 0, 16, 7)  # SETVAL
    return "changed"


def posix_message(at: At) -> str:
    """Take a message out of the host's POSIX queue."""
    buffer = ctypes.create_string_buffer(8192)
    queue = call("mq_open", at["name"].encode(), os.O_RDONLY | os.O_NONBLOCK, 0, None)
    length = call("mq_timedreceive", queue, buffer, 8192, None, None)
    return buffer.raw[:length].decode()
