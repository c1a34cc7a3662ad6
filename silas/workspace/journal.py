"""The record on disk that makes a change of a directory reversible, crash or not (decision B3)."""

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from silas.errors import SandboxError, reason
from silas.workspace.metadata import Metadata, stored_metadata
from silas.workspace.tree import TreeEntry, open_descriptor, open_root, write_all

States = dict[str, TreeEntry | None]
"""Relative path to what stands there; None means nothing does."""

Phase = Literal["applying", "applied", "undoing", "undone"]

UNDER_WAY: tuple[Phase, ...] = ("applying", "undoing")
"""The phases in which the directory is neither as before nor as after."""

_JOURNAL = "journal.json"
_ASIDE = f"{_JOURNAL}.unreadable"


class Change(NamedTuple):
    """One path, before and after."""

    path: str
    before: TreeEntry | None
    after: TreeEntry | None


@dataclass(frozen=True)
class Journal:
    """Everything needed to go back.

    Attributes:
        root: The directory that is changed.
        identity: Its device and inode.
        phase: How far it got.
        changes: All paths touched. The content of file number n before is kept as blob n.
        links: Targets of links that stood there before, by path.
        kept: What else paths had before: those that are changed, and the directories they are in
            (the root is the empty path).
        left: Modification times, in nanoseconds, that applying gave to those directories.
        began: When, in nanoseconds of the file system's clock.
        mark: Names temporary files, so that leftovers of a crash are recognised.
        note: What whoever changes the directory wants to know of it after a crash.
        undone: When it was taken back, by the same clock; 0 where it was not, or by an earlier
            version.
    """

    root: Path
    identity: tuple[int, int]
    phase: Phase
    changes: tuple[Change, ...]
    links: dict[str, str]
    kept: dict[str, Metadata]
    left: dict[str, int]
    began: int
    mark: str
    note: str = ""
    undone: int = 0

    @property
    def before(self) -> States:
        """The state to go back to."""
        return {change.path: change.before for change in self.changes}

    @property
    def after(self) -> States:
        """The state applied."""
        return {change.path: change.after for change in self.changes}


@contextmanager
def hold_journal(undo_dir: Path) -> Generator[None]:
    """Hold one change while its directory is written to.

    Who finds it held leaves the change alone: a living process is at it. The lock is the operating
    system's and ends with the process, so what nobody holds was left by a crash.

    Raises:
        SandboxError: E_SANDBOX_BUSY, somebody holds it, here or in another process.
    """
    with open_descriptor(open_root(undo_dir)) as directory:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SandboxError(
                "Silas is writing these files at this moment; try again when that has ended.",
                code="E_SANDBOX_BUSY",
            ) from error
        yield


def write_journal(undo_dir: Path, journal: Journal) -> None:
    """Put the journal on the disk, whole or not at all."""
    record = {
        "root": str(journal.root),
        "identity": journal.identity,
        "phase": journal.phase,
        "changes": journal.changes,
        "links": journal.links,
        "kept": journal.kept,
        "left": journal.left,
        "began": journal.began,
        "mark": journal.mark,
        "note": journal.note,
        "undone": journal.undone,
    }
    new = f"{_JOURNAL}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open_descriptor(open_root(undo_dir)) as directory:
        with open_descriptor(os.open(new, flags, 0o600, dir_fd=directory)) as writing:
            write_all(writing, json.dumps(record).encode())
            os.fsync(writing)
        os.rename(new, _JOURNAL, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)


def _entry(raw: Any) -> TreeEntry | None:
    return None if raw is None else TreeEntry(*raw)


def change_of(raw: Any) -> Change:
    """A change as JSON has it; raises what a wrong form raises."""
    return Change(raw[0], _entry(raw[1]), _entry(raw[2]))


def read_journal(undo_dir: Path) -> Journal:
    """Read a journal back.

    Raises:
        SandboxError: E_SANDBOX_UNDO, there is none; E_SANDBOX_JOURNAL, there is one that cannot be
            read, so that nobody knows what it says of its directory.
    """
    path = undo_dir / _JOURNAL
    try:
        return _journal_of(json.loads(path.read_bytes()))
    except _UNREADABLE as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise SandboxError(
                f"There is no undo journal in {undo_dir}; nothing was changed.",
                code="E_SANDBOX_UNDO",
            ) from error
        raise SandboxError(
            f"{path} cannot be read ({reason(error)}); restore it from a backup.",
            code="E_SANDBOX_JOURNAL",
        ) from error


_UNREADABLE = (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
"""What reading a damaged journal raises."""


def _journal_of(raw: Any) -> Journal:
    if raw["phase"] not in get_args(Phase) or not os.path.isabs(raw["root"]):
        raise ValueError("its phase or directory is none")
    return Journal(
        root=Path(raw["root"]),
        identity=(raw["identity"][0], raw["identity"][1]),
        phase=raw["phase"],
        changes=tuple(change_of(one) for one in raw["changes"]),
        links=raw["links"],
        kept={path: stored_metadata(kept) for path, kept in raw["kept"].items()},
        left=raw["left"],
        began=raw["began"],
        mark=raw["mark"],
        note=raw.get("note", ""),  # journals of earlier versions have none
        undone=int(raw.get("undone", 0)),  # nor this
    )


def is_unreadable(undo_dir: Path) -> bool:
    """Whether there is a journal that cannot be read."""
    try:
        read_journal(undo_dir)
    except SandboxError as error:
        return error.code == "E_SANDBOX_JOURNAL"
    return False


def root_of_unreadable(undo_dir: Path) -> Path | None:
    """The directory that a damaged journal still names; None where it names none any more."""
    try:
        text = (undo_dir / _JOURNAL).read_bytes().decode("utf-8", "replace")
        named = json.JSONDecoder().raw_decode(text.partition('"root": ')[2])[0]
        return Path(named) if os.path.isabs(named) else None
    except _UNREADABLE:
        return None


def set_journal_aside(undo_dir: Path) -> None:
    """Keep a journal that cannot be read under another name, so that nothing waits for it.

    Raises:
        SandboxError: E_SANDBOX_BUSY.
        OSError: It cannot be renamed.
    """
    with hold_journal(undo_dir):
        (undo_dir / _JOURNAL).rename(undo_dir / _ASIDE)
