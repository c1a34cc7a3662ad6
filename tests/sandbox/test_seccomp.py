"""The system-call filter: judged by an interpreter of our own, and by the kernel."""

import errno
import json
import platform
import struct
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.sandbox.seccomp import Machine, compile_filter, rules

from .conftest import Run

MACHINES: tuple[Machine, ...] = get_args(Machine)
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
ALLOW, KILL = 0x7FFF0000, 0x80000000


def refused(code: int) -> int:
    return 0x00050000 | code


def judge(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """Run classic BPF over a `struct seccomp_data`, as the kernel does."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, arch, 0, *padded)
    code = [struct.unpack_from("<HBBI", program, at) for at in range(0, len(program), 8)]
    accumulator, at = 0, 0
    while True:
        operation, true, false, value = code[at]
        at += 1
        if operation == 0x06:
            return value
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
            continue
        holds = {
            0x15: accumulator == value,
            0x35: accumulator >= value,
            0x25: accumulator > value,
            0x45: bool(accumulator & value),
        }[operation]
        at += true if holds else false


NEWUSER, NEWNS, NEWTIME, THREAD = 0x10000000, 0x20000, 0x80, 0x3D0F00
HIGH = 0xABCD << 32  # the kernel ignores the upper half of these arguments, so must the filter

# (call, x86_64, aarch64, arguments, errno or 0 for allowed); numbers copied from the kernel's
# headers, not from the code under test.
TABLE = [
    ("read", 0, 63, (), 0),
    ("write", 1, 64, (), 0),
    ("mmap", 9, 222, (), 0),
    ("execve", 59, 221, (), 0),
    ("prlimit64", 302, 261, (), 0),
    ("futex", 202, 98, (), 0),
    ("pidfd_open", 434, 434, (), 0),
    ("landlock_create_ruleset", 444, 444, (), 0),  # they can only ever take rights away
    ("landlock_add_rule", 445, 445, (), 0),
    ("landlock_restrict_self", 446, 446, (), 0),
    ("mseal", 462, 462, (), 0),
    ("unknown to us", 463, 463, (), errno.ENOSYS),
    ("far away", 99999, 99999, (), errno.ENOSYS),
    ("ptrace", 101, 117, (0,), errno.EPERM),
    ("process_vm_readv", 310, 270, (), errno.EPERM),
    ("process_vm_writev", 311, 271, (), errno.EPERM),
    ("pidfd_getfd", 438, 438, (), errno.EPERM),
    ("keyctl", 250, 219, (), errno.EPERM),
    ("add_key", 248, 217, (), errno.EPERM),
    ("request_key", 249, 218, (), errno.EPERM),
    ("bpf", 321, 280, (), errno.EPERM),
    ("perf_event_open", 298, 241, (), errno.EPERM),
    ("userfaultfd", 323, 282, (), errno.EPERM),
    ("io_uring_setup", 425, 425, (), errno.ENOSYS),
    ("io_uring_enter", 426, 426, (), errno.ENOSYS),
    ("mount", 165, 40, (), errno.EPERM),
    ("umount2", 166, 39, (), errno.EPERM),
    ("pivot_root", 155, 41, (), errno.EPERM),
    ("chroot", 161, 51, (), errno.EPERM),
    ("open_tree", 428, 428, (), errno.EPERM),
    ("move_mount", 429, 429, (), errno.EPERM),
    ("fsopen", 430, 430, (), errno.EPERM),
    ("mount_setattr", 442, 442, (), errno.EPERM),
    ("setns", 308, 268, (), errno.EPERM),
    ("clone3", 435, 435, (), errno.ENOSYS),
    ("openat2", 437, 437, (), errno.ENOSYS),
    ("kexec_load", 246, 104, (), errno.EPERM),
    ("kexec_file_load", 320, 294, (), errno.EPERM),
    ("init_module", 175, 105, (), errno.EPERM),
    ("finit_module", 313, 273, (), errno.EPERM),
    ("delete_module", 176, 106, (), errno.EPERM),
    ("open_by_handle_at", 304, 265, (), errno.EPERM),
    ("name_to_handle_at", 303, 264, (), errno.EPERM),
    ("swapon", 167, 224, (), errno.EPERM),
    ("reboot", 169, 142, (), errno.EPERM),
    ("settimeofday", 164, 170, (), errno.EPERM),
    ("clock_settime", 227, 112, (), errno.EPERM),
    ("adjtimex", 159, 171, (), errno.EPERM),
    ("quotactl", 179, 60, (), errno.EPERM),
    ("acct", 163, 89, (), errno.EPERM),
    ("syslog", 103, 116, (), errno.EPERM),
    ("vhangup", 153, 58, (), errno.EPERM),
    ("iopl", 172, None, (), errno.EPERM),
    ("ioperm", 173, None, (), errno.EPERM),
    ("memfd_create", 319, 279, (), errno.ENOSYS),
    ("shmget", 29, 194, (), errno.ENOSYS),
    ("semget", 64, 190, (), errno.ENOSYS),
    ("msgget", 68, 186, (), errno.ENOSYS),
    ("setxattr", 188, 5, (), errno.EOPNOTSUPP),
    ("lsetxattr", 189, 6, (), errno.EOPNOTSUPP),
    ("fsetxattr", 190, 7, (), errno.EOPNOTSUPP),
    ("setsockopt: reuse the address", 54, 208, (0, 1, 2), 0),
    ("setsockopt: another level", 54, 208, (0, 6, 7), 0),
    ("setsockopt: send buffer", 54, 208, (0, 1, 7), errno.EPERM),
    ("setsockopt: receive buffer", 54, 208, (0, 1, 8), errno.EPERM),
    ("setsockopt: send buffer, forced", 54, 208, (0, 1, 32), errno.EPERM),
    ("setsockopt: receive buffer, forced", 54, 208, (0, 1, 33), errno.EPERM),
    ("clone: fork", 56, 220, (17,), 0),
    ("clone: thread", 56, 220, (THREAD,), 0),
    ("clone: user namespace", 56, 220, (NEWUSER | 17,), errno.EPERM),
    ("clone: mount namespace", 56, 220, (NEWNS,), errno.EPERM),
    ("clone: upper half", 56, 220, (HIGH | NEWUSER,), errno.EPERM),
    ("unshare: files", 272, 97, (0x400,), 0),
    ("unshare: user namespace", 272, 97, (NEWUSER,), errno.EPERM),
    ("unshare: time namespace", 272, 97, (NEWTIME,), errno.EPERM),
    ("personality: plain", 135, 92, (0,), 0),
    ("personality: ask", 135, 92, (0xFFFFFFFF,), 0),
    ("personality: no randomisation", 135, 92, (0x0040000,), errno.EPERM),
    ("ioctl: TCGETS", 16, 29, (0, 0x5401), 0),
    ("ioctl: TIOCSTI", 16, 29, (0, 0x5412), errno.EPERM),
    ("ioctl: TIOCSTI, upper half", 16, 29, (0, HIGH | 0x5412), errno.EPERM),
    ("ioctl: TIOCLINUX", 16, 29, (0, 0x541C), errno.EPERM),
    ("ioctl: TIOCSETD", 16, 29, (0, 0x5423), errno.EPERM),
    ("sched_setscheduler: batch", 144, 119, (0, 3), 0),
    ("sched_setscheduler: FIFO", 144, 119, (0, 1), errno.EPERM),
    ("sched_setscheduler: RR", 144, 119, (0, 2), errno.EPERM),
    ("chmod", 90, None, (0, 0o755), 0),
    ("chmod set-uid", 90, None, (0, 0o4755), errno.EPERM),
    ("fchmod set-gid", 91, 52, (0, 0o2755), errno.EPERM),
    ("fchmodat", 268, 53, (0, 0, 0o644), 0),
    ("fchmodat sticky", 268, 53, (0, 0, 0o1777), 0),
    ("fchmodat set-uid", 268, 53, (0, 0, 0o4755), errno.EPERM),
    ("fchmodat2 set-uid", 452, 452, (0, 0, 0o4755), errno.EPERM),
    ("openat creates", 257, 56, (0, 0, 0o101, 0o644), 0),
    ("openat creates set-uid", 257, 56, (0, 0, 0o101, 0o4644), errno.EPERM),
    ("openat reads, mode is noise", 257, 56, (0, 0, 0, 0o4644), 0),
    ("openat nameless set-uid", 257, 56, (0, 0, 0o20200002, 0o4644), errno.EPERM),
    ("open creates set-uid", 2, None, (0, 0o101, 0o4644), errno.EPERM),
    ("creat set-uid", 85, None, (0, 0o4644), errno.EPERM),
    ("mknodat set-uid", 259, 33, (0, 0, 0o104755), errno.EPERM),
    ("mknodat pipe", 259, 33, (0, 0, 0o010644), 0),
    ("socket: unix", 41, 198, (1, 1), 0),
    ("socket: inet", 41, 198, (2, 1), 0),
    ("socket: inet6", 41, 198, (10, 1), 0),
    ("socket: netlink", 41, 198, (16, 3), errno.EAFNOSUPPORT),
    ("socket: packet", 41, 198, (17, 3), errno.EAFNOSUPPORT),
    ("socket: alg", 41, 198, (38, 5), errno.EAFNOSUPPORT),
    ("socket: vsock", 41, 198, (40, 1), errno.EAFNOSUPPORT),
    ("socket: vsock, upper half", 41, 198, (HIGH | 40, 1), errno.EAFNOSUPPORT),
    ("socketpair: unix", 53, 199, (1, 1), 0),
    ("socketpair: tipc", 53, 199, (30, 1), errno.EAFNOSUPPORT),
]


@pytest.mark.parametrize(("call", "x86", "arm", "arguments", "error"), TABLE, ids=str)
@pytest.mark.parametrize("machine", MACHINES)
def test_each_call_has_its_answer(
    machine: Machine,
    call: str,
    x86: int,
    arm: int | None,
    arguments: tuple[int, ...],
    error: int,
) -> None:
    number = x86 if machine == "x86_64" else arm
    program = compile_filter(machine)
    if number is None:
        names = {rule.call for rule in rules() if rule.number(machine) is not None}
        assert call.split(maxsplit=1)[0] not in names
        return
    assert judge(program, ARCH[machine], number, *arguments) == (refused(error) if error else ALLOW)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_foreign_instruction_set_is_killed(machine: Machine) -> None:
    program = compile_filter(machine)
    others = {I386, ARM, *ARCH.values()} - {ARCH[machine]}
    for arch in others:
        for number in (0, 1, 59, 101, 165):
            assert judge(program, arch, number) == KILL


@given(number=st.integers(0x40000000, 0xFFFFFFFF))
def test_the_x32_table_does_not_exist(number: int) -> None:
    program = compile_filter("x86_64")
    assert judge(program, ARCH["x86_64"], number) == refused(errno.ENOSYS)


@given(
    machine=st.sampled_from(MACHINES),
    number=st.integers(0, 500),
    arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6),
)
def test_every_call_gets_an_answer_and_none_but_a_foreign_one_kills(
    machine: Machine, number: int, arguments: list[int]
) -> None:
    answer = judge(compile_filter(machine), ARCH[machine], number, *arguments)
    known = {rule.number(machine) for rule in rules()}
    if number in known or number > 462:
        assert answer == ALLOW or answer & 0xFFFF0000 == 0x00050000
    else:
        assert answer == ALLOW


def test_every_rule_has_a_reason_and_its_jumps_fit() -> None:
    assert all(rule.why and rule.error for rule in rules())
    for machine in MACHINES:
        assert len(compile_filter(machine)) // 8 < 4096


LIVE = """
import ctypes, os, json, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
answers = []
for number, arguments in json.loads(input()):
    padded = [ctypes.c_ulong(a) for a in (list(arguments) + [0] * 6)[:6]]
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(number), *padded)
    answers.append(ctypes.get_errno() if done == -1 else 0)
print(json.dumps([answers, os.uname().machine]))
"""


@pytest.mark.proves("A20-SECCOMP")
async def test_the_kernel_gives_the_same_answers(python: Run) -> None:
    machine = platform.machine()
    assert machine in MACHINES
    rows = [row for row in TABLE if row[4] and row[1 if machine == "x86_64" else 2] is not None]
    calls = [[row[1 if machine == "x86_64" else 2], row[3]] for row in rows]
    result = await python(LIVE, stdin=json.dumps(calls).encode())
    assert result.ended_by == "exit", result.stderr
    answers, _ = json.loads(result.stdout)
    assert dict(zip((row[0] for row in rows), answers, strict=True)) == {
        row[0]: row[4] for row in rows
    }


def test_every_number_is_the_one_in_the_kernels_headers() -> None:
    """The list beside this file was taken from Linux headers; `-` where a call is missing."""
    lines = Path(__file__).with_name("syscalls.txt").read_text().splitlines()
    known = {
        name: tuple(None if number == "-" else int(number) for number in numbers)
        for name, *numbers in map(str.split, lines)
    }
    assert {rule.call: rule.numbers for rule in rules()}.items() <= known.items()
