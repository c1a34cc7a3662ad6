"""Which host paths may be shown to a sandbox, and how they are pinned (decisions B2, B8).

A source is opened once and handed to bubblewrap as a descriptor. bubblewrap mounts the path of
that descriptor and then compares device and inode, so a directory or link swapped in between ends
the run instead of showing something else. What this does not judge: what lies *inside* a directory
that is shown, such as a socket somebody keeps in it.
"""

import os
import pwd
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from silas.errors import SandboxError
from silas.sandbox.models import Mount

_NEVER = tuple(Path(path) for path in ("/proc", "/sys", "/dev", "/run", "/var/run"))
"""Kernel interfaces and sockets of running services; the desktop session lives in /run/user."""

SYSTEM_TARGETS: Final = frozenset(
    Path(path) for path in ("/", "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
)
"""What every sandbox has of its own; nothing is mounted over it."""

_HOME_SECRETS = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".local/share/keyrings",
    ".mozilla",
    ".password-store",
    ".netrc",
    ".git-credentials",
    ".pypirc",
)


class Roots(NamedTuple):
    """Where sources may not come from, fixed when the sandbox is made.

    Attributes:
        forbidden: Silas's own directories: neither they, nor what is in them, nor what contains
            them.
        allowed: Exceptions inside a forbidden root, such as the scratch directory of workspaces.
        homes: The home directories of the user: never as a whole, nor the secrets in them.
        runtime: Directories of session sockets.
    """

    forbidden: tuple[Path, ...]
    allowed: tuple[Path, ...]
    homes: tuple[Path, ...]
    runtime: tuple[Path, ...]

    @classmethod
    def of(cls, forbidden: Iterable[Path], allowed: Iterable[Path]) -> "Roots":
        """The roots of this user and session; what is given is resolved once, here."""
        session = os.environ.get("XDG_RUNTIME_DIR", "")
        return cls(
            tuple(path.resolve() for path in forbidden),
            tuple(path.resolve() for path in allowed),
            _homes(),
            (Path(session).resolve(),) if session else (),
        )


def _homes() -> tuple[Path, ...]:
    """What the environment and what the user database call home; often the same."""
    told = {os.environ.get("HOME", "")}
    with suppress(KeyError):  # a user without an entry
        told.add(pwd.getpwuid(os.geteuid()).pw_dir)
    return tuple(sorted(Path(home).resolve() for home in told if home))


def is_within(path: Path, root: Path) -> bool:
    """Whether a path is another or lies below it; by text, as it is asked thousands of times."""
    text, base = str(path), str(root)
    return text == base or text.startswith(base if base == "/" else f"{base}/")


def _refuse(path: Path, why: str) -> SandboxError:
    return SandboxError(f"Cannot mount {path} in the sandbox: {why}.", code="E_SANDBOX_MOUNT")


def objection(path: Path, roots: Roots) -> str:
    """Why this path may not be shown, or nothing."""
    if path == Path("/"):
        return "the whole file system is never shown"
    if any(is_within(path, root) for root in (*_NEVER, *roots.runtime)):
        return "it belongs to the kernel or to a running session"
    for home in roots.homes:
        if is_within(home, path):
            return "it contains the whole home directory; name the project directory"
        if any(is_within(path, home / secret) for secret in _HOME_SECRETS):
            return "it holds secrets"
    return silas_own(path, roots.forbidden, roots.allowed)


def silas_own(path: Path, forbidden: Iterable[Path], allowed: Iterable[Path] = ()) -> str:
    """Why a path is Silas's own, as `Roots` has these; nothing where it is not."""
    for root in forbidden:
        if is_within(root, path):
            return f"it contains {root}, which belongs to Silas"
        if is_within(path, root) and not any(is_within(path, free) for free in allowed):
            return f"it lies in {root}, which belongs to Silas"
    return ""


def _plain(path: Path) -> bool:
    return path.is_absolute() and os.path.normpath(path) == str(path)


def pin(path: Path) -> int:
    """Open a path without following any symbolic link on the way, and return the descriptor.

    Raises:
        SandboxError: It is missing, a link stands on the way, or it is neither file nor directory.
    """
    if not _plain(path):
        raise _refuse(path, "it is not an absolute path without `..`")
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _refuse(path, f"{error.strerror}") from error
    # The kernel's own name of what was opened differs from ours as soon as a link was followed.
    kind = os.fstat(descriptor).st_mode
    followed = os.readlink(f"/proc/self/fd/{descriptor}") != str(path)
    if not followed and (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
        return descriptor
    os.close(descriptor)
    why = "it is neither a file nor a directory"
    if followed or stat.S_ISLNK(kind):
        why = "a symbolic link stands on the way; resolve it, and look where it leads"
    raise _refuse(path, why)


def _check_target(mount: Mount, earlier: list[Mount]) -> None:
    target = mount.target
    if not _plain(target) or target in SYSTEM_TARGETS:
        raise _refuse(target, "it is not a place to mount on")
    if any(is_within(target, root) for root in _NEVER[:3]):
        raise _refuse(target, "/proc, /sys and /dev are the sandbox's own")
    cover = next((m for m in reversed(earlier) if is_within(target, m.target)), None)
    if cover is not None and cover.target != target:
        # bubblewrap would make a missing mount point on the host, and follow a link.
        os.close(pin(cover.source / target.relative_to(cover.target)))


def pin_all(mounts: tuple[Mount, ...], roots: Roots) -> list[int]:
    """Check every mount and open its source, in order.

    Raises:
        SandboxError: E_SANDBOX_MOUNT; nothing stays open.
    """
    pinned: list[int] = []
    try:
        for at, mount in enumerate(mounts):
            why = objection(mount.source, roots)
            if why:
                raise _refuse(mount.source, why)
            _check_target(mount, list(mounts[:at]))
            pinned.append(pin(mount.source))
    except BaseException:
        for descriptor in pinned:
            os.close(descriptor)
        raise
    return pinned
