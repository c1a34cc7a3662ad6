"""The first program inside: puts itself behind Landlock, then becomes the command (A20).

It closes every descriptor it inherited, applies the rules, says so over a pipe that closes with the
command's start, and executes the command. The pipe is the evidence: nothing that runs later holds
it, and the supervisor takes no result of a run that did not report.
"""

import errno
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.landlock import Landlock, LandlockRule
from silas.sandbox.seccomp import Machine
from silas.sandbox.syscall_player import (
    NOTE,
    REPORT,
    SyscallArgument,
    SyscallStep,
    assemble,
    step_at,
)

STARTER = "/dev/.start"
"""Where it lies inside. No Landlock rule grants reading it: the probe tries just that."""

GAVE_UP = 126
"""Its own exit code, after a report of what failed."""

PIPE = 3  # the report's writing end, closed by the kernel when the command starts
SECRETS = 4
"""Where the command finds its secrets, if it was given any."""
_ALL = 0xFFFFFFFF
_AT_FDCWD = -100
_CLOEXEC = 0o2000000
_NOFOLLOW: dict[Machine, int] = {"x86_64": 0o400000, "aarch64": 0o100000}
_O_PATH = 0o10000000
_SET_CLOEXEC = (2, 1)  # F_SETFD, FD_CLOEXEC
_PATH_BENEATH = 1
_SHELL = b"/bin/sh"

# (call, its number on x86_64 and on aarch64).
_CALLS: dict[str, tuple[int, int]] = {
    "read": (0, 63),
    "write": (1, 64),
    "rt_sigaction": (13, 134),
    "execve": (59, 221),
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "exit_group": (231, 94),
    "openat": (257, 56),
    "dup3": (292, 24),
    "prlimit64": (302, 261),
    "seccomp": (317, 277),
    "capset": (126, 91),
    "unshare": (272, 97),
    "close_range": (436, 436),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
}

# Every program ends with these two, counted from the end.
_REPORT_FAILURE, _GIVE_UP = -2, -1
APPLIED = NOTE.pack(0, 0)
"""The first note of a starter that did all it had to; then it becomes the command."""


class StartCommand(NamedTuple):
    """What to become.

    Attributes:
        argv: The command and its arguments; a name without a slash is looked for along PATH.
        environment: All of it.
    """

    argv: Sequence[str]
    environment: dict[str, str]

    def candidates(self) -> tuple[bytes, ...]:
        """Where the command may lie, in order."""
        name = os.fsencode(self.argv[0])
        if b"/" in name or not name:
            return (name,)
        places = os.fsencode(self.environment["PATH"]).split(b":")
        return tuple(place + b"/" + name if place else name for place in places)


