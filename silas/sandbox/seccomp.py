"""The system calls a sandboxed process may not make, as one table, compiled to classic BPF.

The filter is the second wall behind namespaces and dropped capabilities: it takes away kernel
surface that ordinary programs never need. A refused call fails like on a kernel without it
(`ENOSYS`) or like for a user without the right (`EPERM`), so programs fall back instead of dying;
only a foreign instruction set is killed. It does not look behind pointers, so it cannot judge
paths or addresses: mounts and namespaces do that.
"""

import errno
import struct
from dataclasses import dataclass
from typing import Literal, NamedTuple

Machine = Literal["x86_64", "aarch64"]

KILL = 0x80000000
ALLOW = 0x7FFF0000
ERRNO = 0x00050000

_X32 = 0x40000000
"""Bit of the x32 table on x86_64: the same calls under other numbers, which miss every rule."""

_NEWEST = 462
"""`mseal`, the last call this table was written against: what is newer does not exist inside."""

_AUDIT_ARCH: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# Flags of clone and unshare that make namespaces; 0x80 is CLONE_NEWTIME, which only unshare takes.
_NEW_NAMESPACES = 0x7E020000
_SET_ID = 0o6000
_CREATES = 0o100 | 0o20000000  # O_CREAT, __O_TMPFILE: the same numbers on both machines

_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10


class Condition(NamedTuple):
    """A test of the low 32 bits of one argument, which is all the kernel reads of these."""

    argument: int
    test: Literal["bits", "equal", "none_of"]
    values: tuple[int, ...]


@dataclass(frozen=True)
class SeccompRule:
    """A call that is refused, always or when all conditions hold.

    Attributes:
        call: Its name.
        numbers: Its numbers on x86_64 and aarch64, None where the machine has no such call.
        error: The errno it fails with.
        why: One reason, for `docs/security.md`.
    """

    call: str
    numbers: tuple[int | None, int | None]
    error: int
    why: str
    conditions: tuple[Condition, ...] = ()

    def number(self, machine: Machine) -> int | None:
        """Its number on a machine."""
        return self.numbers[0 if machine == "x86_64" else 1]


_PEEK = "looks into or steers other processes, the sandbox's own supervisor among them"
_KEYS = "the kernel's key rings belong to the user, not to the sandbox"
_SURFACE = "a large kernel surface with a history of escapes that ordinary programs do without"
_MOUNT = "mounts decide what is visible; they are fixed before the command starts"
_NAMESPACE = "a fresh namespace brings capabilities back"
_KERNEL = "replaces or extends the running kernel"
_HANDLE = "opens files by number, past every mount"
_CLOCK = "the clock is the whole machine's"
_HARDWARE = "touches hardware or the machine as a whole"
_OLD = "obsolete; only exploits call it"
_UNCOUNTED = "memory that belongs to no process and so escapes the memory limit"
_HIDDEN = "its arguments are behind a pointer and cannot be judged; libc falls back"
_SETID = "a set-id file left in a workspace is a way up for others on the host"
_REALTIME = "real-time scheduling can starve the machine"
_FAMILY = "only Unix and internet sockets; other families reach the hypervisor or raw devices"

