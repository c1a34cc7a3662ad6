"""Conformance: nothing inside touches a process of the host, outlives its run or its limits."""

import os
from collections.abc import Callable
from pathlib import Path

from silas.sandbox.conformance.models import (
    AttackFile,
    AttackGroup,
    AttackStage,
    ConformanceCheck,
    Evidence,
    Side,
    Trace,
    in_group,
)
from silas.sandbox.conformance.stages import (
    AnswerStage,
    ExceededLimitStage,
    FilledDirectoryStage,
    OutputStage,
    Secret,
    SurvivorStage,
    Victim,
    core_limit,
    priority,
)
from silas.sandbox.models import SandboxLimits

attack = AttackFile("attack_processes")
attack_files, attack_network = AttackFile("attack_files"), AttackFile("attack_network")

_ROOMY = SandboxLimits(memory_mb=1024, wall_seconds=6.0)
_MOST_OUTPUT = 4096


def _limits(**values: float) -> SandboxLimits:
    return _ROOMY.model_copy(update=values)


def _victim(side: Side) -> AttackStage:
    return Victim(side)


def _secret_victim(side: Side) -> AttackStage:
    return Victim(side, told=True)


def _changed_victim(changed: Callable[[int], object]) -> Callable[[Side], AttackStage]:
    return lambda side: Victim(side, changed=changed)


class _WrittenVictim(Victim):
    """A process of the host whose memory must stay as it is."""

    def hit(self, trace: Trace) -> str:
        """The host reads the environment where the secret was."""
        del trace
        there = Path(f"/proc/{self.at['pid']}/environ").read_bytes()
        return "" if b"#####" not in there else "its memory was changed"


class _OwnVariables(AttackStage):
    """The variables of this process, of which the attack's process may have none."""

    looks = True
    _GIVEN = (b"PATH", b"HOME", b"LANG", b"PWD")

    def look(self, pid: int) -> str:
        """One of them is in its environment."""
        theirs = set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")) - {b""}
        mine = {name + b"=" + value for name, value in os.environb.items()}
        found = sorted(v for v in theirs & mine if v.partition(b"=")[0] not in self._GIVEN)
        return f"it has {found[0].partition(b'=')[0].decode()}" if found else ""


class _Terminal(AttackStage):
    """A terminal of the owner, on which nothing may appear."""

    def __init__(self) -> None:
        self._main, self._side = os.openpty()
        os.set_blocking(self._main, False)
        super().__init__({"path": os.ttyname(self._side)})

    def hit(self, trace: Trace) -> str:
        """Something appeared."""
        del trace
        try:
            return f"{len(os.read(self._main, 100))} bytes appeared"
        except BlockingIOError:
            return ""

    def close(self) -> None:
        """Close it."""
        os.close(self._main)
        os.close(self._side)


_check = in_group(AttackGroup.processes)

_LEAVES: tuple[ConformanceCheck, ...] = (
    _check("daemon", "No process outlives its run.", attack.daemon, lambda side: SurvivorStage()),
    _check("deaf-daemon", "No process outlives its run by ignoring signals.",
           attack.deaf_daemon, lambda side: SurvivorStage()),
    _check("ignored-end", "A run that ignores the request to end is ended.",
           attack.ignore_the_end, lambda side: SurvivorStage(), limits=_limits(wall_seconds=0.6)),
    _check("fork-bomb", "No more processes live than are allowed.",
           attack.many_processes, lambda side: ExceededLimitStage({"count": 40, "seconds": 0.5}),
           limits=_limits(processes=20)),
    _check("thread-bomb", "No more threads live than are allowed.",
           attack.many_threads, lambda side: ExceededLimitStage({"count": 40, "seconds": 0.5}),
           limits=_limits(processes=20)),
    _check("memory", "One process gets no more memory than is allowed.",
           attack.much_memory, lambda side: ExceededLimitStage({"mebibytes": 300}),
           limits=_limits(memory_mb=256)),
    _check("memory-together", "Many processes together get no more memory than is allowed.",
           attack.much_memory_together,
           lambda side: ExceededLimitStage({"count": 6, "mebibytes": 40, "seconds": 0.8}),
           limits=_limits(memory_mb=128)),
    _check("memory-in-files", "Files in memory count as memory.",
           attack_files.fill, lambda side: FilledDirectoryStage("/dev/shm", 80),  # noqa: S108
           limits=_limits(memory_mb=128, file_mb=40)),
    _check("processor", "No process gets more processor time than is allowed.",
           attack.spin, lambda side: ExceededLimitStage({"seconds": 1.5}),
           limits=_limits(cpu_seconds=1, wall_seconds=20.0)),
    _check("output", "No more output comes out than is allowed.",
           attack.flood, lambda side: OutputStage({"stream": 1, "kibibytes": 64}, _MOST_OUTPUT),
           limits=_limits(output_bytes=_MOST_OUTPUT)),
    _check("error-output", "No more error output comes out than is allowed.",
           attack.flood, lambda side: OutputStage({"stream": 2, "kibibytes": 64}, _MOST_OUTPUT),
           limits=_limits(output_bytes=_MOST_OUTPUT)),
    _check("terminal", "Nothing is written to the owner's terminal.",
           attack.write_terminal, lambda side: _Terminal()),
    _check("terminal-input", "Nothing is typed into a terminal.", attack.type_into_terminal,
           lambda side: AnswerStage(), evidence=Evidence.kernel),
)  # fmt: skip

_OTHERS: tuple[ConformanceCheck, ...] = (
    _check("visible", "No process of the host is visible.", attack.command_lines, _secret_victim),
    _check("environments", "No environment of a process of the host is visible.",
           attack.environments, _secret_victim),
    _check("trace", "No process of the host can be traced.", attack.trace, _secret_victim),
    _check("read-memory", "No memory of a process of the host can be read.",
           attack.read_memory, _secret_victim),
    _check("write-memory", "No memory of a process of the host can be written.",
           attack.write_memory, lambda side: _WrittenVictim(side, told=True)),
    _check("take-descriptor", "No open file is taken from a process of the host.",
           attack.take_descriptor, _secret_victim),
    _check("signal", "No signal reaches a process of the host.", attack.kill, _victim),
    _check("signal-group", "No signal reaches a process group of the host.",
           attack.kill_group, _victim),
    _check("signal-descriptor", "No signal reaches a process of the host by descriptor.",
           attack.kill_by_descriptor, _victim),
    _check("limits", "No limit of a process of the host is changed.",
           attack.limit, _changed_victim(core_limit)),
    _check("priority", "No process of the host is slowed down.",
           attack.slow_down, _changed_victim(priority)),
    _check("environment", "No variable of this process is passed on.",
           attack_network.nothing, lambda side: _OwnVariables()),
    _check("trace-own", "Not even a child can be traced: the supervisor is a neighbour.",
           attack.trace_child, lambda side: AnswerStage(), evidence=Evidence.kernel),
    _check("read-own-memory", "The call that reads the memory of others is refused.",
           attack.read_own_memory, lambda side: Secret(side, {"secret": side.secret})),
)  # fmt: skip

PROCESSES: tuple[ConformanceCheck, ...] = (*_LEAVES, *_OTHERS)