def _common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """How many first elements are the same."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


class Script:
    """Steps in the making; one that fails is reported and ends the program, if not told else."""

    def __init__(self, machine: Machine, done: Sequence[SyscallStep], secrets: int) -> None:
        self._column = 0 if machine == "x86_64" else 1
        self._no_follow = _NOFOLLOW[machine]
        self._before = len(done)
        self._secrets = secrets
        self._first_free = PIPE + 1 if secrets < 0 else SECRETS + 1  # the ruleset, then paths
        self.steps: list[SyscallStep] = []

    @property
    def at(self) -> int:
        """The place of the next step."""
        return self._before + len(self.steps)

    def add(
        self,
        call: str,
        *arguments: SyscallArgument,
        what: str,
        failed: int = _REPORT_FAILURE,
        unless: int = 0,
    ) -> None:
        """One more step; for the errno `unless` its failure is ignored."""
        number = _CALLS[call][self._column]
        self.steps.append(SyscallStep(number, arguments, failed, unless, self.at + 1, what))

    def keep_only(self, report: int) -> None:
        """Keep the standard streams, the report's pipe, which closes when a program starts, and
        the secrets, whose own number is above all that are used here.
        """
        what = "find the report's pipe"
        if report == PIPE:
            self.add("fcntl", PIPE, *_SET_CLOEXEC, what=what, failed=_GIVE_UP)
        else:
            self.add("dup3", report, PIPE, _CLOEXEC, what=what, failed=_GIVE_UP)
        if self._secrets >= 0:
            self.add("dup3", self._secrets, SECRETS, 0, what="pass the secrets on")
        what = "close what was inherited"  # no such call before Linux 5.9, nor Landlock
        self.add("close_range", self._first_free, _ALL, 0, what=what, unless=errno.ENOSYS)

    def restrict(self, landlock: Landlock, rules: Sequence[LandlockRule], *, tcp: bool) -> None:
        """Apply the rules to this process and whatever comes of it.

        A path is opened part by part, no link followed. Descriptors are known beforehand: the
        ruleset's, then one for each part; a wrong guess is an error, never another rule.
        """
        ruleset, first = landlock.ruleset(tcp=tcp), self._first_free
        self.add("landlock_create_ruleset", ruleset, len(ruleset), 0, what="make the ruleset")
        open_parts: list[str] = []
        for rule in rules:
            what = f"allow {rule.path}"
            parts = ["/", *filter(None, rule.path.split("/"))]
            shared = _common_length(parts[:-1], open_parts)
            if shared < len(open_parts):
                self.add("close_range", first + 1 + shared, _ALL, 0, what=what)
            for depth in range(shared, len(parts)):
                at = first + depth if depth else _AT_FDCWD
                name = os.fsencode(parts[depth]) + b"\0"
                self.add("openat", at, name, _O_PATH | self._no_follow | _CLOEXEC, 0, what=what)
            allowed = landlock.rule(rule, first + len(parts))
            self.add("landlock_add_rule", first, _PATH_BENEATH, allowed, 0, what=what)
            open_parts = parts
        self.add("landlock_restrict_self", first, 0, what="restrict itself")
        self.add("close_range", first, _ALL, 0, what="close the rules")

    def become(self, command: StartCommand) -> None:
        """Try each candidate; what is no program is a shell script, as everywhere on Unix."""
        argv = tuple(map(os.fsencode, command.argv))
        environment = tuple(os.fsencode("=".join(item)) for item in command.environment.items())
        candidates = command.candidates()
        for count, path in enumerate(candidates, 1):
            last = count == len(candidates)
            failed = _REPORT_FAILURE if last else self.at + 2
            name, script = path + b"\0", (_SHELL, path, *argv[1:])
            what = "start the command"
            self.add(
                "execve", name, argv, environment, what=what, failed=failed, unless=errno.ENOEXEC
            )
            self.add("execve", _SHELL + b"\0", script, environment, what=what, failed=failed)
            if not last:
                self.add("write", PIPE, REPORT, NOTE.size, what="report")

    def end(self) -> None:
        """The steps every program ends with."""
        self.add("write", PIPE, REPORT, NOTE.size, what="report", failed=_GIVE_UP)
        self.add("exit_group", GAVE_UP, what="give up", failed=_GIVE_UP)


@functools.lru_cache(maxsize=64)
def _closing(
    machine: Machine,
    landlock: Landlock,
    rules: tuple[LandlockRule, ...],
    tcp: bool,
    report: int,
    secrets: int,
) -> tuple[SyscallStep, ...]:
    """The steps before the command, remembered: runs at one place share them."""
    script = Script(machine, (), secrets)
    script.keep_only(report)
    if landlock.used:
        script.restrict(landlock, rules, tcp=tcp)
    script.add("write", PIPE, APPLIED, NOTE.size, what="report")
    return tuple(script.steps)


@dataclass(frozen=True)
class Starter:
    """One program to start with, and what its report means.

    Attributes:
        program: The file.
        steps: What it does.
        name: The command's.
        candidates: How many places it looks for it at.
        code: The error code if it cannot do it.
    """

    program: bytes
    steps: tuple[SyscallStep, ...]
    name: str
    candidates: int
    code: str

    def judge(self, report: bytes) -> int:
        """The errno that kept the command from starting; 0 if it started.

        Raises:
            SandboxUnavailable: A protection could not be applied; the command never ran.
        """
        notes = list(NOTE.iter_unpack(report[: len(report) // NOTE.size * NOTE.size]))
        if not report.startswith(APPLIED):
            raise self._refusal(notes)
        errors = [-answer for _, answer in notes[1:]]
        if len(errors) < self.candidates:
            return 0
        absent = (errno.ENOENT, errno.ENOTDIR)
        return next((error for error in errors if error not in absent), errors[-1])

    def _refusal(self, notes: Sequence[tuple[int, int]]) -> SandboxUnavailable:
        why = "it did not report"
        if notes:
            address, answer = notes[0]
            why = f"{self.steps[step_at(address)].what}: {os.strerror(-answer)}"
        return SandboxUnavailable(
            f"The sandbox could not be closed from inside, so nothing was run ({why}); "
            "see `silas doctor`.",
            code=self.code,
        )


def make_starter(
    machine: Machine,
    landlock: Landlock,
    rules: tuple[LandlockRule, ...],
    command: StartCommand,
    *,
    tcp: bool,
    report: int,
    secrets: int = -1,
) -> Starter:
    """The first program of one run.

    Args:
        machine: Whose instructions and call numbers.
        landlock: In which version; below the oldest used, only the rest is done.
        rules: What may be touched.
        command: What to become.
        tcp: Whether TCP stays possible.
        report: The descriptor to report at, as inherited.
        secrets: The descriptor that the command inherits as `SECRETS`; above all others used
            here. None is below zero.
    """
    closing = _closing(machine, landlock, rules, tcp, report, secrets)
    code = "E_SANDBOX_LANDLOCK" if landlock.used else "E_SANDBOX_SETUP"
    return complete(machine, closing, command, code, secrets)


def complete(
    machine: Machine,
    closing: tuple[SyscallStep, ...],
    command: StartCommand,
    code: str,
    secrets: int,
) -> Starter:
    """The program that takes some steps and then becomes the command."""
    script = Script(machine, closing, secrets)
    script.become(command)
    script.end()
    return Starter(
        program=assemble(machine, closing, script.steps),
        steps=(*closing, *script.steps),
        name=command.argv[0],
        candidates=len(command.candidates()),
        code=code,
    )
