"""Makes attempts: many attacks at once, inside the sandbox or, as control, outside of it.

The host finds each attack's process by a mark in its name, looks at it while it holds still, and
looks again for what is alive when the run is over.
"""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from silas.sandbox.conformance.models import PROTECTED, AttackStage, ConformanceCheck, Side, Trace
from silas.sandbox.models import Mount, SandboxFiles, SandboxLimits
from silas.sandbox.port import Sandbox

_ATTACKS = ("calls", "driver", "files", "kernel", "network", "processes")
_KIT = {
    name: Path(__file__).with_name(name).read_bytes()
    for name in ("system_calls.py", *(f"attack_{name}.py" for name in _ATTACKS))
}
"""What runs inside, read once: who gives up rights later may not be able to read it any more."""
_HOLD_SECONDS = 8.0
_LOOK_EVERY = 0.02
_DYING_SECONDS = 2.0  # for the kernel to take a killed process apart
_GRACE_SECONDS = 0.3  # a control that was asked to end may do so; one that was killed needs no time
_START = (
    "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, {!r});"
    " from silas.sandbox.conformance.attack_driver import main; main()"
)

SHARED = SandboxLimits(memory_mb=4096, processes=400, wall_seconds=20.0)
"""For runs that many attacks share; what an attack may take is tested in runs of its own."""


class AttemptEnd(NamedTuple):
    """How a run ended, and how many bytes of output came out."""

    by: str
    output: int


class Aim(NamedTuple):
    """One attack of a run, with what it aims at and the name of its process."""

    check: ConformanceCheck
    stage: AttackStage
    mark: str


class Interpreter(NamedTuple):
    """A Python, and the directory it needs besides the system's own."""

    program: Path
    prefix: Path

    @classmethod
    def own(cls) -> "Interpreter":
        """The one that runs Silas."""
        return cls(Path(sys.executable).resolve(), Path(sys.base_prefix).resolve())


