"""The `docker` command lines of one run, complete and in one place (spec 9.1, decision A20)."""

import csv
import io
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from silas.errors import SandboxError
from silas.sandbox.bubblewrap.launch import (
    ETC,
    SHARED_MEMORY_MB,
    environment,
    in_memory,
    mount_rule,
    own_places,
    sealed_memory,
)
from silas.sandbox.docker.container import GUARD, HOUSE, LIFE, STARTER, WHOLE_IMAGE, guard, starter
from silas.sandbox.docker.engine import Engine
from silas.sandbox.docker.profile import profile
from silas.sandbox.landlock import Landlock, rules
from silas.sandbox.models import Mount, SandboxFiles, SandboxLimits
from silas.sandbox.mounts import Roots, pin_all
from silas.sandbox.seccomp import Machine
from silas.sandbox.starter import StartCommand, Starter
from silas.sandbox.watch import ceilings
from silas.types import new_id

ISOLATION = (
    *("--network", "none"),
    *("--ipc", "private"),
    *("--cgroupns", "private"),
    *("--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges"),
    "--read-only",
)
"""On every command line, whatever is asked."""

_QUIET = (
    *("--pull", "never"),
    *("--log-driver", "none"),
    *("--hostname", "sandbox"),
    *("--workdir", "/"),
    *("--label", "silas.sandbox=run"),
    "--no-healthcheck",
    "--rm",
)
"""Nothing is fetched, kept, or run besides what Silas asks for."""

_MAPS_ROOT = ("--cap-add", "SETFCAP")
"""Without it the kernel lets nobody map root into a namespace. The starter drops it at once."""

_HIDDEN = ("--mount", "type=tmpfs,dst=/sys,tmpfs-size=4096,tmpfs-mode=0555,readonly")
"""The kernel's tree of devices and settings."""

_ULIMITS = {"fsize": 1, "core": 4, "nofile": 7, "cpu": 0}
"""The engine's names of the kernel's limits; address space it does not know."""

_ETC = {**ETC, "/etc/resolv.conf": b"", "/etc/hostname": b"sandbox\n"}
"""The engine would show the host's own name servers."""

_MEBIBYTE = 1 << 20
_ENGINE_TASKS = 32  # of the engine's own runtime, for a moment, inside the container's count
_ENGINE_MB = 64  # likewise: its memory while it starts a program
_PIPE_BYTES = 1 << 16


@dataclass(frozen=True)
class Container:
    """The command lines of one run, and what they point to.

    Attributes:
        name: Of the container.
        create, execute: Arguments of `docker`: make it, and start the command in it.
        pass_fds: Descriptors that `create` reads.
        private: File systems in memory that count as memory of the run.
        starter: The first program of the command.
        report: Where that one's report is read, once the run is over.
        life: The only writing end of the pipe that keeps the container alive.
        shown: What must be mounted where, as descriptors opened before the engine was asked.
    """

    name: str
    create: list[str]
    execute: list[str]
    pass_fds: tuple[int, ...]
    private: tuple[str, ...]
    starter: Starter
    report: int
    life: int
    shown: tuple[tuple[int, Path], ...]

    def judge(self) -> int:
        """The errno that kept the command from starting; 0 if it started. Asked once, at the end.

        Raises:
            SandboxUnavailable: A protection could not be applied; the command never ran.
        """
        try:
            told = os.read(self.report, _PIPE_BYTES)
        except BlockingIOError:
            told = b""
        return self.starter.judge(told)


def visible_mounts(mounts: Sequence[Mount]) -> list[int]:
    """Which mounts no later one covers as a whole: the engine mounts in an order of its own."""
    return [
        at
        for at, mount in enumerate(mounts)
        if not any(
            later.target in (mount.target, *mount.target.parents) for later in mounts[at + 1 :]
        )
    ]


def _bind(source: Path, target: Path | str, *, writable: bool) -> list[str]:
    """Show a path; what else is mounted below it is not shown, as the engine leaves it writable."""
    fields = ["type=bind", f"src={source}", f"dst={target}", "bind-propagation=rprivate"]
    fields += ["bind-nonrecursive=true", *([] if writable else ["readonly"])]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return ["--mount", line.getvalue()]


def _tmpfs(path: Path | str, mode: str, megabytes: int) -> list[str]:
    if ":" in str(path):
        raise SandboxError(f"{path} holds a colon, which Docker cannot mount.", code=_MOUNT)
    owner = f"uid={os.geteuid()},gid={os.getegid()}"
    size = megabytes * _MEBIBYTE
    return ["--tmpfs", f"{path}:rw,nosuid,nodev,exec,size={size},mode={mode},{owner}"]


_MOUNT = "E_SANDBOX_MOUNT"