_PLAIN: tuple[tuple[str, int | None, int | None, int, str], ...] = (
    ("ptrace", 101, 117, errno.EPERM, _PEEK),
    ("process_vm_readv", 310, 270, errno.EPERM, _PEEK),
    ("process_vm_writev", 311, 271, errno.EPERM, _PEEK),
    ("process_madvise", 440, 440, errno.EPERM, _PEEK),
    ("kcmp", 312, 272, errno.EPERM, _PEEK),
    ("pidfd_getfd", 438, 438, errno.EPERM, _PEEK),
    ("move_pages", 279, 239, errno.EPERM, _PEEK),
    ("migrate_pages", 256, 238, errno.EPERM, _PEEK),
    ("keyctl", 250, 219, errno.EPERM, _KEYS),
    ("add_key", 248, 217, errno.EPERM, _KEYS),
    ("request_key", 249, 218, errno.EPERM, _KEYS),
    ("bpf", 321, 280, errno.EPERM, _SURFACE),
    ("perf_event_open", 298, 241, errno.EPERM, _SURFACE),
    ("userfaultfd", 323, 282, errno.EPERM, _SURFACE),
    ("fanotify_init", 300, 262, errno.EPERM, _SURFACE),
    ("modify_ldt", 154, None, errno.EPERM, _SURFACE),
    ("io_uring_setup", 425, 425, errno.ENOSYS, "its operations never pass this filter"),
    ("io_uring_enter", 426, 426, errno.ENOSYS, "its operations never pass this filter"),
    ("io_uring_register", 427, 427, errno.ENOSYS, "its operations never pass this filter"),
    ("mount", 165, 40, errno.EPERM, _MOUNT),
    ("umount2", 166, 39, errno.EPERM, _MOUNT),
    ("pivot_root", 155, 41, errno.EPERM, _MOUNT),
    ("chroot", 161, 51, errno.EPERM, _MOUNT),
    ("open_tree", 428, 428, errno.EPERM, _MOUNT),
    ("move_mount", 429, 429, errno.EPERM, _MOUNT),
    ("fsopen", 430, 430, errno.EPERM, _MOUNT),
    ("fsconfig", 431, 431, errno.EPERM, _MOUNT),
    ("fsmount", 432, 432, errno.EPERM, _MOUNT),
    ("fspick", 433, 433, errno.EPERM, _MOUNT),
    ("mount_setattr", 442, 442, errno.EPERM, _MOUNT),
    ("statmount", 457, 457, errno.ENOSYS, _MOUNT),
    ("listmount", 458, 458, errno.ENOSYS, _MOUNT),
    ("setns", 308, 268, errno.EPERM, _NAMESPACE),
    ("clone3", 435, 435, errno.ENOSYS, _HIDDEN),
    ("openat2", 437, 437, errno.ENOSYS, _HIDDEN),
    ("kexec_load", 246, 104, errno.EPERM, _KERNEL),
    ("kexec_file_load", 320, 294, errno.EPERM, _KERNEL),
    ("init_module", 175, 105, errno.EPERM, _KERNEL),
    ("finit_module", 313, 273, errno.EPERM, _KERNEL),
    ("delete_module", 176, 106, errno.EPERM, _KERNEL),
    ("create_module", 174, None, errno.ENOSYS, _OLD),
    ("query_module", 178, None, errno.ENOSYS, _OLD),
    ("get_kernel_syms", 177, None, errno.ENOSYS, _OLD),
    ("open_by_handle_at", 304, 265, errno.EPERM, _HANDLE),
    ("name_to_handle_at", 303, 264, errno.EPERM, _HANDLE),
    ("settimeofday", 164, 170, errno.EPERM, _CLOCK),
    ("clock_settime", 227, 112, errno.EPERM, _CLOCK),
    ("adjtimex", 159, 171, errno.EPERM, _CLOCK),
    ("clock_adjtime", 305, 266, errno.EPERM, _CLOCK),
    ("swapon", 167, 224, errno.EPERM, _HARDWARE),
    ("swapoff", 168, 225, errno.EPERM, _HARDWARE),
    ("reboot", 169, 142, errno.EPERM, _HARDWARE),
    ("iopl", 172, None, errno.EPERM, _HARDWARE),
    ("ioperm", 173, None, errno.EPERM, _HARDWARE),
    ("quotactl", 179, 60, errno.EPERM, _HARDWARE),
    ("quotactl_fd", 443, 443, errno.EPERM, _HARDWARE),
    ("acct", 163, 89, errno.EPERM, _HARDWARE),
    ("syslog", 103, 116, errno.EPERM, _HARDWARE),
    ("vhangup", 153, 58, errno.EPERM, _HARDWARE),
    ("sethostname", 170, 161, errno.EPERM, _HARDWARE),
    ("setdomainname", 171, 162, errno.EPERM, _HARDWARE),
    ("lookup_dcookie", 212, 18, errno.EPERM, _OLD),
    ("nfsservctl", 180, 42, errno.ENOSYS, _OLD),
    ("uselib", 134, None, errno.ENOSYS, _OLD),
    ("ustat", 136, None, errno.ENOSYS, _OLD),
    ("sysfs", 139, None, errno.ENOSYS, _OLD),
    ("_sysctl", 156, None, errno.ENOSYS, _OLD),
    ("memfd_create", 319, 279, errno.ENOSYS, _UNCOUNTED),
    ("memfd_secret", 447, 447, errno.ENOSYS, _UNCOUNTED),
    ("shmget", 29, 194, errno.ENOSYS, _UNCOUNTED),
    ("semget", 64, 190, errno.ENOSYS, _UNCOUNTED),
    ("msgget", 68, 186, errno.ENOSYS, _UNCOUNTED),
    ("setxattr", 188, 5, errno.EOPNOTSUPP, _UNCOUNTED),
    ("lsetxattr", 189, 6, errno.EOPNOTSUPP, _UNCOUNTED),
    ("fsetxattr", 190, 7, errno.EOPNOTSUPP, _UNCOUNTED),
    ("sched_setattr", 314, 274, errno.EPERM, _REALTIME),
)


