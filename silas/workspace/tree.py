"""Reading directory trees that somebody hostile may have arranged.

Everything here goes through directory descriptors and never follows a symbolic link, so neither a
link planted in a tree nor one swapped in while we look can lead outside it.

Histories, hooks, virtual environments and editors' settings are shown read-only and never written
back: what is in them runs outside the sandbox. docs/security.md lists them.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from silas.errors import SandboxError
from silas.types import new_nonce
from silas.workspace.clone import CHUNK, content_digest, copy_content
from silas.workspace.protected import is_repository, protection

EntryKind = Literal["file", "dir", "link"]

_MAX_DEPTH = 100  # each level holds one descriptor while a tree is read


class TreeEntry(NamedTuple):
    """One file, directory or symbolic link.

    Attributes:
        kind: What it is.
        mode: Permission bits with set-id and sticky bits; 0 for links, which have none.
        digest: Hex SHA-256 of the content or of the link's target; empty for directories.
        size: Bytes of content or target.
    """

    kind: EntryKind
    mode: int
    digest: str
    size: int


Manifest = dict[str, TreeEntry]
"""Relative path with `/` to entry, the top directory itself not included."""


class TreeLimit(NamedTuple):
    """How large a tree may be."""

    max_bytes: int
    max_entries: int


@dataclass
class Scan:
    """What a tree holds.

    Attributes:
        manifest: Its files, directories and links.
        protected: Relative paths of protected names, and of the insides of git repositories.
        skipped: Sentences about sockets, pipes and devices, which are left out.
    """

    manifest: Manifest = field(default_factory=dict[str, TreeEntry])
    protected: list[str] = field(default_factory=list[str])
    skipped: list[str] = field(default_factory=list[str])


def open_root(path: Path) -> int:
    """Open a directory that must be exactly where its path says, without links on the way.

    Raises:
        SandboxError: E_SANDBOX_WORKSPACE.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise SandboxError(
            f"The directory {path} cannot be opened: {error.strerror}.",
            code="E_SANDBOX_WORKSPACE",
        ) from error
    if os.readlink(f"/proc/self/fd/{descriptor}") == str(path):
        return descriptor
    os.close(descriptor)
    raise SandboxError(
        f"A symbolic link stands on the way to {path}; look where it leads.",
        code="E_SANDBOX_WORKSPACE",
    )


@contextmanager
def open_descriptor(descriptor: int) -> Generator[int]:
    """Close a descriptor at the end of a block."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_dir(name: str, parent: int) -> int:
    """Open a directory below another; a link is an error."""
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)


def open_file(name: str, parent: int) -> int:
    """Open a regular file below a directory; a link, a pipe or a device is an error."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=parent)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", name)


def parts_of(path: str) -> list[str]:
    """The names of a relative path; a journal or manifest that smuggles `..` is refused."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise SandboxError(
            f"{path!r} is not a path inside the workspace.", code="E_SANDBOX_WORKSPACE"
        )
    return parts


@contextmanager
def parent_of(root: int, path: str) -> Generator[tuple[int, str]]:
    """The directory that holds a path, reached link-free from the root, and the last name."""
    *above, name = parts_of(path)
    descriptor = os.dup(root)
    try:
        for part in above:
            deeper = open_dir(part, descriptor)
            os.close(descriptor)
            descriptor = deeper
        yield descriptor, name
    finally:
        os.close(descriptor)


def read_all(descriptor: int, take: Callable[[bytes], object]) -> str:
    """Pass a file's content on in chunks and return its hex SHA-256."""
    digest = hashlib.sha256()
    while chunk := os.read(descriptor, CHUNK):
        digest.update(chunk)
        take(chunk)
    return digest.hexdigest()


