"""Device nodes for a sandbox whose user owns the host's own (root, mostly).

bubblewrap binds the host's `/dev/null` and its like. Whoever owns them may change their mode even
without a capability, and a read-only mount would make them useless as devices. So such a user gets
nodes of Silas's own, laid over them. Runs share these nodes: one run can make them unusable for
another at the same moment, never for the host; their mode is set anew before each run.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from silas.sandbox.errors import SandboxUnavailable

_NODES = (
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
)
_MODE = stat.S_IFCHR | 0o666
_PREFIX = "silas-dev-"
_BASES = ("/var/tmp", "/tmp", "/run", "/var/lib")  # noqa: S108 - a fresh private directory below


class DeviceNodes:
    """The nodes to lay over `/dev`, none for a user who does not own the host's."""

    def __init__(self, directory: Path | None, lock: int = -1) -> None:
        self._directory = directory
        self._options: tuple[str, ...] = ()
        if directory is not None:
            weakref.finalize(self, _remove, directory, lock, os.getpid())
            self._options = tuple(
                part
                for name, _, _ in _NODES
                for part in ("--dev-bind", str(directory / name), f"/dev/{name}")
            )

    def options(self) -> tuple[str, ...]:
        """What to put on the command line after `--dev`."""
        if self._directory is not None:
            for node in _NODES:
                _refresh(self._directory, *node)
        return self._options


def _refresh(directory: Path, name: str, major: int, minor: int) -> None:
    """Undo what a run did to a node; make it again if a cleaner of old files removed it."""
    try:
        os.chmod(directory / name, 0o666)  # noqa: S103 - as everywhere on Unix
    except FileNotFoundError:
        directory.mkdir(mode=0o700, exist_ok=True)
        os.mknod(directory / name, _MODE, os.makedev(major, minor))
        os.chmod(directory / name, 0o666)  # noqa: S103 - the mode of mknod passes the umask


def _remove(directory: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # not in a fork that ends before the one that made them
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)


def _hold(directory: Path) -> int:
    """Lock a directory for as long as this process lives, and return the descriptor.

    Raises:
        OSError: It is not there, another process holds it, or removed it meanwhile.
    """
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(lock).st_nlink:
            raise FileNotFoundError  # another start removed it meanwhile
    except OSError:
        os.close(lock)
        raise
    return lock


def _remove_abandoned(base: str) -> None:
    """Remove what processes that were killed left there: nobody holds it any more."""
    for directory in Path(base).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if directory.lstat().st_uid != os.geteuid():
                continue
            lock = _hold(directory)
            shutil.rmtree(directory, ignore_errors=True)
            os.close(lock)


def _usable(directory: Path) -> bool:
    for node in _NODES:
        _refresh(directory, *node)
    with open(directory / "null", "wb", buffering=0) as null:
        return null.write(b"x") == 1


def make_devices() -> DeviceNodes:
    """Nodes of our own if this user owns the host's, else none.

    Raises:
        SandboxUnavailable: No place on this machine takes device nodes.
    """
    if os.stat("/dev/null").st_uid != os.geteuid():
        return DeviceNodes(None)
    for base in _BASES:
        directory, lock = None, -1
        _remove_abandoned(base)
        try:
            directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
            lock = _hold(directory)  # at the moment of its making another start may take it away
            if _usable(directory):
                return DeviceNodes(directory, lock)
        except OSError:  # no such directory, no right to make nodes, or mounted without devices
            pass
        if directory is not None:
            shutil.rmtree(directory, ignore_errors=True)
        if lock >= 0:
            os.close(lock)
    raise SandboxUnavailable(
        "As root the sandbox needs device nodes of its own, and none can be made here; "
        "run Silas as an ordinary user.",
        code="E_SANDBOX_DEVICES",
    )
