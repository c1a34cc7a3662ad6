"""Verified changes of a directory that wait for a word: kept beside it, applied as they were kept.

What a yes binds is the digest of `canonical`: every path with its kind, permissions and content
before and after. What is applied is compared with it first (decision B22).
"""

import json
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from silas.canonical import canonical_bytes, sha256_hex
from silas.errors import SandboxError
from silas.workspace.clone import copy_content
from silas.workspace.copy import Workspace, content_at, link_at, open_at
from silas.workspace.diff import Reader, unified_diff
from silas.workspace.journal import Change, change_of
from silas.workspace.transition import ContentSource, no_inode, open_original
from silas.workspace.tree import TreeEntry, look, open_descriptor, open_root, parent_of
from silas.workspace.undo import begin, carry_out

_FACTS = "changes.json"
_TREE = "tree"


@dataclass(frozen=True)
class KeptChanges:
    """Changes, and the content of what they leave.

    Attributes:
        directory: Holds both.
        original: The directory that they are of.
        identity: Its device and inode.
        changes: All paths, ordered.
    """

    directory: Path
    original: Path
    identity: tuple[int, int]
    changes: tuple[Change, ...]

    @classmethod
    def keep(cls, workspace: Workspace, changes: tuple[Change, ...], place: Path) -> "KeptChanges":
        """Copy what changed out of a private copy into a fresh directory, flushed to the disk.

        Raises:
            SandboxError: The copy is not what was compared any more.
            OSError: The disk refused.
        """
        kept = cls(place, workspace.original, workspace.identity, changes)
        (place / _TREE).mkdir(parents=True, mode=0o700)
        with open_descriptor(open_root(workspace.copy)) as source:
            for change in sorted(changes, key=lambda one: one.path.count("/")):
                if change.after is not None:
                    _copy(source, change.path, change.after, place / _TREE / change.path)
        (place / _FACTS).write_bytes(kept.canonical)
        with open_descriptor(os.open(place / _FACTS, os.O_RDONLY | os.O_CLOEXEC)) as written:
            os.fsync(written)
        kept.check()
        return kept

    @classmethod
    def load(cls, place: Path) -> "KeptChanges":
        """What was kept there.

        Raises:
            SandboxError: E_SANDBOX_KEPT, nothing is, or it was changed.
        """
        try:
            raw = json.loads((place / _FACTS).read_bytes())
            identity = raw["identity"][0], raw["identity"][1]
            changes = tuple(change_of(one) for one in raw["changes"])
            return cls(place, Path(raw["directory"]), identity, changes)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise SandboxError(
                f"The changes in {place} cannot be read; run the plan again.",
                code="E_SANDBOX_KEPT",
            ) from error

    @property
    def canonical(self) -> bytes:
        """What a yes binds, to the byte."""
        return canonical_bytes(
            {
                "directory": str(self.original),
                "identity": list(self.identity),
                "changes": [list(change) for change in self.changes],
            }
        )

    @property
    def digest(self) -> str:
        """Hex SHA-256 of `canonical`."""
        return sha256_hex(self.canonical)

    def check(self) -> None:
        """Refuse where what is kept is not what was compared.

        Raises:
            SandboxError: E_SANDBOX_UNVERIFIED.
        """
        with open_descriptor(open_root(self.directory / _TREE)) as tree:
            for change in self.changes:
                if change.after is not None and not _same(tree, change.path, change.after):
                    raise SandboxError(
                        f"What was kept of {change.path!r} is not what was verified; nothing was "
                        "applied. Run the plan again.",
                        code="E_SANDBOX_UNVERIFIED",
                    )

    def apply(self, digest: str, undo_dir: Path, note: str) -> None:
        """Write the changes to the original, if they are those of a digest.

        Raises:
            SandboxError: What is kept has another digest, the original changed since the work
                began, or the file system refused. The original is as it was.
        """
        if self.digest != digest:
            raise SandboxError(
                "What is kept is not what was approved; nothing was applied.",
                code="E_SANDBOX_UNVERIFIED",
            )
        self.check()
        undo_dir = undo_dir.resolve()
        with (
            begin(self.original, self.identity, self.changes, undo_dir, note) as journal,
            open_descriptor(open_root(self.directory / _TREE)) as tree,
        ):
            source = ContentSource(partial(open_at, tree), partial(link_at, tree), no_inode)
            carry_out(undo_dir, journal, source)

    def diff(self, max_bytes: int) -> str:
        """The changes as unified text, safe to print, against the original as it is now.

        Raises:
            SandboxError: The original is not there any more.
        """
        with (
            open_descriptor(open_root(self.directory / _TREE)) as tree,
            open_descriptor(open_original(self.original, self.identity)) as original,
        ):
            sides: tuple[Reader, Reader] = partial(content_at, original), partial(content_at, tree)
            return unified_diff(self.changes, *sides, max_bytes=max_bytes)


def _copy(source: int, path: str, entry: TreeEntry, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if entry.kind == "dir":
        target.mkdir(exist_ok=True, mode=0o700)
    elif entry.kind == "link":
        target.symlink_to(link_at(source, path))
    else:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with (
            open_descriptor(open_at(source, path)) as reading,
            open_descriptor(os.open(target, flags, 0o600)) as new,
        ):
            copy_content(reading, new)
            os.fsync(new)


def _same(tree: int, path: str, entry: TreeEntry) -> bool:
    """Whether kind and content are those; permissions stand in the record alone."""
    try:
        with parent_of(tree, path) as (parent, name):
            found: Any = look(parent, name)
    except OSError:
        return False
    return found is not None and (found.kind, found.digest) == (entry.kind, entry.digest)
