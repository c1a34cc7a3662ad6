"""Moving a directory from one known state to another, every step safe to repeat (decision B3).

Each path is reached link-free from the directory's own descriptor, so no write leaves it. Between
the last look at a file and its replacement another program can still write to it; that moment is
the length of two system calls.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from silas.errors import SandboxError
from silas.workspace.clone import copy_content
from silas.workspace.journal import States
from silas.workspace.metadata import (
    Metadata,
    read_metadata,
    restore_link_metadata,
    restore_metadata,
    restore_times,
)
from silas.workspace.tree import (
    TreeEntry,
    look,
    open_descriptor,
    open_dir,
    open_root,
    parent_of,
    parts_of,
)


class ContentSource(NamedTuple):
    """Where the content of a target state comes from.

    Attributes:
        file: Opens a file's content by path.
        link: A link's target by path.
        inode: Makes the very file that stood at a path stand under a temporary name in an open
            directory, for files with several names; False where a new file has to do.
    """

    file: Callable[[str], int]
    link: Callable[[str], str]
    inode: Callable[[str, TreeEntry, int, str], bool]


def no_inode(path: str, goal: TreeEntry, parent: int, temporary: str) -> bool:
    """For content that never was in this directory."""
    del path, goal, parent, temporary
    return False


def conflict(path: str, why: str) -> SandboxError:
    """Refuse because the original is no longer what it was."""
    return SandboxError(
        f"{path!r} {why}; nothing was written. Start again on the current files.",
        code="E_SANDBOX_CONFLICT",
    )


def open_by_path(root: Path) -> int:
    """Open whichever directory stands at a path now; a link in its place refuses."""
    try:
        return open_root(root)
    except SandboxError as error:
        raise conflict(str(root), "is gone or was replaced by a link") from error


def open_original(root: Path, identity: tuple[int, int]) -> int:
    """Open the directory that a workspace or journal speaks of; another in its place refuses."""
    descriptor = open_by_path(root)
    facts = os.fstat(descriptor)
    if (facts.st_dev, facts.st_ino) == identity:
        return descriptor
    os.close(descriptor)
    raise conflict(str(root), "is another directory than before")


def find_entry(root: int, path: str, known: States) -> TreeEntry | None:
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
    for path, why in surprises(root, expected, leaving):
        raise conflict(path, why)


def surprises(root: int, expected: States, leaving: States) -> Iterator[tuple[str, str]]:
    """Every path that is not as expected or would be lost, with words."""
    for path in sorted(expected, key=depth):
        entry, after = expected[path], leaving[path]
        if find_entry(root, path, expected) != entry:
            yield path, "was changed meanwhile"
        elif entry is not None and entry.kind == "dir" and (after is None or after.kind != "dir"):
            for inside in unknown_inside(root, path, expected):
                yield inside, "would be lost with its directory"


def unknown_inside(root: int, path: str, known: States, mark: str = "") -> list[str]:
    """What a directory holds that is in none of the states, leftovers of this mark not counted."""
    leftover = temporary_name(mark)
    with (
        parent_of(root, path) as (parent, name),
        open_descriptor(open_dir(name, parent)) as directory,
    ):
        names = sorted(name for name in os.listdir(directory) if name != leftover)
    inside = [f"{path}/{name}" for name in names]
    return [below for below in inside if known.get(below) is None]


def temporary_name(mark: str) -> str:
    """What a file is called in its directory before it takes its place."""
    return f".silas-{mark}.tmp"


class Transition:
    """Moves paths from a start state, or anything on the way from it, to a goal state."""

    def __init__(
        self, root: int, start: States, goal: States, source: ContentSource, mark: str
    ) -> None:
        self._root = root
        self._start = start
        self._goal = goal
        self._source = source
        self._temporary = temporary_name(mark)

    def run(self, kept: Mapping[str, Metadata]) -> None:
        """Open up directories, remove deepest first, make shallowest first, set modes, flush, and
        set the times of directories when nothing changes in them any more.

        Args:
            kept: What paths shall have besides content and permissions, directories around the
                change included.

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
            self._make(path, kept.get(path))
        for path in reversed(downward):
            self._finish(path)
        for path in sorted(kept, key=depth, reverse=True):
            self._settle(path, kept[path])

    def _require_known(self, path: str) -> TreeEntry | None:
        here = find_entry(self._root, path, self._start)
        start, goal = self._start[path], self._goal[path]
        if here is None or here in (start, goal):
            return here
        # The mode of a directory is set last, so half-way it may be anything.
        if here.kind == "dir" and "dir" in (start and start.kind, goal and goal.kind):
            return here
        raise conflict(path, "was changed meanwhile")

    def _open_up(self, path: str) -> None:
        here = self._require_known(path)
        if here is not None and here.kind == "dir":
            with parent_of(self._root, path) as (parent, name):
                _set_mode(parent, name, here.mode | 0o700)

    def _clear(self, path: str) -> None:
        goal = self._goal[path]
        here = self._require_known(path)
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

    def _make(self, path: str, kept: Metadata | None) -> None:
        goal = self._goal[path]
        here = self._require_known(path)
        if goal is None or here == goal:
            return
        with parent_of(self._root, path) as (parent, name):
            if goal.kind == "dir":
                if here is None:
                    os.mkdir(name, 0o700, dir_fd=parent)
                return
            if goal.kind == "link":
                os.symlink(self._source.link(path), self._temporary, dir_fd=parent)
                if kept is not None:
                    restore_link_metadata(parent, self._temporary, kept)
            elif not self._source.inode(path, goal, parent, self._temporary):
                self._write(path, goal, parent, kept)
            os.rename(self._temporary, name, src_dir_fd=parent, dst_dir_fd=parent)

    def _write(self, path: str, goal: TreeEntry, parent: int, kept: Metadata | None) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with (
            open_descriptor(self._source.file(path)) as reading,
            open_descriptor(os.open(self._temporary, flags, 0o600, dir_fd=parent)) as writing,
        ):
            digest = copy_content(reading, writing)
            if digest != goal.digest:
                raise conflict(path, "changed while it was being copied")
            if kept is None:
                os.fchmod(writing, goal.mode)
            else:
                restore_metadata(writing, kept, goal.mode)
            os.fsync(writing)

    def _finish(self, path: str) -> None:
        goal = self._goal[path]
        if goal is None:
            return
        with parent_of(self._root, path) as (parent, name):
            if goal.kind == "dir":
                _set_mode(parent, name, goal.mode)
            os.fsync(parent)

    def _settle(self, path: str, kept: Metadata) -> None:
        """Give a directory its times back, and one that was made again its owner, too."""
        goal = self._goal.get(path)
        if path in self._goal and (goal is None or goal.kind != "dir"):
            return
        with _directory(self._root, path) as directory:
            if goal is not None:
                restore_metadata(directory, kept, goal.mode)
            else:
                restore_times(directory, kept)
            os.fsync(directory)


@contextmanager
def _directory(root: int, path: str) -> Generator[int]:
    """A directory by its path, reached link-free; the empty path is the root itself."""
    if not path:
        yield root
        return
    with (
        parent_of(root, path) as (parent, name),
        open_descriptor(open_dir(name, parent)) as directory,
    ):
        yield directory


def directory_times(root: int, paths: Iterable[str]) -> dict[str, int]:
    """When each of these directories was modified last; those that are gone are left out."""
    found: dict[str, int] = {}
    for path in paths:
        with suppress(OSError), _directory(root, path) as directory:
            found[path] = os.fstat(directory).st_mtime_ns
    return found


def directory_metadata(root: int, path: str) -> Metadata:
    """What a directory has besides its permissions."""
    with _directory(root, path) as directory:
        return read_metadata(directory)


def _set_mode(parent: int, name: str, mode: int) -> None:
    with open_descriptor(open_dir(name, parent)) as directory:
        os.fchmod(directory, mode)
