"""A private copy of a directory for a task, and the one way its changes come back (B3)."""

import json
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from silas.errors import SandboxError
from silas.sandbox.models import Mount
from silas.workspace.caches import in_new_cache, left_empty
from silas.workspace.content import ChangedContent, contents
from silas.workspace.diff import Reader, unified_diff
from silas.workspace.journal import Change
from silas.workspace.patch import exact_patch
from silas.workspace.protected import protection
from silas.workspace.transition import ContentSource, no_inode, open_original
from silas.workspace.tree import (
    Manifest,
    Scan,
    TreeEntry,
    TreeLimit,
    TreeWalk,
    open_descriptor,
    open_file,
    open_root,
    parent_of,
    read_all,
    remove_tree,
)
from silas.workspace.undo import AppliedChanges, begin, carry_out, recover, undo

__all__ = ["AppliedChanges", "Change", "Changes", "Workspace", "recover", "undo"]

MAX_BYTES = 1 << 30
"""A gibibyte: what can be copied and compared in seconds."""
MAX_ENTRIES = 200_000
"""Files, directories and links together."""

_DIFF_BYTES = 200_000
_PERMISSIONS = 0o777
_FACTS = "workspace.json"
_TREE = "tree"


class Changes(NamedTuple):
    """What a task did to its copy, each part ordered by path.

    Attributes:
        created, changed, deleted: Paths with their entry before and after.
        withheld: Sentences about what will not be written back, such as a new `.git`.
    """

    created: tuple[Change, ...]
    changed: tuple[Change, ...]
    deleted: tuple[Change, ...]
    withheld: tuple[str, ...]

    @property
    def all(self) -> tuple[Change, ...]:
        """Every change, ordered by path."""
        return tuple(sorted((*self.created, *self.changed, *self.deleted)))

    def __bool__(self) -> bool:
        """Whether anything would be written back."""
        return bool(self.created or self.changed or self.deleted)


