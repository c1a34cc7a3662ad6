"""Applying changes to a directory with a way back that survives a crash (decision B3).

What is about to be overwritten is saved and a journal is on the disk before the first change, so a
crash at any moment leaves something `recover` can finish.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from silas.errors import SandboxError
from silas.sandbox.journal import Change, Journal, read_journal, write_journal
from silas.sandbox.transition import Source, Transition, check, conflict, open_original
from silas.sandbox.tree import open_file, open_root, opened, parent_of, read_all, write_all
from silas.types import new_nonce


class Applied(NamedTuple):
    """What was written to the original, and where the way back is kept."""

    created: int
    changed: int
    deleted: int
    undo_dir: Path


def begin(
    root: Path,
    identity: tuple[int, int],
    changes: tuple[Change, ...],
    undo_dir: Path,
    note: str = "",
) -> Journal:
    """Check the original, save what will be overwritten, and put the journal on the disk.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT, or E_SANDBOX_UNDO when `undo_dir` is in use or inside
            the directory it guards.
    """
    if undo_dir == root or root in undo_dir.parents:
        raise SandboxError(
            f"{undo_dir} lies in the directory it guards; give another.", code="E_SANDBOX_UNDO"
        )
    undo_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(undo_dir.iterdir()):
        raise SandboxError(f"{undo_dir} is in use; give an empty directory.", code="E_SANDBOX_UNDO")
    links: dict[str, str] = {}
    times: dict[str, int] = {}
    with opened(open_original(root, identity)) as original:
        before = {change.path: change.before for change in changes}
        check(original, before, {change.path: change.after for change in changes})
        for number, change in enumerate(changes):
            if change.before is None or change.before.kind == "dir":
                continue
            with parent_of(original, change.path) as (parent, name):
                if change.before.kind == "link":
                    links[change.path] = os.readlink(name, dir_fd=parent)
                else:
                    times[change.path] = _save(parent, name, change, undo_dir / str(number))
    journal = Journal(root, identity, "applying", changes, links, times, new_nonce()[:16], note)
    write_journal(undo_dir, journal)
    with opened(open_root(undo_dir.parent)) as above:
        os.fsync(above)
    return journal


def _save(parent: int, name: str, change: Change, blob: Path) -> int:
    """Keep a file's content; returns its modification time in nanoseconds."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with opened(open_file(name, parent)) as reading, opened(os.open(blob, flags, 0o600)) as writing:
        digest = read_all(reading, lambda chunk: write_all(writing, chunk))
        os.fsync(writing)
        if change.before is None or digest != change.before.digest:
            raise conflict(change.path, "was changed meanwhile")
        return os.fstat(reading).st_mtime_ns


def _saved(undo_dir: Path, journal: Journal) -> Source:
    numbers = {change.path: number for number, change in enumerate(journal.changes)}
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC

    def blob(path: str) -> int:
        return os.open(undo_dir / str(numbers[path]), flags)

    return Source(file=blob, link=journal.links.__getitem__)


def _back(undo_dir: Path, journal: Journal, original: int) -> None:
    saved = _saved(undo_dir, journal)
    Transition(original, journal.after, journal.before, saved, journal.mark).run(journal.times)
    write_journal(undo_dir, replace(journal, phase="undone"))


def carry_out(undo_dir: Path, journal: Journal, source: Source) -> Applied:
    """Write the journalled changes; on any failure go back before raising.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT or E_SANDBOX_APPLY, the original is as it was;
            E_SANDBOX_UNDO, going back was prevented, too, and `recover` has to be called.
    """
    with opened(open_original(journal.root, journal.identity)) as original:
        try:
            Transition(original, journal.before, journal.after, source, journal.mark).run({})
        except (OSError, SandboxError) as error:
            _go_back_or_say_so(undo_dir, journal, original)
            if isinstance(error, SandboxError):
                raise
            raise SandboxError(
                f"The changes could not be written ({error.strerror}); the directory is as before.",
                code="E_SANDBOX_APPLY",
            ) from error
        write_journal(undo_dir, replace(journal, phase="applied"))
    return _summary(journal.changes, undo_dir)


def _go_back_or_say_so(undo_dir: Path, journal: Journal, original: int) -> None:
    try:
        _back(undo_dir, journal, original)
    except (OSError, SandboxError) as error:
        raise SandboxError(
            f"{journal.root} was changed by another program while Silas wrote to it, and is "
            f"half-way; what it held is kept in {undo_dir} ({error}).",
            code="E_SANDBOX_UNDO",
        ) from error


def _summary(changes: Iterable[Change], undo_dir: Path) -> Applied:
    created = changed = deleted = 0
    for change in changes:
        created += change.before is None
        deleted += change.after is None
        changed += change.before is not None and change.after is not None
    return Applied(created, changed, deleted, undo_dir)


def undo(undo_dir: Path) -> None:
    """Restore bytes, modes, created and deleted paths exactly as they were before `apply`.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT when a touched path changed since; E_SANDBOX_UNDO when
            there is nothing to undo. Nothing was changed in both cases.
    """
    journal = read_journal(undo_dir)
    if journal.phase != "applied":
        raise SandboxError(
            f"The change in {undo_dir} is {journal.phase}; there is nothing to undo.",
            code="E_SANDBOX_UNDO",
        )
    with opened(open_original(journal.root, journal.identity)) as original:
        check(original, journal.after, journal.before)
        write_journal(undo_dir, replace(journal, phase="undoing"))
        _back(undo_dir, journal, original)


def recover(undo_dir: Path) -> bool:
    """After a crash, bring an interrupted apply or undo back to the state before; True if it was.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT when somebody else changed a touched path meanwhile.
    """
    try:
        journal = read_journal(undo_dir)
    except SandboxError:
        return False  # the crash came before the journal, and so before any change
    if journal.phase in ("applied", "undone"):
        return False
    with opened(open_original(journal.root, journal.identity)) as original:
        _back(undo_dir, journal, original)
    return True
