"""What attacks aim at on the host: secrets, files, services and processes, and how each tells."""

import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from silas.sandbox.conformance.models import AttackStage, Side, Trace, Untestable, own_name

_VICTIM_SECONDS = "60"
_TRIES, _TRY_EVERY = 500, 0.002
_ENVIRONMENT_START = 48  # field of /proc/PID/stat behind the name


class AnswerStage(AttackStage):
    """The kernel's answer to the attack is all there is."""

    def hit(self, trace: Trace) -> str:
        """Anything but a refusal."""
        return "" if trace.error else f"it was granted: {trace.told[:60]}"


class Secret(AttackStage):
    """Text that exists nowhere else came out."""

    def __init__(self, side: Side, at: dict[str, Any]) -> None:
        super().__init__(at)
        self._secret = side.secret

    def hit(self, trace: Trace) -> str:
        """The secret is in what the attack told."""
        return "the secret came out" if self._secret in trace.told else ""


class HostFileStage(AttackStage):
    """A file of the host that must stay as it is: content, mode, time, and its place."""

    def __init__(self, watched: Path, at: dict[str, Any]) -> None:
        super().__init__(at)
        self._watched = watched
        self._before = self._facts()

    def _facts(self) -> tuple[object, ...]:
        try:
            facts = self._watched.lstat()
            content = self._watched.read_bytes() if self._watched.is_file() else b""
        except FileNotFoundError:
            return ()
        return (content, facts.st_mode, facts.st_mtime_ns, facts.st_ino)

    def hit(self, trace: Trace) -> str:
        """Something about it is different."""
        del trace
        return "" if self._facts() == self._before else f"{self._watched.name} was changed"


class NewFileStage(AttackStage):
    """A file inside a fresh directory below an existing one, taken away afterwards."""

    def __init__(self, stage: Callable[[Path], AttackStage], parent: Path) -> None:
        try:
            self._folder = tempfile.TemporaryDirectory(prefix=".silas-conformance-", dir=parent)
        except OSError as error:
            raise Untestable(f"nothing can be made in {parent}: {error.strerror}") from error
        self._stage = stage(Path(self._folder.name))
        super().__init__(self._stage.at)

    def hit(self, trace: Trace) -> str:
        """As the stage inside says."""
        return self._stage.hit(trace)

    def close(self) -> None:
        """Take the directory away."""
        self._stage.close()
        self._folder.cleanup()


class OpenFileStage(AttackStage):
    """The attack's process has something open that it should not have."""

    looks = True

    def __init__(self, pattern: str, at: dict[str, Any] | None = None) -> None:
        super().__init__(at or {})
        self._pattern = re.compile(pattern)

    def look(self, pid: int) -> str:
        """One of its descriptors leads there."""
        folder = f"/proc/{pid}/fd"
        links: list[str] = []
        for name in os.listdir(folder):
            with suppress(FileNotFoundError):
                links.append(os.readlink(f"{folder}/{name}"))
        return next((f"it has {link} open" for link in links if self._pattern.search(link)), "")


class ProcFileStage(AttackStage):
    """A file under `/proc/PID` says something about the attack's process."""

    looks = True

    def __init__(
        self, name: str, pattern: str, words: str, at: dict[str, Any] | None = None
    ) -> None:
        super().__init__(at or {})
        self._name = name
        self._pattern = re.compile(pattern, re.MULTILINE)
        self._words = words

    def look(self, pid: int) -> str:
        """The file holds what it should not hold."""
        content = Path(f"/proc/{pid}/{self._name}").read_bytes().decode("utf-8", "replace")
        return self._words if self._pattern.search(content) else ""


class SameNamespace(AttackStage):
    """The attack's process is in a namespace of the host."""

    looks = True

    def __init__(self, kind: str) -> None:
        super().__init__({})
        self._kind = kind

    def look(self, pid: int) -> str:
        """Its namespace is this process's own."""
        theirs = os.readlink(f"/proc/{pid}/ns/{self._kind}")
        mine = os.readlink(f"/proc/self/ns/{self._kind}")
        return f"its {self._kind} namespace is the host's" if theirs == mine else ""


class NewNamespace(AttackStage):
    """The attack's process is in another user namespace than the process that started it."""

    looks = True

    def look(self, pid: int) -> str:
        """Its user namespace differs from its parent's."""
        parent = re.search(r"^PPid:\t(\d+)$", Path(f"/proc/{pid}/status").read_text(), re.M)
        above = os.readlink(f"/proc/{parent[1] if parent else 0}/ns/user")
        return "it is root of a namespace" if os.readlink(f"/proc/{pid}/ns/user") != above else ""


class SurvivorStage(AttackStage):
    """Nothing of the run may be alive after it."""

    def hit(self, trace: Trace) -> str:
        """Something is."""
        return f"{len(trace.left)} of its processes live on" if trace.left else ""


class ExceededLimitStage(AttackStage):
    """More was taken than is allowed, and nobody ended it."""

    def hit(self, trace: Trace) -> str:
        """The attack came to its end."""
        return "it was not stopped" if trace.told == "stood" else ""