@dataclass(frozen=True)
class Workspace:
    """A copy of a directory as it was at one moment.

    Attributes:
        original: The real directory.
        identity: Its device and inode, so that another one in its place is noticed.
        directory: Holds the copy and this record; never shown to a sandbox as a whole.
        manifest: What was copied.
        protected: Relative paths shown read-only from the original.
        skipped: Sentences about what was left out.
        ceiling: The size allowed, for the copy after the task, too.
    """

    original: Path
    identity: tuple[int, int]
    directory: Path
    manifest: Manifest
    protected: tuple[str, ...]
    skipped: tuple[str, ...]
    ceiling: TreeLimit

    @classmethod
    def prepare(
        cls,
        original: Path,
        scratch: Path,
        *,
        max_bytes: int = MAX_BYTES,
        max_entries: int = MAX_ENTRIES,
    ) -> "Workspace":
        """Copy a directory below `scratch`; links stay links, special files are left out.

        Raises:
            SandboxError: E_SANDBOX_WORKSPACE (missing, a link, unreadable, or one directory holds
                the other), E_SANDBOX_WORKSPACE_SIZE. Nothing stays behind.
        """
        scratch = scratch.resolve()
        if original == scratch or original in scratch.parents or scratch in original.parents:
            raise SandboxError(
                f"{original} and the scratch directory {scratch} hold each other; "
                "name another directory.",
                code="E_SANDBOX_WORKSPACE",
            )
        ceiling = TreeLimit(max_bytes, max_entries)
        with open_descriptor(open_root(original)) as source:
            facts = os.fstat(source)
            scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            directory = Path(tempfile.mkdtemp(prefix="workspace-", dir=scratch)).resolve()
            try:
                tree = directory / _TREE
                tree.mkdir(mode=0o700)
                with open_descriptor(open_root(tree)) as target:
                    scan = TreeWalk(ceiling).run(source, target)
                    os.fchmod(target, facts.st_mode & _PERMISSIONS | 0o700)
                workspace = cls._of(original, facts, directory, scan, ceiling)
                workspace._save()
            except BaseException:
                remove_tree(directory)
                raise
        return workspace

    @classmethod
    def _of(
        cls, original: Path, facts: os.stat_result, directory: Path, scan: Scan, ceiling: TreeLimit
    ) -> "Workspace":
        return cls(
            original=original,
            identity=(facts.st_dev, facts.st_ino),
            directory=directory,
            manifest=scan.manifest,
            protected=tuple(scan.protected),
            skipped=tuple(scan.skipped),
            ceiling=ceiling,
        )

    def _save(self) -> None:
        record = {
            "original": str(self.original),
            "identity": self.identity,
            "manifest": self.manifest,
            "protected": self.protected,
            "skipped": self.skipped,
            "ceiling": self.ceiling,
        }
        (self.directory / _FACTS).write_bytes(json.dumps(record).encode())

    @classmethod
    def load(cls, directory: Path) -> "Workspace":
        """A workspace prepared earlier, for instance before a restart.

        Raises:
            SandboxError: E_SANDBOX_WORKSPACE, there is none.
        """
        try:
            raw = json.loads((directory / _FACTS).read_bytes())
            return cls(
                original=Path(raw["original"]),
                identity=(raw["identity"][0], raw["identity"][1]),
                directory=directory,
                manifest={path: TreeEntry(*entry) for path, entry in raw["manifest"].items()},
                protected=tuple(raw["protected"]),
                skipped=tuple(raw["skipped"]),
                ceiling=TreeLimit(*raw["ceiling"]),
            )
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise SandboxError(
                f"There is no workspace in {directory}; prepare one.", code="E_SANDBOX_WORKSPACE"
            ) from error

    @property
    def copy(self) -> Path:
        """Where the copy lies on the host."""
        return self.directory / _TREE

    def mounts(self, writable: bool) -> tuple[Mount, ...]:
        """Show the copy at the original's own path, and protected parts of the original in it."""
        work = Mount(source=self.copy, target=self.original, writable=writable)
        return (work, *self.guard_mounts())

    def guard_mounts(self) -> tuple[Mount, ...]:
        """The protected parts of the original, read-only, each over its empty place in the copy."""
        return tuple(
            Mount(source=self.original / path, target=self.original / path)
            for path in self.protected
            if os.path.lexists(self.copy / path)
        )

    def changes(self) -> Changes:
        """Compare the copy with what was copied; a cache directory that is new is no change.

        Raises:
            SandboxError: The copy cannot be read, or has grown beyond the ceiling.
        """
        with open_descriptor(open_root(self.copy)) as tree:
            scan = TreeWalk(self.ceiling, self.protected).run(tree, None)
        new = set(scan.protected).difference(self.protected)
        found = [
            change
            for path in sorted(self.manifest.keys() | scan.manifest.keys())
            if (change := _change(path, self.manifest.get(path), scan.manifest.get(path)))
            and not _lies_in(path, new)
            and not in_new_cache(path, self.manifest)
            and not left_empty(path, self.manifest, scan.manifest)
        ]
        return Changes(
            created=tuple(change for change in found if change.before is None),
            changed=tuple(change for change in found if change.before and change.after),
            deleted=tuple(change for change in found if change.after is None),
            withheld=(*(f"{path}: {_why_not(path)}" for path in sorted(new)), *scan.skipped),
        )

    def diff(self, max_bytes: int = _DIFF_BYTES) -> str:
        """The changes as unified text, safe to print; empty exactly when nothing changed."""
        changes = self.changes().all
        with self._sides() as (before, after):
            return unified_diff(changes, before, after, max_bytes=max_bytes)

    def patch(self) -> str:
        """The changes to the byte, for `git apply`; empty exactly when nothing changed."""
        changes = self.changes().all
        with self._sides() as (before, after):
            return exact_patch(changes, before, after)

    def contents(self, changes: tuple[Change, ...]) -> dict[str, ChangedContent]:
        """What these changes leave, as far as a rule about them has to know it."""
        with self._sides() as (before, after):
            return contents(changes, before, after)

    @contextmanager
    def _sides(self) -> Generator[tuple[Reader, Reader]]:
        """What reads the original and the copy."""
        with (
            open_descriptor(open_root(self.copy)) as tree,
            open_descriptor(open_original(self.original, self.identity)) as original,
        ):
            yield partial(content_at, original), partial(content_at, tree)

    def apply(self, undo_dir: Path, note: str = "") -> AppliedChanges:
        """Write the changes to the original, after saving what they overwrite in `undo_dir`.

        The journal there keeps `note`, for whoever finds it after a crash.

        Raises:
            SandboxError: E_SANDBOX_CONFLICT when a touched path of the original changed since
                `prepare` or is reached through a link now; E_SANDBOX_APPLY when the file system
                refused. The original is as it was in both cases.
        """
        changes, place = self.changes().all, undo_dir.resolve()
        with (
            begin(self.original, self.identity, changes, place, note) as journal,
            open_descriptor(open_root(self.copy)) as tree,
        ):
            source = ContentSource(partial(open_at, tree), partial(link_at, tree), no_inode)
            return carry_out(place, journal, source)

    def discard(self) -> None:
        """Remove the copy."""
        remove_tree(self.directory)


def _lies_in(path: str, places: set[str]) -> bool:
    """Whether a path or a directory above it is one of these."""
    while places and path:
        if path in places:
            return True
        path = path.rpartition("/")[0]
    return False


def _why_not(path: str) -> str:
    why = protection(path.rpartition("/")[2])
    return f"a protected name stays out ({why})" if why else "a git repository's inside stays out"


def _change(path: str, before: TreeEntry | None, after: TreeEntry | None) -> Change | None:
    """What to do to the original's path, or None if nothing."""
    if after is not None:
        # Set-id bits are no business of a task: kept on directories, dropped from written files.
        kept = before.mode & ~_PERMISSIONS if before and before.kind == after.kind else 0
        same = before and (before.kind, before.digest) == (after.kind, after.digest)
        mode = after.mode & _PERMISSIONS | (kept if same else 0)
        after = after._replace(mode=mode)
    return None if before == after else Change(path, before, after)


def open_at(root: int, path: str) -> int:
    """Open a file below a directory, reached without a link."""
    with parent_of(root, path) as (parent, name):
        return open_file(name, parent)


def link_at(root: int, path: str) -> str:
    """The target of a link below a directory, reached without another."""
    with parent_of(root, path) as (parent, name):
        return os.readlink(name, dir_fd=parent)


def content_at(root: int, path: str, entry: TreeEntry) -> bytes | None:
    """Content, only if it is what the entry says."""
    try:
        if entry.kind == "link":
            return os.fsencode(link_at(root, path))
        content = bytearray()
        with open_descriptor(open_at(root, path)) as reading:
            digest = read_all(reading, content.extend)
    except OSError:  # gone or replaced since; the diff says so by not showing it
        return None
    return bytes(content) if digest == entry.digest else None