def _bits(argument: int, mask: int) -> Condition:
    return Condition(argument, "bits", (mask,))


def _equal(argument: int, value: int) -> Condition:
    return Condition(argument, "equal", (value,))


def _none_of(argument: int, *values: int) -> Condition:
    return Condition(argument, "none_of", values)


_TTY = "types into or reconfigures a terminal it did not open"

_CONDITIONAL: tuple[SeccompRule, ...] = (
    SeccompRule("clone", (56, 220), errno.EPERM, _NAMESPACE, (_bits(0, _NEW_NAMESPACES),)),
    SeccompRule("unshare", (272, 97), errno.EPERM, _NAMESPACE, (_bits(0, _NEW_NAMESPACES | 0x80),)),
    # 0 is plain Linux, all ones only asks; the rest switches off address randomisation and more.
    SeccompRule("personality", (135, 92), errno.EPERM, _SURFACE, (_none_of(0, 0, 0xFFFFFFFF),)),
    SeccompRule("ioctl", (16, 29), errno.EPERM, _TTY, (_equal(1, 0x5412),)),  # TIOCSTI
    SeccompRule("ioctl", (16, 29), errno.EPERM, _TTY, (_equal(1, 0x541C),)),  # TIOCLINUX
    SeccompRule("ioctl", (16, 29), errno.EPERM, _TTY, (_equal(1, 0x5423),)),  # TIOCSETD
    # SCHED_OTHER, SCHED_BATCH and SCHED_IDLE, with or without SCHED_RESET_ON_FORK.
    SeccompRule(
        "sched_setscheduler",
        (144, 119),
        errno.EPERM,
        _REALTIME,
        (_none_of(1, 0, 3, 5, 0x40000000, 0x40000003, 0x40000005),),
    ),
    # The supervisor counts sockets at the size their buffers have by themselves.
    *(
        SeccompRule(
            "setsockopt", (54, 208), errno.EPERM, _UNCOUNTED, (_equal(1, 1), _equal(2, option))
        )
        for option in (7, 8, 32, 33)  # of SOL_SOCKET: SO_SNDBUF, SO_RCVBUF and their FORCE
    ),
    SeccompRule("chmod", (90, None), errno.EPERM, _SETID, (_bits(1, _SET_ID),)),
    SeccompRule("fchmod", (91, 52), errno.EPERM, _SETID, (_bits(1, _SET_ID),)),
    SeccompRule("fchmodat", (268, 53), errno.EPERM, _SETID, (_bits(2, _SET_ID),)),
    SeccompRule("fchmodat2", (452, 452), errno.EPERM, _SETID, (_bits(2, _SET_ID),)),
    SeccompRule("creat", (85, None), errno.EPERM, _SETID, (_bits(1, _SET_ID),)),
    SeccompRule("open", (2, None), errno.EPERM, _SETID, (_bits(1, _CREATES), _bits(2, _SET_ID))),
    SeccompRule("openat", (257, 56), errno.EPERM, _SETID, (_bits(2, _CREATES), _bits(3, _SET_ID))),
    SeccompRule("mknod", (133, None), errno.EPERM, _SETID, (_bits(1, _SET_ID),)),
    SeccompRule("mknodat", (259, 33), errno.EPERM, _SETID, (_bits(2, _SET_ID),)),
)