class FilledDirectoryStage(ExceededLimitStage):
    """A directory that the attack makes and fills; the control's is taken away again."""

    def __init__(self, parent: str, files: int) -> None:
        self._path = f"{parent}/{own_name()}"
        super().__init__({"path": self._path, "files": files})

    def close(self) -> None:
        """Free the space."""
        shutil.rmtree(self._path, ignore_errors=True)


class OutputStage(AttackStage):
    """More came out than is allowed."""

    def __init__(self, at: dict[str, Any], most: int) -> None:
        super().__init__(at)
        self._most = most

    def hit(self, trace: Trace) -> str:
        """The host has it."""
        return f"{trace.output} bytes came out" if trace.output > self._most else ""


class Size(AttackStage):
    """A file in the workspace may not grow beyond its limit."""

    def __init__(self, path: Path, most: int, at: dict[str, Any]) -> None:
        super().__init__(at)
        self._path, self._most = path, most

    def hit(self, trace: Trace) -> str:
        """The host sees its size."""
        del trace
        size = self._path.stat().st_size if self._path.exists() else 0
        return f"it has {size} bytes" if size > self._most else ""


class Mode(AttackStage):
    """A file in the workspace may not get special bits."""

    def __init__(self, path: Path, at: dict[str, Any]) -> None:
        super().__init__(at)
        self._path = path

    def hit(self, trace: Trace) -> str:
        """The host sees its mode."""
        del trace
        mode = self._path.stat().st_mode if self._path.exists() else 0
        return f"the file has mode {mode & 0o7777:o}" if mode & 0o6000 else ""


class HostSocketStage(AttackStage):
    """A socket of the host that must receive nothing."""

    def __init__(self, bound: socket.socket, at: dict[str, Any]) -> None:
        super().__init__(at)
        self._socket = bound
        bound.setblocking(False)

    def hit(self, trace: Trace) -> str:
        """A connection or a datagram is there."""
        del trace
        try:
            if self._socket.type == socket.SOCK_DGRAM:
                return f"{len(self._socket.recv(2048))} bytes arrived"
            self._socket.accept()[0].close()
        except BlockingIOError:
            return ""
        return "a connection arrived"

    def option(self, level: int, name: int, value: bytes) -> None:
        """Set an option of the socket."""
        self._socket.setsockopt(level, name, value)

    def close(self) -> None:
        """Close it."""
        self._socket.close()


def stage_listener(family: int, kind: int, address: Any, at: dict[str, Any]) -> HostSocketStage:
    """Bind a socket and listen; the address is added to what the attack is told.

    Raises:
        Untestable: This machine has no such address.
    """
    try:
        bound = socket.socket(family, kind)
    except OSError as error:
        raise Untestable(f"no such sockets on this machine: {error.strerror}") from error
    try:
        bound.bind(address)
        if kind == socket.SOCK_STREAM:
            bound.listen()
    except OSError as error:
        bound.close()
        raise Untestable(f"no such address on this machine: {error.strerror}") from error
    name = bound.getsockname()
    more = {"host": name[0], "port": name[1]} if family != socket.AF_UNIX else {}
    return HostSocketStage(bound, {**more, **at})


class Victim(AttackStage):
    """A process of the host with a secret in its command line, environment, memory and files."""

    def __init__(
        self, side: Side, *, changed: Callable[[int], object] | None = None, told: bool = False
    ) -> None:
        (side.root / "victim").mkdir(exist_ok=True)
        file = side.make_hidden("victim/secret")
        with open(file, "rb") as held:
            self._process = subprocess.Popen(
                [f"sleep-{side.secret}", _VICTIM_SECONDS],
                executable="/bin/sleep",
                env={"SECRET": side.secret},
                stdin=held,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=side.root / "victim",
                start_new_session=True,
            )
        pid = self._process.pid
        super().__init__({"pid": pid, "length": 0, "address": 0})
        self._secret = side.secret if told else ""
        self._changed = changed
        self._before = changed(pid) if changed else None
        if told:
            self._find_memory(pid)

    def _find_memory(self, pid: int) -> None:
        """Where the kernel put the secret: behind `SECRET=` in the environment."""
        for _ in range(_TRIES):  # a program that was just started is laid out a moment later
            with suppress(PermissionError):
                if self._secret.encode() in Path(f"/proc/{pid}/environ").read_bytes():
                    break
            time.sleep(_TRY_EVERY)
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        start = int(fields[_ENVIRONMENT_START - 1]) + len("SECRET=")
        # Whole words only, which one way of reading needs; what follows does not matter.
        self.at |= {"address": start, "length": (len(self._secret) + 7) // 8 * 8}

    def hit(self, trace: Trace) -> str:
        """Its secret came out, it is gone, or something about it is different."""
        if self._secret:
            return "the secret came out" if self._secret in trace.told else ""
        if self._changed:
            same = self._changed(self._process.pid) == self._before
            return "" if same else "the process was changed"
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
            return "the process is gone"
        return ""

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def core_limit(pid: int) -> object:
    """Which limit of a process the attack would change."""
    return resource.prlimit(pid, resource.RLIMIT_CORE)


def priority(pid: int) -> object:
    """The priority of a process."""
    return os.getpriority(os.PRIO_PROCESS, pid)