def write_all(descriptor: int, content: bytes) -> None:
    """Write everything."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def link_entry(target: str) -> TreeEntry:
    """The entry of a symbolic link."""
    raw = os.fsencode(target)
    return TreeEntry("link", 0, hashlib.sha256(raw).hexdigest(), len(raw))


def look(parent: int, name: str) -> TreeEntry | None:
    """What stands at a name now; None if nothing does.

    Raises:
        OSError: It is neither file, directory nor link, or cannot be read.
    """
    try:
        facts = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(facts.st_mode):
        return link_entry(os.readlink(name, dir_fd=parent))
    if stat.S_ISDIR(facts.st_mode):
        return TreeEntry("dir", stat.S_IMODE(facts.st_mode), "", 0)
    with open_descriptor(open_file(name, parent)) as descriptor:
        facts = os.fstat(descriptor)
        digest = content_digest(descriptor)
        return TreeEntry("file", stat.S_IMODE(facts.st_mode), digest, facts.st_size)


class TreeWalk:
    """One pass over a tree: takes stock, and copies when a target directory is given.

    `known` are paths that are protected whatever stands there, such as empty places in a copy.
    """

    def __init__(self, ceiling: TreeLimit, known: Iterable[str] = ()) -> None:
        self.scan = Scan()
        self._ceiling = ceiling
        self._known = frozenset(known)
        self._bytes = 0
        self._entries = 0

    def run(self, source: int, target: int | None) -> Scan:
        """Walk from the top.

        Raises:
            SandboxError: The tree is too large or deep, is a repository's inside, or a part of it
                cannot be read.
        """
        names = sorted(os.listdir(source))
        if is_repository(names):
            raise SandboxError(
                "The workspace itself is the inside of a git repository (HEAD, objects, refs); "
                "name a directory that is worked in.",
                code="E_SANDBOX_WORKSPACE",
            )
        self._directory(source, target, (), names)
        return self.scan

    def _directory(
        self, source: int, target: int | None, at: tuple[str, ...], names: list[str]
    ) -> None:
        if len(at) > _MAX_DEPTH:
            raise _too_large(f"it is nested deeper than {_MAX_DEPTH} directories")
        for name in names:
            path = "/".join((*at, name))
            try:
                self._entry(source, target, at, name)
            except OSError as error:
                raise SandboxError(
                    f"{path!r} in the workspace cannot be read: {error.strerror}.",
                    code="E_SANDBOX_WORKSPACE",
                ) from error

    def _entry(self, source: int, target: int | None, at: tuple[str, ...], name: str) -> None:
        path = "/".join((*at, name))
        facts = os.stat(name, dir_fd=source, follow_symlinks=False)
        self._count(facts.st_size if stat.S_ISREG(facts.st_mode) else 0)
        plain = stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode)
        guarded = path in self._known or protection(name) != ""
        if guarded and plain:
            if target is None and path in self._known and not _is_empty(source, name, facts):
                self.scan.skipped.append(f"{path}: what was put in a protected place is left out")
            self._placeholder(target, name, facts.st_mode, path)
        elif guarded:
            self.scan.skipped.append(
                f"{path}: a protected name that is neither file nor directory is left out"
            )
        elif stat.S_ISDIR(facts.st_mode):
            self._subdirectory(source, target, (*at, name), facts)
        elif stat.S_ISLNK(facts.st_mode):
            goal = os.readlink(name, dir_fd=source)
            self.scan.manifest[path] = link_entry(goal)
            if target is not None:
                os.symlink(goal, name, dir_fd=target)
        elif stat.S_ISREG(facts.st_mode):
            self.scan.manifest[path] = self._file(source, target, name)
        else:
            self.scan.skipped.append(f"{path}: sockets, pipes and devices are left out")

    def _count(self, size: int) -> None:
        self._entries += 1
        self._bytes += size
        if self._entries > self._ceiling.max_entries:
            raise _too_large(f"it has more than {self._ceiling.max_entries} entries")
        if self._bytes > self._ceiling.max_bytes:
            raise _too_large(f"it is larger than {self._ceiling.max_bytes} bytes")

    def _placeholder(self, target: int | None, name: str, mode: int, path: str) -> None:
        """An empty thing to mount the original's on."""
        self.scan.protected.append(path)
        if target is None:
            return
        if stat.S_ISDIR(mode):
            os.mkdir(name, 0o700, dir_fd=target)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(name, flags, 0o600, dir_fd=target))

    def _subdirectory(
        self, source: int, target: int | None, at: tuple[str, ...], facts: os.stat_result
    ) -> None:
        path, mode = "/".join(at), stat.S_IMODE(facts.st_mode)
        with open_descriptor(open_dir(at[-1], source)) as below:
            names = sorted(os.listdir(below))
            if is_repository(names):
                self._placeholder(target, at[-1], facts.st_mode, path)
                return
            self.scan.manifest[path] = TreeEntry("dir", mode, "", 0)
            if target is None:
                self._directory(below, None, at, names)
                return
            os.mkdir(at[-1], 0o700, dir_fd=target)
            with open_descriptor(open_dir(at[-1], target)) as copy:
                self._directory(below, copy, at, names)
                os.fchmod(copy, mode & 0o777)

    def _file(self, source: int, target: int | None, name: str) -> TreeEntry:
        with open_descriptor(open_file(name, source)) as reading:
            facts = os.fstat(reading)
            if target is None:
                digest = content_digest(reading)
            else:
                digest = _copy(reading, target, name, facts)
            return TreeEntry("file", stat.S_IMODE(facts.st_mode), digest, facts.st_size)


def _is_empty(parent: int, name: str, facts: os.stat_result) -> bool:
    """Whether a protected place in a copy holds nothing, as it was made: checks look into it."""
    if not stat.S_ISDIR(facts.st_mode):
        return facts.st_size == 0
    with open_descriptor(open_dir(name, parent)) as directory:
        return not os.listdir(directory)


def _copy(reading: int, target: int, name: str, facts: os.stat_result) -> str:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open_descriptor(os.open(name, flags, 0o600, dir_fd=target)) as writing:
        digest = copy_content(reading, writing)
        os.fchmod(writing, stat.S_IMODE(facts.st_mode) & 0o777)
        os.utime(writing, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # build tools compare times
    return digest


def _too_large(why: str) -> SandboxError:
    return SandboxError(
        f"The workspace is too large: {why}; name a smaller directory.",
        code="E_SANDBOX_WORKSPACE_SIZE",
    )


def remove_tree(path: Path) -> None:
    """Remove a tree, including directories whose owner took away their own access.

    Directories are moved to the top before they are emptied, so that none lies too deep for a path,
    for recursion or for the descriptors of this process. What cannot be removed stays.
    """
    mark = new_nonce()[:16]  # nothing in the tree has such a name
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError), open_descriptor(os.open(path, flags)) as top:
        waiting = _empty(top, top, f"{mark}.")
        number = 0
        while waiting:
            name, number = waiting.pop(), number + 1
            with suppress(OSError):
                with open_descriptor(open_dir(name, top)) as directory:
                    waiting += _empty(directory, top, f"{mark}.{number}.")
                os.rmdir(name, dir_fd=top)
        os.rmdir(path)


def _empty(directory: int, top: int, mark: str) -> list[str]:
    """Remove what a directory holds; its directories are at the top now, under these names."""
    moved: list[str] = []
    for number, name in enumerate(os.listdir(directory)):
        with suppress(OSError):
            if not stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=directory)
                continue
            os.chmod(name, 0o700, dir_fd=directory)
            os.rename(name, f"{mark}{number}", src_dir_fd=directory, dst_dir_fd=top)
            moved.append(f"{mark}{number}")
    return moved
