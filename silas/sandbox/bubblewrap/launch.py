"""The bubblewrap command line, complete and in one place (decision A20)."""

import fcntl
import functools
import os
import stat
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from silas.errors import SandboxError
from silas.sandbox.bubblewrap.devices import DeviceNodes
from silas.sandbox.landlock import PROGRAMS, WRITE, Landlock, LandlockRule, rules
from silas.sandbox.models import Mount, SandboxFiles, SandboxLimits
from silas.sandbox.mounts import Roots, pin_all
from silas.sandbox.network.netns import PROXY_PORT
from silas.sandbox.searchpath import alias_options, search_path
from silas.sandbox.seccomp import Machine, compile_filter
from silas.sandbox.starter import SECRETS, STARTER, StartCommand, Starter, make_starter

ISOLATION = (
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
    "--clearenv",
)
"""On every command line, whatever is asked. Without `--cap-drop ALL` root could remount `/`."""

_IDENTITY = ("--uid", "1000", "--gid", "1000", "--hostname", "sandbox")
_MEBIBYTE = 1 << 20
SHARED_MEMORY_MB = 64
_HIGH = 64  # a descriptor above all that the first program inside uses itself
_PIPE_BYTES = 1 << 16
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK

ETC: dict[str, bytes] = {
    "/etc/passwd": (
        b"sandbox:x:1000:1000:sandbox:/tmp/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
    ),
    "/etc/group": b"sandbox:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": b"127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files dns\n",
}
_ETC_PATHS = ("/etc/ld.so.cache", "/etc/alternatives")
_ETC_CERTIFICATES = (
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates",
)
_PROXY = f"http://127.0.0.1:{PROXY_PORT}"
_PROXY_VARIABLES = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _PROXY),
    **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), _PROXY),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1"),
}
"""How programs find the proxy. Both spellings are in use; a help only: no other way leads out."""

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")

# World-readable kernel files that tell about the whole machine: other users' key rings and timers.
_HIDDEN = ("/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/sched_debug", "/proc/kcore")


@dataclass(frozen=True)
class Launch:
    """A command line ready to start.

    Attributes:
        command: bubblewrap and its arguments.
        pass_fds: Descriptors bubblewrap inherits and closes before the command starts.
        stdin: Standard input of the command.
        private: File systems in memory that count as memory of the run.
        starter: The first program inside.
        report: Where that one's report is read, once the run is over.
    """

    command: list[str]
    pass_fds: tuple[int, ...]
    stdin: int
    private: tuple[str, ...]
    starter: Starter
    report: int

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


@functools.cache
def _memory_file(content: bytes) -> int:
    """A memory file with fixed content that lives as long as this process; reopen to read it."""
    descriptor = os.memfd_create("silas", os.MFD_CLOEXEC)
    os.write(descriptor, content)
    return descriptor


def _reader(content: bytes, owned: ExitStack) -> int:
    """A fresh descriptor at the beginning of fixed content."""
    descriptor = os.open(f"/proc/self/fd/{_memory_file(content)}", os.O_RDONLY | os.O_CLOEXEC)
    owned.callback(os.close, descriptor)
    return descriptor


