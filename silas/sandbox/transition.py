"""Moving a directory from one known state to another, every step safe to repeat (decision B3).

Each path is reached link-free from the directory's own descriptor, so no write leaves it. Between
the last look at a file and its replacement another program can still write to it; that moment is
the length of two system calls.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from silas.errors import SandboxError
from silas.sandbox.journal import States
from silas.sandbox.tree import (
    Entry,
    look,
    open_dir,
    open_root,
    opened,
    parent_of,
    parts_of,
    read_all,
    write_all,
)


class Source(NamedTuple):
    """Where the content of a target state comes from: an open file, or a link's target."""

    file: Callable[[str], int]
    link: Callable[[str], str]


def conflict(path: str, why: str) -> SandboxError:
    """Refuse because the original is no longer what it was."""
    return SandboxError(
        f"{path!r} {why}; nothing was written. Start again on the current files.",
        code="E_SANDBOX_CONFLICT",
    )


def open_original(root: Path, identity: tuple[int, int]) -> int:
    """Open the directory that a workspace or journal speaks of; another in its place refuses."""
    try:
        descriptor = open_root(root)
    except SandboxError as error:
        raise conflict(str(root), "is gone or was replaced by a link") from error
    facts = os.fstat(descriptor)
    if (facts.st_dev, facts.st_ino) == identity:
        return descriptor
    os.close(descriptor)
    raise conflict(str(root), "is another directory than before")


def now(root: int, path: str, known: States) -> Entry | None:
    """What stands at a path.

    A directory missing on the way is no surprise only if it is itself part of the change.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT, a directory on the way is gone or is a link now.
    """
    *above, name = parts_of(path)
    way: list[str] = []
    descriptor = os.dup(root)
    try:
        for part in above:
            way.append(part)
            try:
                deeper = open_dir(part, descriptor)
            except OSError as error:
                if "/".join(way) in known:
                    return None
                raise conflict(path, "cannot be reached: its directory was replaced") from error
            os.close(descriptor)
            descriptor = deeper
        return look(descriptor, name)
    except OSError as error:
        raise conflict(path, f"cannot be read ({error.strerror})") from error
    finally:
        os.close(descriptor)


def depth(path: str) -> tuple[int, str]:
    """Sort key: shallow first."""
    return (path.count("/"), path)


def check(root: int, expected: States, leaving: States) -> None:
    """Refuse unless every path is exactly as expected, and no directory that goes holds more.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT.
    """
    for path in sorted(expected, key=depth):
        entry = expected[path]
        if now(root, path, expected) != entry:
            raise conflict(path, "was changed meanwhile")
        after = leaving[path]
        if entry is not None and entry.kind == "dir" and (after is None or after.kind != "dir"):
            _check_only_known(root, path, expected)


def _check_only_known(root: int, path: str, known: States) -> None:
    with parent_of(root, path) as (parent, name), opened(open_dir(name, parent)) as directory:
        for inside in sorted(os.listdir(directory)):
            if known.get(f"{path}/{inside}") is None:
                raise conflict(f"{path}/{inside}", "would be lost with its directory")


class Transition:
    """Moves paths from a start state, or anything on the way from it, to a goal state."""

    def __init__(self, root: int, start: States, goal: States, source: Source, mark: str) -> None:
        self._root = root
        self._start = start
        self._goal = goal
        self._source = source
        self._temporary = f".silas-{mark}.tmp"

    def run(self, times: dict[str, int]) -> None:
        """Open up directories, remove deepest first, make shallowest first, set modes, flush.

        Args:
            times: Modification times to set, in nanoseconds, by path.

        Raises:
            SandboxError: E_SANDBOX_CONFLICT, something stands there that is on no way here.
            OSError: The file system refused; the journal knows how to go back.
        """
        downward = sorted(self._goal, key=depth)
        for path in downward:
            self._open_up(path)
        for path in reversed(downward):
            self._clear(path)
        for path in downward:
            self._make(path, times.get(path))
        for path in reversed(downward):
            self._finish(path)

    def _known(self, path: str) -> Entry | None:
        here = now(self._root, path, self._start)
        start, goal = self._start[path], self._goal[path]
        if here is None or here in (start, goal):
            return here
        # The mode of a directory is set last, so half-way it may be anything.
        if here.kind == "dir" and "dir" in (start and start.kind, goal and goal.kind):
            return here
        raise conflict(path, "was changed meanwhile")

    def _open_up(self, path: str) -> None:
        here = self._known(path)
        if here is not None and here.kind == "dir":
            with parent_of(self._root, path) as (parent, name):
                _set_mode(parent, name, here.mode | 0o700)

    def _clear(self, path: str) -> None:
        goal = self._goal[path]
        here = self._known(path)
        self._sweep(path)
        if here is None or (goal is not None and goal.kind == here.kind):
            return
        with parent_of(self._root, path) as (parent, name):
            if here.kind == "dir":
                os.rmdir(name, dir_fd=parent)
            else:
                os.unlink(name, dir_fd=parent)
            os.fsync(parent)

    def _sweep(self, path: str) -> None:
        """Remove what a crash left half-written beside a path, if it left anything."""
        with suppress(OSError), parent_of(self._root, path) as (parent, _):
            os.unlink(self._temporary, dir_fd=parent)

    def _make(self, path: str, modified: int | None) -> None:
        goal = self._goal[path]
        here = self._known(path)
        if goal is None or here == goal:
            return
        with parent_of(self._root, path) as (parent, name):
            if goal.kind == "dir":
                if here is None:
                    os.mkdir(name, 0o700, dir_fd=parent)
                return
            if goal.kind == "link":
                os.symlink(self._source.link(path), self._temporary, dir_fd=parent)
            else:
                self._write(path, goal, parent, modified)
            os.rename(self._temporary, name, src_dir_fd=parent, dst_dir_fd=parent)

    def _write(self, path: str, goal: Entry, parent: int, modified: int | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with (
            opened(self._source.file(path)) as reading,
            opened(os.open(self._temporary, flags, 0o600, dir_fd=parent)) as writing,
        ):
            digest = read_all(reading, lambda chunk: write_all(writing, chunk))
            if digest != goal.digest:
                raise conflict(path, "changed while it was being copied")
            os.fchmod(writing, goal.mode)
            if modified is not None:
                os.utime(writing, ns=(modified, modified))
            os.fsync(writing)

    def _finish(self, path: str) -> None:
        goal = self._goal[path]
        if goal is None:
            return
        with parent_of(self._root, path) as (parent, name):
            if goal.kind == "dir":
                _set_mode(parent, name, goal.mode)
            os.fsync(parent)


def _set_mode(parent: int, name: str, mode: int) -> None:
    with opened(open_dir(name, parent)) as directory:
        os.fchmod(directory, mode)
