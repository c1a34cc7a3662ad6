"""Conformance: the kernel gives nothing inside more rights, and nothing of other programs."""

import ctypes
import os
import re
import struct
from pathlib import Path

from silas.sandbox.conformance.models import (
    Attack,
    AttackFile,
    AttackGroup,
    AttackStage,
    ConformanceCheck,
    Evidence,
    Side,
    Trace,
    Untestable,
    in_group,
    own_name,
)
from silas.sandbox.conformance.stages import (
    AnswerStage,
    NewNamespace,
    OpenFileStage,
    ProcFileStage,
    SameNamespace,
    Victim,
)
from silas.sandbox.conformance.system_calls import call

attack = AttackFile("attack_kernel")
attack_network = AttackFile("attack_network")
attack_processes = AttackFile("attack_processes")

_NEW_USER, _NEW_MOUNTS, _NEW_NAMES = 0x10000000, 0x00020000, 0x04000000
_NOBODY = 65534
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
_REMOVE = 0  # IPC_RMID
_CREATE = 0o1600  # IPC_CREAT, for its owner alone
_USER_RING = -4


class _Queue(AttackStage):
    """System V objects of a program of the host: a queue, a segment or a semaphore."""

    def __init__(self, side: Side, kind: str) -> None:
        self._kind, self._secret = kind, side.secret
        key = int.from_bytes(os.urandom(3), "big") + 1
        sizes = {"msg": (), "shm": (4096,), "sem": (1,)}
        try:
            self._number = call(f"{kind}get", key, *sizes[kind], _CREATE)
        except OSError as error:
            raise Untestable(f"this kernel has no such objects: {error.strerror}") from error
        super().__init__({"key": key, "length": len(side.secret)})
        self._fill()

    def _fill(self) -> None:
        text = self._secret.encode()
        libc = ctypes.CDLL(None, use_errno=True)
        if self._kind == "msg":
            libc.msgsnd(self._number, struct.pack("l", 1) + text, len(text), 0)
        if self._kind == "shm":
            libc.shmat.restype = ctypes.c_void_p
            libc.shmdt.argtypes = (ctypes.c_void_p,)
            place = libc.shmat(self._number, None, 0)
            ctypes.memmove(place, text, len(text))
            libc.shmdt(place)

    def hit(self, trace: Trace) -> str:
        """It was read or changed."""
        if self._kind == "sem":
            value = ctypes.CDLL(None).semctl(self._number, 0, 12, 0)  # GETVAL
            return "it was changed" if value else ""
        return "the secret came out" if self._secret in trace.told else ""

    def close(self) -> None:
        """Remove it."""
        libc = ctypes.CDLL(None)
        getattr(libc, f"{self._kind}ctl")(self._number, *([0] * (self._kind == "sem")), _REMOVE, 0)


class _PosixQueue(AttackStage):
    """A POSIX message queue of a program of the host."""

    def __init__(self, side: Side) -> None:
        self._name = own_name().encode()
        self._secret = side.secret
        text = side.secret.encode()
        flags = os.O_CREAT | os.O_RDWR | os.O_NONBLOCK
        try:
            queue = call("mq_open", self._name, flags, 0o600, None)
        except OSError as error:
            raise Untestable(f"this kernel has no message queues: {error.strerror}") from error
        call("mq_timedsend", queue, text, len(text), 0, None)
        os.close(queue)
        super().__init__({"name": self._name.decode()})

    def hit(self, trace: Trace) -> str:
        """The message was taken."""
        return "the secret came out" if self._secret in trace.told else ""

    def close(self) -> None:
        """Remove it."""
        call("mq_unlink", self._name)