class Kit:
    """The attacks as files that any Python can load, and the Python to load them with."""

    def __init__(self, folder: Path, python: Interpreter) -> None:
        package = folder / "silas" / "sandbox" / "conformance"
        package.mkdir(parents=True)
        for inside in (package, package.parent, package.parent.parent):
            (inside / "__init__.py").touch()
        for name, source in _KIT.items():
            (package / name).write_bytes(source)
        self._folder = folder
        self._prefix = python.prefix
        self.command = [str(python.program), "-I", "-S", "-c", _START.format(str(folder))]

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What the sandbox must show to run it."""
        prefix = self._prefix
        own = () if prefix.is_relative_to("/usr") else (Mount(source=prefix, target=prefix),)
        return (*own, Mount(source=self._folder, target=self._folder))


def find_processes(marks: Iterable[str]) -> dict[str, list[int]]:
    """The processes of this machine by their name, where it is one of the marks."""
    found: dict[str, list[int]] = {mark: [] for mark in marks}
    for process in os.listdir("/proc"):
        if process.isdigit():
            with suppress(OSError):  # it ended while we looked
                name = Path("/proc", process, "comm").read_text(encoding="utf-8").rstrip("\n")
                if name in found and not _is_over(process):
                    found[name].append(int(process))
    return found


def _is_over(process: str) -> bool:
    stat = Path("/proc", process, "stat").read_text(encoding="utf-8").rpartition(")")[2]
    return stat.split()[0] in "ZX"


def kill(marks: list[str]) -> None:
    """End every process with one of these marks; a number given to somebody else is let alone."""
    for mark, pids in find_processes(marks).items():
        for pid in pids:
            with suppress(ProcessLookupError):
                descriptor = os.pidfd_open(pid)
                try:
                    if pid in find_processes([mark])[mark]:
                        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                        select.select([descriptor], [], [], _DYING_SECONDS)
                finally:
                    os.close(descriptor)


async def inside(
    sandbox: Sandbox, kit: Kit, side: Side, plan: bytes, limits: SandboxLimits
) -> AttemptEnd:
    """Run a plan in the sandbox."""
    mounts = [
        *kit.mounts,
        Mount(source=side.work, target=side.work, writable=True),
        Mount(source=side.reports, target=side.reports, writable=True),
        *(Mount(source=side.work / part, target=side.work / part) for part in PROTECTED),
    ]
    # As open as work gets: a connection to the host must fail because there is no way to it.
    files = SandboxFiles(cwd=side.work, mounts=tuple(mounts), stdin=plan, loopback=True)
    result = await sandbox.run(kit.command, limits, files)
    return AttemptEnd(result.ended_by, len(result.stdout) + len(result.stderr))


def outside(kit: Kit, side: Side, plan: bytes, seconds: float, marks: list[str]) -> AttemptEnd:
    """Run a plan on the host, as whoever runs this; ask it to end when its time is up."""
    # Files instead of pipes: what an attack leaves behind would hold a pipe open.
    given, said = (open(side.root / name, "w+b") for name in ("plan", "output"))  # noqa: SIM115
    with given, said:
        given.write(plan)
        given.seek(0)
        process = subprocess.Popen(
            kit.command,
            stdin=given,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=side.work,
            close_fds=False,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            _ask_to_end(process, marks)
            return AttemptEnd("timeout", os.fstat(said.fileno()).st_size)
        return AttemptEnd("exit", os.fstat(said.fileno()).st_size)


def _ask_to_end(process: "subprocess.Popen[bytes]", marks: list[str]) -> None:
    """What a supervisor without a sandbox can do."""
    process.terminate()
    for pids in find_processes(marks).values():
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
    process.wait()
    time.sleep(_GRACE_SECONDS)


def plan_of(aims: list[Aim], side: Side, *, control: bool) -> bytes:
    """What the driver is told."""
    attacks: list[dict[str, Any]] = [
        {
            "name": aim.mark,
            "mark": aim.mark,
            "module": f"silas.sandbox.conformance.{aim.check.attack.module}",
            "function": aim.check.attack.function,
            "at": aim.stage.at,
            "namespaces": aim.check.namespaces if control else 0,
        }
        for aim in aims
    ]
    plan = {"reports": str(side.reports), "hold_seconds": _HOLD_SECONDS, "attacks": attacks}
    return json.dumps(plan).encode()


async def attempt(aims: list[Aim], side: Side, running: "asyncio.Task[AttemptEnd]") -> list[Trace]:
    """Wait until every attack of a run has reported, look at each, let the run end, look again."""
    marks = [aim.mark for aim in aims]
    while not await _over(running) and not all((side.reports / m).exists() for m in marks):
        pass
    pids = find_processes(marks)
    looked = {aim.mark: _look(aim, side, pids[aim.mark]) for aim in aims}
    (side.reports / "go").touch()
    ended = await running
    left = find_processes(marks)
    return [
        Trace(
            **_report(side.reports / mark, ended),
            looked=looked[mark],
            left=tuple(left[mark]),
            ended_by=ended.by,
            output=ended.output,
        )
        for mark in marks
    ]


async def _over(running: "asyncio.Task[AttemptEnd]") -> bool:
    """Whether a run is over, after giving it a little time."""
    return bool((await asyncio.wait([running], timeout=_LOOK_EVERY))[0])


def _look(aim: Aim, side: Side, pids: list[int]) -> str:
    """What the host sees of a process that holds still; not seeing it is seeing too little."""
    if not aim.stage.looks or _was_killed(side.reports / aim.mark):
        return ""
    if not pids:
        return "the host could not find its process"
    try:
        return next((words for pid in pids if (words := aim.stage.look(pid))), "")
    except OSError as error:
        return f"the host could not look at its process: {error.strerror}"


def _was_killed(report: Path) -> bool:
    return report.exists() and _read(report)["error"].startswith("signal")


def _read(report: Path) -> Mapping[str, str]:
    told: dict[str, str] = json.loads(report.read_text(encoding="utf-8"))
    return told


def _report(report: Path, ended: AttemptEnd) -> dict[str, str]:
    if report.exists():
        told = _read(report)
        return {"told": told["told"], "error": told["error"]}
    return {"error": ended.by if ended.by != "exit" else "no report"}