def _ceilings(limits: SandboxLimits, engine: Engine) -> list[str]:
    """What the kernel holds a whole container to; the supervisor ends a run before that."""
    kernel = ceilings(limits)
    options: list[str] = []
    for name, kind in _ULIMITS.items():
        soft, hard = kernel[kind]
        options += ["--ulimit", f"{name}={soft}:{hard}"]
    memory = f"{limits.memory_mb + _ENGINE_MB}m"
    if engine.limits_memory:
        options += ["--memory", memory]
    if engine.limits_swap:
        options += ["--memory-swap", memory]
    if engine.limits_processes:
        options += ["--pids-limit", str(limits.processes + _ENGINE_TASKS)]
    return options


class DockerCommands:
    """Turns a request into `docker` command lines; the only place that knows their options."""

    def __init__(self, engine: Engine, machine: Machine, landlock: Landlock, roots: Roots) -> None:
        self._engine = engine
        self._machine: Machine = machine
        self._landlock = landlock
        self._roots = roots

    def prepare(
        self,
        argv: Sequence[str],
        limits: SandboxLimits,
        files: SandboxFiles,
        owned: ExitStack,
    ) -> Container:
        """Build the command lines and open what they need; `owned` closes it again.

        Raises:
            SandboxError: Something asked for cannot be shown or passed; nothing was started.
        """
        if not argv or any("\0" in part for part in argv):
            raise SandboxError("The command is empty or holds a NUL.", code="E_SANDBOX_COMMAND")
        pinned = pin_all(files.mounts, self._roots)
        for descriptor in pinned:
            owned.callback(os.close, descriptor)
        below, apart = own_places(files)
        private = in_memory(files, apart)
        first = starter(
            self._machine,
            self._landlock,
            rules((WHOLE_IMAGE,), private, map(mount_rule, files.mounts, pinned)),
            StartCommand(argv, environment(files)),
            limits,
            tcp=files.loopback,
        )
        house = _House(owned, first.program, guard(self._machine, LIFE), files)
        options = [*ISOLATION, *_QUIET, "--user", f"{os.geteuid()}:{os.getegid()}"]
        seccomp = sealed_memory(profile(self._machine), owned)
        options += ["--security-opt", f"seccomp=/proc/self/fd/{seccomp}"]
        options += _ceilings(limits, self._engine)
        options += _HIDDEN
        options += _MAPS_ROOT if os.geteuid() == 0 else ()
        shared = min(limits.file_mb, SHARED_MEMORY_MB)
        options += ["--shm-size", f"{shared}m", *_tmpfs("/tmp", "1777", limits.file_mb)]  # noqa: S108
        for place in (*apart, *below):
            options += _tmpfs(place, "0700", limits.file_mb)
        options += house.options()
        for at in visible_mounts(files.mounts):
            mount = files.mounts[at]
            options += _bind(mount.source, mount.target, writable=mount.writable)
        name = new_id("silas")
        create = ["create", "--name", name, *options, "--entrypoint", GUARD, self._engine.image]
        # The starter knows the command already; here it is for those who read the process list.
        execute = ["exec", "--workdir", str(files.cwd), name, STARTER, *argv]
        return Container(
            name=name,
            create=create,
            execute=execute,
            pass_fds=(seccomp,),
            private=(*private, *map(str, below), "/dev"),
            starter=first,
            report=house.report,
            life=house.life,
            shown=tuple(
                (pinned[at], files.mounts[at].target) for at in visible_mounts(files.mounts)
            ),
        )


class _House:
    """The directory of one run that holds its two programs, its input and its two pipes."""

    def __init__(self, owned: ExitStack, first: bytes, keeper: bytes, files: SandboxFiles) -> None:
        folder = Path(owned.enter_context(tempfile.TemporaryDirectory(prefix="silas-run-")))
        inside = folder / "inside"
        inside.mkdir(mode=0o755)
        etc = [self._file(folder / Path(path).name, text, 0o444) for path, text in _ETC.items()]
        self._file(inside / Path(GUARD).name, keeper, 0o555)
        self._file(inside / Path(STARTER).name, first, 0o555)
        self._file(inside / "stdin", files.stdin, 0o400)
        self.report = self._pipe(inside / "report", os.O_RDONLY, 0o600, owned)
        # Held for reading, too: a pipe nobody reads would not open.
        self.life = self._pipe(inside / "life", os.O_RDWR, 0o400, owned)
        self._mounted = [(inside, HOUSE), *zip(etc, _ETC, strict=True)]

    @staticmethod
    def _pipe(path: Path, access: int, mode: int, owned: ExitStack) -> int:
        os.mkfifo(path, 0o600)
        descriptor = os.open(path, access | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        owned.callback(os.close, descriptor)
        path.chmod(mode)
        return descriptor

    @staticmethod
    def _file(path: Path, content: bytes, mode: int) -> Path:
        path.write_bytes(content)
        path.chmod(mode)
        return path

    def options(self) -> list[str]:
        """Show it inside, read-only."""
        return [
            part
            for source, target in self._mounted
            for part in _bind(source, target, writable=False)
        ]