class _Key(AttackStage):
    """The owner's key ring: a key in it that must not be read, or none that may be added."""

    def __init__(self, side: Side, *, ready: bool) -> None:
        self._name = own_name()
        self._secret = side.secret
        self._number = 0
        text = side.secret.encode()
        try:
            call("keyctl", 0, _USER_RING, 1)  # KEYCTL_GET_KEYRING_ID, made if there is none
            if ready:
                name = self._name.encode()
                self._number = call("add_key", b"user", name, text, len(text), _USER_RING)
                # Readable for the user, not only for who possesses the key.
                call("keyctl", 5, self._number, 0x3F3F0000)
        except OSError as error:
            raise Untestable(f"no key ring can be used here: {error.strerror}") from error
        super().__init__({"name": self._name})

    def hit(self, trace: Trace) -> str:
        """The key was read, or there is one more."""
        if self._number:
            return "the secret came out" if self._secret in trace.told else ""
        return "a key was left" if self._find() else ""

    def _find(self) -> int:
        try:
            return call("keyctl", 10, _USER_RING, b"user", self._name.encode(), 0)
        except OSError:
            return 0

    def close(self) -> None:
        """Take the key away."""
        number = self._find()
        if number:
            call("keyctl", 9, number, _USER_RING)  # KEYCTL_UNLINK


class _Becomes(AttackStage):
    """The attack's process may not become a user of the host."""

    looks = True

    def look(self, pid: int) -> str:
        """The host sees whom it runs as."""
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        found = re.search(r"^Uid:\t(\d+)", status, re.MULTILINE)
        return f"it is user {_NOBODY}" if found and int(found[1]) == _NOBODY else ""


class _Joinable(Victim):
    """A process of the host whose namespaces may not be entered."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self.at["kind"] = "uts"

    def hit(self, trace: Trace) -> str:
        """The kernel granted it."""
        return "" if trace.error else "it entered"


class _Rooted(AttackStage):
    """The attack's process may not get another root directory."""

    looks = True

    def __init__(self, side: Side) -> None:
        self._root = side.work / "root"
        self._root.mkdir()
        super().__init__({"path": str(self._root)})

    def look(self, pid: int) -> str:
        """The host sees where its root is."""
        return "it has" if os.readlink(f"/proc/{pid}/root").endswith(str(self._root)) else ""


class _Scheduled(AttackStage):
    """The attack's process may not run before others."""

    looks = True

    def look(self, pid: int) -> str:
        """The host sees how it is scheduled."""
        if os.sched_getscheduler(pid) == os.SCHED_FIFO:
            return "it runs in real time"
        return "it runs before others" if os.getpriority(os.PRIO_PROCESS, pid) < 0 else ""


_check = in_group(AttackGroup.processes)


def _answer(
    name: str, promise: str, attacked: Attack, namespaces: int = 0, **at: int | str
) -> ConformanceCheck:
    """A check that only the kernel's answer decides."""

    def stage(side: Side) -> AttackStage:
        del side
        return AnswerStage(dict(at))

    return _check(name, promise, attacked, stage, namespaces, evidence=Evidence.kernel)


def _status(name: str, promise: str, pattern: str, words: str) -> ConformanceCheck:
    """A check of what the kernel says about the attack's process."""

    def stage(side: Side) -> AttackStage:
        del side
        return ProcFileStage("status", pattern, words)

    return _check(name, promise, attack_network.nothing, stage)


def _in_own_namespace(kind: str) -> ConformanceCheck:
    def stage(side: Side) -> AttackStage:
        del side
        return SameNamespace(kind)

    promise = f"The {kind} namespace is not the host's."
    return _check(f"namespace-{kind}", promise, attack_network.nothing, stage)


