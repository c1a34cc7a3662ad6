"""A throw-away copy of a tree that somebody hostile may have arranged, for one run to write to.

Where the file system can share blocks nothing is copied until somebody writes. Links stay links,
and what is neither file, directory nor link is left out. An overlay would spare the copy; it
needs a newer bubblewrap than distributions have.
"""

import fcntl
import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from silas.errors import SandboxError
from silas.workspace.tree import (
    open_descriptor,
    open_dir,
    open_file,
    open_root,
    remove_tree,
    write_all,
)

_FICLONE = 0x40049409
_CHUNK = 1 << 20
_MAX_DEPTH = 100  # each level holds two descriptors


@contextmanager
def throwaway(tree: Path, scratch: Path, without: frozenset[str]) -> Generator[Path]:
    """A copy of a directory below `scratch`, removed at the end, whatever was written to it.

    Args:
        tree: What is copied.
        scratch: Where; on the same file system it may cost nothing.
        without: Names that are left out at any depth.

    Raises:
        SandboxError: `E_SANDBOX_WORKSPACE`: a part of it cannot be read, or the disk refused.
    """
    directory = Path(tempfile.mkdtemp(prefix="layer-", dir=scratch)).resolve()
    try:
        copy = directory / "tree"
        copy.mkdir(mode=0o700)
        try:
            with (
                open_descriptor(open_root(tree)) as source,
                open_descriptor(open_root(copy)) as target,
            ):
                _copy_all(source, target, without, 0)
                os.fchmod(target, os.fstat(source).st_mode & 0o777 | 0o700)
        except OSError as error:
            raise SandboxError(
                f"The workspace cannot be copied for a check: {error.strerror}.",
                code="E_SANDBOX_WORKSPACE",
            ) from error
        yield copy
    finally:
        remove_tree(directory)


def _copy_all(source: int, target: int, without: frozenset[str], depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise SandboxError(
            f"The workspace is nested deeper than {_MAX_DEPTH} directories.",
            code="E_SANDBOX_WORKSPACE_SIZE",
        )
    for name in os.listdir(source):
        if name in without:
            continue
        kind = os.stat(name, dir_fd=source, follow_symlinks=False).st_mode
        if stat.S_ISLNK(kind):
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
        elif stat.S_ISDIR(kind):
            _copy_directory(source, target, name, without, depth)
        elif stat.S_ISREG(kind):
            _copy_file(source, target, name)


def _copy_directory(
    source: int, target: int, name: str, without: frozenset[str], depth: int
) -> None:
    with open_descriptor(open_dir(name, source)) as below:
        os.mkdir(name, 0o700, dir_fd=target)
        with open_descriptor(open_dir(name, target)) as copy:
            _copy_all(below, copy, without, depth + 1)
            os.fchmod(copy, os.fstat(below).st_mode & 0o777 | 0o700)


def _copy_file(source: int, target: int, name: str) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with (
        open_descriptor(open_file(name, source)) as reading,
        open_descriptor(os.open(name, flags, 0o600, dir_fd=target)) as writing,
    ):
        try:
            fcntl.ioctl(writing, _FICLONE, reading)
        except OSError:  # another file system, or one that shares nothing
            while chunk := os.read(reading, _CHUNK):
                write_all(writing, chunk)
        facts = os.fstat(reading)
        os.fchmod(writing, stat.S_IMODE(facts.st_mode) & 0o777)
        os.utime(writing, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # build tools compare times