def sealed_memory(content: bytes, owned: ExitStack) -> int:
    """A memory file of this run alone, at its beginning, which nobody can write or grow."""
    descriptor = os.memfd_create("silas", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    owned.callback(os.close, descriptor)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor


def _secrets(content: bytes, owned: ExitStack) -> int:
    """A memory file that the command inherits; in memory alone, and gone with the run."""
    descriptor = fcntl.fcntl(sealed_memory(content, owned), fcntl.F_DUPFD_CLOEXEC, _HIGH)
    owned.callback(os.close, descriptor)
    return descriptor


@functools.cache
def filter_for(machine: Machine) -> bytes:
    """The compiled system-call filter, made once."""
    return compile_filter(machine)


def _bind(path: str) -> list[str]:
    return ["--ro-bind", path, path]


@functools.cache
def _programs() -> tuple[str, ...]:
    """Directories of programs and libraries as this host lays them out, links not among them."""
    real = (path for path in _SYSTEM if os.path.isdir(path) and not os.path.islink(path))
    return ("/usr", *real)


@functools.cache
def _system() -> tuple[str, ...]:
    """Programs and libraries, read-only."""
    shown = (*_programs(), *(path for path in _ETC_PATHS if os.path.exists(path)))
    arguments = [argument for path in shown for argument in _bind(path)]
    for path in filter(os.path.islink, _SYSTEM):
        arguments += ["--symlink", os.readlink(path), path]
    return tuple(arguments)


@functools.cache
def hidden_files() -> tuple[str, ...]:
    """Cover kernel files that exist here and can be read by this user."""
    return tuple(
        argument
        for path in _HIDDEN
        if os.access(path, os.R_OK)
        for argument in ("--ro-bind", "/dev/null", path)
    )


def _etc(files: SandboxFiles, owned: ExitStack, pass_fds: list[int]) -> list[str]:
    arguments: list[str] = []
    if files.network:
        arguments += [a for path in _ETC_CERTIFICATES if os.path.isdir(path) for a in _bind(path)]
    for path, text in ETC.items():
        descriptor = _reader(text, owned)
        pass_fds.append(descriptor)
        arguments += ["--perms", "0644", "--file", str(descriptor), path]
    return arguments


def _tmpfs(path: str, mode: str, megabytes: int) -> list[str]:
    return ["--perms", mode, "--size", str(megabytes * _MEBIBYTE), "--tmpfs", path]


def own_places(files: SandboxFiles) -> tuple[list[Path], list[Path]]:
    """HOME and cwd where no mount covers them: those below /tmp or /dev/shm, and the others.

    Raises:
        SandboxError: One is not a directory that could be made.
    """
    areas = [Path("/tmp"), Path("/dev/shm")]  # noqa: S108 - the sandbox's own
    below: list[Path] = []
    apart: list[Path] = []
    for place in (files.home, files.cwd):
        if not place.is_absolute() or ".." in place.parts or place == Path("/"):
            raise SandboxError(
                f"{place} is not an absolute directory below `/`.", code="E_SANDBOX_MOUNT"
            )
        line = (place, *place.parents)
        if any(mount.target in line for mount in files.mounts):
            continue
        (below if any(area in line for area in (*areas, *apart)) else apart).append(place)
    return below, apart


def in_memory(files: SandboxFiles, apart: Sequence[Path]) -> tuple[str, ...]:
    """The private file systems in memory that a run can write to."""
    shown = {mount.target for mount in files.mounts}
    areas = (Path("/tmp"), Path("/dev/shm"), *apart)  # noqa: S108 - the sandbox's own
    return tuple(str(path) for path in areas if path not in shown)


def _places(files: SandboxFiles, limits: SandboxLimits) -> tuple[list[str], tuple[str, ...]]:
    """Writable places in memory: /tmp, /dev/shm, and HOME and cwd where no mount covers them."""
    arguments = _tmpfs("/tmp", "1777", limits.file_mb)  # noqa: S108 - the sandbox's own
    arguments += _tmpfs("/dev/shm", "1777", min(limits.file_mb, SHARED_MEMORY_MB))  # noqa: S108
    below, apart = own_places(files)
    for place in apart:
        arguments += _tmpfs(str(place), "0700", limits.file_mb)
    for place in below:
        arguments += ["--perms", "0700", "--dir", str(place)]
    return arguments, in_memory(files, apart)


def environment(files: SandboxFiles) -> dict[str, str]:
    """All the variables of a run. Raises `SandboxError` for one that cannot be."""
    proxy = _PROXY_VARIABLES if files.network else {}
    told = {"HOME": str(files.home), "LANG": "C.UTF-8", "PWD": str(files.cwd)}
    secrets = {"SILAS_SECRETS_FD": str(SECRETS)} if files.secrets else {}
    variables = {"PATH": search_path(files), **told, **proxy, **files.env, **secrets}
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name + value:
            raise SandboxError(f"{name!r} cannot be an environment variable.", code="E_SANDBOX_ENV")
    return variables


def mount_rule(mount: Mount, descriptor: int) -> LandlockRule:
    """What Landlock allows below a mount, given its opened source."""
    directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    return LandlockRule(str(mount.target), WRITE if mount.writable else PROGRAMS, directory)


class Launcher:
    """Turns a request into a bubblewrap command line; the only place that knows its options."""

    def __init__(
        self, bwrap: Path, machine: Machine, landlock: Landlock, roots: Roots, devices: DeviceNodes
    ) -> None:
        self._bwrap = bwrap
        self._machine: Machine = machine
        self._landlock = landlock
        self._roots = roots
        self._devices = devices

    def prepare(
        self,
        argv: Sequence[str],
        limits: SandboxLimits,
        files: SandboxFiles,
        control: Sequence[str],
        owned: ExitStack,
    ) -> Launch:
        """Build the command line and open what it needs; `owned` closes it again.

        Args:
            argv: The command; found along PATH inside.
            limits: Sizes of the private file systems come from here.
            files: What to show.
            control: The supervisor's own descriptors as options.
            owned: Closes every descriptor when the run is over.

        Raises:
            SandboxError: Something asked for cannot be shown or passed; nothing was started.
        """
        if not argv or any("\0" in part for part in argv):
            raise SandboxError("The command is empty or holds a NUL.", code="E_SANDBOX_COMMAND")
        pinned = pin_all(files.mounts, self._roots)
        for descriptor in pinned:
            owned.callback(os.close, descriptor)
        pass_fds = list(pinned)
        places, private = _places(files, limits)
        options = [*ISOLATION, *_IDENTITY]
        options += [*control, *_system(), *alias_options(), *_etc(files, owned, pass_fds)]
        options += ["--proc", "/proc", *hidden_files(), "--dev", "/dev", *self._devices.options()]
        options += places
        for mount, descriptor in zip(files.mounts, pinned, strict=True):
            kind = "--bind-fd" if mount.writable else "--ro-bind-fd"
            options += [kind, str(descriptor), str(mount.target)]
        report, telling = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        owned.callback(os.close, report)
        owned.callback(os.close, telling)
        secrets = _secrets(files.secrets.get_secret_value(), owned) if files.secrets else -1
        pass_fds += [secrets] if secrets >= 0 else []
        starter = make_starter(
            self._machine,
            self._landlock,
            rules(_programs(), private, map(mount_rule, files.mounts, pinned)),
            StartCommand(argv, environment(files)),
            tcp=bool(files.network) or files.loopback,
            report=telling,
            secrets=secrets,
        )
        program = sealed_memory(starter.program, owned)
        options += ["--perms", "0555", "--file", str(program), STARTER]
        # Root inside is still the owner of host root's files: /proc/sys would be writable.
        options += ["--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"]
        seccomp = _reader(filter_for(self._machine), owned)
        options += ["--seccomp", str(seccomp), "--chdir", str(files.cwd)]
        arguments = sealed_memory(os.fsencode("\0".join(options)) + b"\0", owned)
        pass_fds += [program, telling, seccomp, arguments]
        # The starter knows the command already; here it is for those who read the process list.
        return Launch(
            command=[str(self._bwrap), "--args", str(arguments), "--", STARTER, *argv],
            pass_fds=tuple(pass_fds),
            stdin=sealed_memory(files.stdin, owned),
            private=private,
            starter=starter,
            report=report,
        )


def is_trusted_binary(path: Path) -> bool:
    """Whether only root can replace this program."""
    try:
        facts = path.stat()
    except OSError:
        return False
    writable = stat.S_IMODE(facts.st_mode) & 0o022
    return stat.S_ISREG(facts.st_mode) and facts.st_uid == 0 and not writable