_RIGHTS: tuple[ConformanceCheck, ...] = (
    _status("no-new-privileges", "No program can give new rights.",
            r"^NoNewPrivs:\t0", "it may gain rights"),
    _status("filter", "The system-call filter is on.", r"^Seccomp:\t[^2]", "there is no filter"),
    _status("capabilities", "No capability can ever be had.",
            r"^CapBnd:\t.*[1-9a-f]", "it may have capabilities"),
    _status("capabilities-now", "No capability is held.",
            r"^Cap(Eff|Prm|Inh|Amb):\t.*[1-9a-f]", "it has capabilities"),
    _check("core-files", "A crash leaves no copy of memory.", attack_network.nothing,
           lambda side: ProcFileStage(
               "limits", r"^Max core file size +\S+ +[1-9u]", "it may leave one")),
    *map(_in_own_namespace, _NAMESPACES),
    _check("nested-namespace", "No namespace is made that brings rights back.",
           attack.nested_namespace, lambda side: NewNamespace({"flags": _NEW_USER})),
    _answer("nested-clone", "No child is started in a namespace that brings rights back.",
            attack.clone_namespace, flags=_NEW_USER),
    _answer("newest-clone", "The clone call whose flags no filter sees is refused.",
            attack.newest_clone),
    _check("join-namespace", "No namespace of the host is entered.", attack.join_namespace,
           _Joinable, evidence=Evidence.kernel),
    _check("change-root", "No other directory becomes the root for a process.",
           attack.change_root, _Rooted, _NEW_MOUNTS),
    _check("become", "No other user's rights are taken.",
           attack.become, lambda side: _Becomes({"user": _NOBODY})),
    _check("real-time", "Nothing runs in real time.", attack.real_time, lambda side: _Scheduled()),
    _check("real-time-new-call", "Nothing runs in real time by the newer call.",
           attack.real_time_2, lambda side: _Scheduled()),
    _check("hurry", "Nothing runs before the owner's programs.",
           attack.hurry, lambda side: _Scheduled()),
    _check("randomisation", "Address randomisation stays on.", attack.personality,
           lambda side: ProcFileStage("personality", "00040000", "it is off")),
    _answer("host-name", "The machine is not renamed.", attack.host_name, _NEW_NAMES, called="x"),
)  # fmt: skip

_MESSAGES: tuple[ConformanceCheck, ...] = (
    _check("segment", "No shared memory segment of the host is read.",
           attack.segment, lambda side: _Queue(side, "shm")),
    _check("message", "No message of the host is taken.",
           attack.message, lambda side: _Queue(side, "msg")),
    _check("semaphore", "No semaphore of the host is changed.",
           attack.semaphore, lambda side: _Queue(side, "sem")),
    _check("posix-message", "No POSIX message of the host is taken.",
           attack.posix_message, _PosixQueue),
)  # fmt: skip

_KERNEL: tuple[ConformanceCheck, ...] = (
    _check("key-left", "No key is left in the owner's key ring.", attack.add_key,
           lambda side: _Key(side, ready=False)),
    _check("key-read", "No key of the owner's key ring is read.", attack.find_key,
           lambda side: _Key(side, ready=True)),
    _check("bpf", "No program is given to the kernel.", attack.bpf,
           lambda side: OpenFileStage("bpf")),
    _check("userfaultfd", "Page faults of the kernel are not handled.",
           attack.userfault, lambda side: OpenFileStage("userfaultfd")),
    _check("performance", "The processor's counters are not read.",
           attack.performance, lambda side: OpenFileStage("perf_event")),
    _check("uncounted-memory", "There is no memory that belongs to no process.",
           attack_processes.forgotten_memory,
           lambda side: OpenFileStage("memfd:silas-conformance")),
    _answer("uncounted-segment", "There are no memory segments that no limit counts.",
            attack.make_segment),
    _answer("module", "No kernel module is loaded.", attack.module),
    _answer("new-kernel", "No other kernel is prepared.", attack.new_kernel),
    _answer("restart", "The machine is not restarted.", attack.restart),
    _answer("clock", "The clock is not set.", attack.clock),
    _answer("kernel-log", "The kernel's log is not read.", attack.kernel_log),
)  # fmt: skip

KERNEL: tuple[ConformanceCheck, ...] = (*_RIGHTS, *_MESSAGES, *_KERNEL)