_SOCKETS = SeccompRule(
    "socket",
    (41, 198),
    errno.EAFNOSUPPORT,
    _FAMILY,
    (_none_of(0, _AF_UNIX, _AF_INET, _AF_INET6),),
)
_PAIRS = SeccompRule("socketpair", (53, 199), errno.EAFNOSUPPORT, _FAMILY, (_none_of(0, _AF_UNIX),))


def rules() -> tuple[SeccompRule, ...]:
    """Every refused call with its reason, in the order in which the filter looks."""
    plain = tuple(
        SeccompRule(call, (x86, arm), error, why) for call, x86, arm, error, why in _PLAIN
    )
    return (*_CONDITIONAL, _SOCKETS, _PAIRS, *plain)


class Instruction(NamedTuple):
    """One classic BPF instruction; jumps are relative to the next one."""

    code: int
    jump_true: int
    jump_false: int
    value: int


_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_GREATER, _JUMP_BITS, _RETURN = (
    0x20,
    0x15,
    0x35,
    0x25,
    0x45,
    0x06,
)
# Offsets in struct seccomp_data, little endian on both machines.
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16


def _refuse(error: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, ERRNO | error)


def _test(condition: Condition, left: int) -> list[Instruction]:
    """Fall through when the condition holds, else jump `left` instructions beyond this test."""
    load = Instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * condition.argument)
    if condition.test == "none_of":
        count = len(condition.values)
        jumps = [
            Instruction(_JUMP_EQUAL, left + count - 1 - at, 0, value)
            for at, value in enumerate(condition.values)
        ]
        return [load, *jumps]
    code = _JUMP_BITS if condition.test == "bits" else _JUMP_EQUAL
    return [load, Instruction(code, 0, left, condition.values[0])]


def _block(rule: SeccompRule, number: int) -> list[Instruction]:
    """Return the error if the call and its conditions match, else go on with the number loaded."""
    body = [_refuse(rule.error)]
    for condition in reversed(rule.conditions):
        body = _test(condition, len(body)) + body
    if rule.conditions:
        body.append(Instruction(_LOAD, 0, 0, _NUMBER))
    return [Instruction(_JUMP_EQUAL, 0, len(body), number), *body]


def instructions(machine: Machine) -> list[Instruction]:
    """The filter for a machine."""
    program = [
        Instruction(_LOAD, 0, 0, _ARCH),
        Instruction(_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[machine]),
        Instruction(_RETURN, 0, 0, KILL),
        Instruction(_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        program += [Instruction(_JUMP_AT_LEAST, 0, 1, _X32), _refuse(errno.ENOSYS)]
    program += [Instruction(_JUMP_GREATER, 0, 1, _NEWEST), _refuse(errno.ENOSYS)]
    for rule in rules():
        number = rule.number(machine)
        if number is not None:
            program += _block(rule, number)
    return [*program, Instruction(_RETURN, 0, 0, ALLOW)]


def compile_filter(machine: Machine) -> bytes:
    """The filter as the kernel and bubblewrap read it: `struct sock_filter[]`, 8 bytes each."""
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in instructions(machine))
