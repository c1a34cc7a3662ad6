"""System calls by number, for attacks and for what they aim at. Runs inside the sandbox, too:
standard library only.
"""

import ctypes
import os
from typing import Any

# (x86_64, aarch64)
NUMBERS: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "chroot": (161, 51),
    "adjtimex": (159, 171),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "sethostname": (170, 161),
    "syslog": (103, 116),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "personality": (135, 92),
    "unshare": (272, 97),
    "clone": (56, 220),
    "setns": (308, 268),
    "perf_event_open": (298, 241),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "sched_setattr": (314, 274),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "pidfd_send_signal": (424, 424),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "clone3": (435, 435),
    "pidfd_getfd": (438, 438),
    "fchmodat2": (452, 452),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "semget": (64, 190),
    "semctl": (66, 191),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "fanotify_init": (300, 262),
}

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long


def call(name: str, *arguments: Any) -> int:
    """Make a system call.

    Raises:
        OSError: What the kernel said.
    """
    number = NUMBERS[name][0 if os.uname().machine == "x86_64" else 1]
    ctypes.set_errno(0)
    given = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    done = int(_LIBC.syscall(ctypes.c_long(number), *given))
    if done == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)
    return done
