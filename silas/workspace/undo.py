"""Applying changes to a directory with a way back that survives a crash (decision B3).

What is about to be overwritten is saved and a journal is on the disk before the first change, so a
crash at any moment leaves something `recover` can finish.
"""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from silas.errors import SandboxError, reason
from silas.types import new_nonce
from silas.workspace.clone import copy_content
from silas.workspace.journal import (
    UNDER_WAY,
    Change,
    Journal,
    States,
    hold_journal,
    read_journal,
    write_journal,
)
from silas.workspace.metadata import Metadata, read_link_metadata, read_metadata
from silas.workspace.replaced import is_half_way, is_original, states_on_the_way
from silas.workspace.transition import (
    ContentSource,
    Transition,
    check,
    conflict,
    directory_metadata,
    directory_times,
    find_entry,
    no_inode,
    open_by_path,
    open_original,
    surprises,
    temporary_name,
)
from silas.workspace.tree import TreeEntry, look, open_descriptor, open_file, open_root, parent_of

_NAMED = 3  # paths that one sentence names
_ROOT = TreeEntry("dir", 0, "", 0)


class AppliedChanges(NamedTuple):
    """What was written to the original, and where the way back is kept."""

    created: int
    changed: int
    deleted: int
    undo_dir: Path


@contextmanager
def begin(
    root: Path,
    identity: tuple[int, int],
    changes: tuple[Change, ...],
    undo_dir: Path,
    note: str = "",
) -> Generator[Journal]:
    """Check the original, save what will be overwritten, and put the journal on the disk.

    Until the block ends the change is held, so that nobody takes it for one that a crash left.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT, or E_SANDBOX_UNDO when `undo_dir` is in use or inside
            the directory it guards.
    """
    if undo_dir == root or root in undo_dir.parents:
        raise SandboxError(
            f"{undo_dir} lies in the directory it guards; give another.", code="E_SANDBOX_UNDO"
        )
    undo_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with hold_journal(undo_dir):
        yield _begin_journal(root, identity, changes, undo_dir, note)


def _begin_journal(
    root: Path,
    identity: tuple[int, int],
    changes: tuple[Change, ...],
    undo_dir: Path,
    note: str,
) -> Journal:
    if any(undo_dir.iterdir()):
        raise SandboxError(f"{undo_dir} is in use; give an empty directory.", code="E_SANDBOX_UNDO")
    began = undo_dir.stat().st_mtime_ns
    with open_descriptor(open_original(root, identity)) as original:
        before = {change.path: change.before for change in changes}
        check(original, before, {change.path: change.after for change in changes})
        saved = _save_all(original, before, undo_dir)
    mark = new_nonce()[:16]
    journal = Journal(
        root, identity, "applying", changes, saved.links, saved.kept, {}, began, mark, note
    )
    write_journal(undo_dir, journal)
    with open_descriptor(open_root(undo_dir.parent)) as above:
        os.fsync(above)
    return journal


class _Saved(NamedTuple):
    links: dict[str, str]
    kept: dict[str, Metadata]


def _save_all(original: int, before: States, undo_dir: Path) -> _Saved:
    """Keep what is about to be overwritten, and nothing else of the directory."""
    saved = _Saved({}, {})
    around = {path.rpartition("/")[0] for path in before}
    for path in sorted(around):
        if path not in before or _is_directory(before[path]):
            saved.kept[path] = directory_metadata(original, path)
    for number, (path, entry) in enumerate(before.items()):
        if entry is None:
            continue
        if entry.kind == "dir":
            saved.kept[path] = directory_metadata(original, path)
            continue
        with parent_of(original, path) as (parent, name):
            if entry.kind == "link":
                saved.links[path] = os.readlink(name, dir_fd=parent)
                saved.kept[path] = read_link_metadata(parent, name)
            else:
                blob = undo_dir / str(number)
                saved.kept[path] = _save(parent, name, Change(path, entry, None), blob)
    return saved


def _is_directory(entry: TreeEntry | None) -> bool:
    return entry is not None and entry.kind == "dir"


def _save(parent: int, name: str, change: Change, blob: Path) -> Metadata:
    """Keep a file's content; one that has further names is kept as itself, too."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        open_descriptor(open_file(name, parent)) as reading,
        open_descriptor(os.open(blob, flags, 0o600)) as writing,
    ):
        kept = read_metadata(reading)
        digest = copy_content(reading, writing)
        os.fsync(writing)
        if change.before is None or digest != change.before.digest:
            raise conflict(change.path, "was changed meanwhile")
        if os.fstat(reading).st_nlink > 1:
            with suppress(OSError):  # another file system: undo then makes a file of its own
                os.link(name, _itself(blob), src_dir_fd=parent, follow_symlinks=False)
    return kept


def _itself(blob: Path) -> Path:
    return blob.with_name(f"{blob.name}.inode")


def _save_content(undo_dir: Path, journal: Journal, original: int) -> ContentSource:
    numbers = {change.path: number for number, change in enumerate(journal.changes)}
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC

    def blob(path: str) -> int:
        return os.open(undo_dir / str(numbers[path]), flags)

    def inode(path: str, goal: TreeEntry, parent: int, temporary: str) -> bool:
        kept = _itself(undo_dir / str(numbers[path]))
        with suppress(OSError), open_descriptor(open_root(undo_dir)) as place:
            if look(place, kept.name) != goal:
                return False  # its content was changed by another of its names
            os.link(kept.name, temporary, src_dir_fd=place, dst_dir_fd=parent)
            return True
        return False

    # the other names of a file kept as itself are in the directory that was changed, not in a copy
    itself = inode if is_original(original, journal) else no_inode
    return ContentSource(file=blob, link=journal.links.__getitem__, inode=itself)


def _back(undo_dir: Path, journal: Journal, original: int, start: States) -> None:
    saved = _save_content(undo_dir, journal, original)
    Transition(original, start, journal.before, saved, journal.mark).run(journal.kept)
    os.utime(undo_dir)  # the file system tells the moment
    at = undo_dir.stat().st_mtime_ns
    write_journal(undo_dir, replace(journal, phase="undone", undone=at))
    for path in undo_dir.glob("*.inode"):
        path.unlink()  # it has its other names; no further one is to be seen


def carry_out(undo_dir: Path, journal: Journal, source: ContentSource) -> AppliedChanges:
    """Write the journalled changes; on any failure go back before raising.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT or E_SANDBOX_APPLY, the original is as it was;
            E_SANDBOX_UNDO, going back was prevented, too, and `recover` has to be called.
    """
    with open_descriptor(open_original(journal.root, journal.identity)) as original:
        try:
            Transition(original, journal.before, journal.after, source, journal.mark).run(
                _of_replaced(journal)
            )
        except (OSError, SandboxError) as error:
            _go_back_or_say_so(undo_dir, journal, original)
            if isinstance(error, SandboxError):
                raise
            raise SandboxError(
                f"The changes could not be written ({reason(error)}); the directory is as before.",
                code="E_SANDBOX_APPLY",
            ) from error
        around = [path for path in journal.kept if _is_directory(journal.before.get(path, _ROOT))]
        left = directory_times(original, around)
        write_journal(undo_dir, replace(journal, phase="applied", left=left))
    return _summary(journal.changes, undo_dir)


def _of_replaced(journal: Journal) -> dict[str, Metadata]:
    """What files keep whose content is replaced."""
    return {
        change.path: journal.kept[change.path].for_new_content()
        for change in journal.changes
        if change.before and change.after and change.before.kind == change.after.kind == "file"
    }


def _go_back_or_say_so(undo_dir: Path, journal: Journal, original: int) -> None:
    try:
        _back(undo_dir, journal, original, journal.after)
    except OSError as error:
        if _is_untouched(original, journal):
            with suppress(OSError):
                write_journal(undo_dir, replace(journal, phase="undone"))
                return
        raise SandboxError(
            f"{journal.root} is half-way, as writing and taking back failed ({reason(error)}); "
            f"what it held is kept in {undo_dir}, and Silas takes it back once it can write there.",
            code="E_SANDBOX_UNDO",
        ) from error
    except SandboxError as error:
        raise SandboxError(
            f"{journal.root} was changed by another program while Silas wrote to it, and is "
            f"half-way; what it held is kept in {undo_dir} ({reason(error)}).",
            code="E_SANDBOX_UNDO",
        ) from error


def _is_untouched(original: int, journal: Journal) -> bool:
    """Whether every path is as before, with nothing half-written beside it."""
    before, name = journal.before, temporary_name(journal.mark)
    beside = {str(PurePosixPath(path).with_name(name)) for path in before}
    try:
        return not any(surprises(original, before, before)) and not any(
            find_entry(original, path, before) for path in beside
        )
    except SandboxError:
        return False


def _summary(changes: Iterable[Change], undo_dir: Path) -> AppliedChanges:
    created = changed = deleted = 0
    for change in changes:
        created += change.before is None
        deleted += change.after is None
        changed += change.before is not None and change.after is not None
    return AppliedChanges(created, changed, deleted, undo_dir)


def undo(undo_dir: Path) -> None:
    """Restore bytes, modes, created and deleted paths exactly as they were before `apply`.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT when a touched path changed since; E_SANDBOX_UNDO when
            there is nothing to undo; E_SANDBOX_BUSY when it is being written. Nothing was changed
            in any of these cases.
    """
    with _held_journal(undo_dir) as journal:
        _undo(undo_dir, journal)


@contextmanager
def _held_journal(undo_dir: Path) -> Generator[Journal]:
    """Read under the lock: before it another process may have ended the change."""
    read_journal(undo_dir)  # a place without one has nothing to be held for
    with hold_journal(undo_dir):
        yield read_journal(undo_dir)


def _undo(undo_dir: Path, journal: Journal) -> None:
    if journal.phase != "applied":
        raise SandboxError(
            f"The change in {undo_dir} is {journal.phase}; there is nothing to undo.",
            code="E_SANDBOX_UNDO",
        )
    # a copy in its place is the same files: each is held against what the work left there
    with open_descriptor(open_by_path(journal.root)) as original:
        _check_undo(original, journal)
        journal = replace(journal, phase="undoing", kept=_still_kept(original, journal))
        write_journal(undo_dir, journal)
        _back(undo_dir, journal, original, journal.after)


def _check_undo(original: int, journal: Journal) -> None:
    found = list(islice(surprises(original, journal.after, journal.before), _NAMED + 1))
    if found:
        named = ", ".join(f"{path!r} {why}" for path, why in found[:_NAMED])
        more = ", and there is more" if len(found) > _NAMED else ""
        raise SandboxError(
            f"Nothing was undone: {named}{more}. Move your own version aside and put back what the "
            "work left there; then undo again.",
            code="E_SANDBOX_CONFLICT",
        )


def _still_kept(original: int, journal: Journal) -> dict[str, Metadata]:
    """A directory in which somebody worked since keeps the time of that."""
    now = directory_times(original, journal.left)
    return {
        path: kept if now.get(path) == journal.left.get(path) else kept._replace(times=None)
        for path, kept in journal.kept.items()
    }


def recover(undo_dir: Path, *, missing: bool = False) -> bool:
    """After a crash, bring an interrupted apply or undo back to the state before; True if it was.

    A copy that stands in the place of the directory is brought back, too, where every path holds
    what the journal knows by its content.

    Args:
        undo_dir: Where the way back is kept.
        missing: Also put back files where nothing stands now; see `states_on_the_way`.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT when somebody else changed a touched path meanwhile, or the
            directory is gone; E_SANDBOX_BUSY when no crash left it so, but a living process is at
            it.
    """
    if half_changed(undo_dir) is None:
        return False  # where there is no journal, the crash came before any change
    with _held_journal(undo_dir) as journal:
        if journal.phase not in UNDER_WAY:
            return False
        with open_descriptor(open_by_path(journal.root)) as original:
            start = states_on_the_way(original, journal, missing=missing)
            _back(undo_dir, journal, original, start)
    return True


def lies_in(directory: Path, journal: Journal) -> bool:
    """Whether the half-changed directory of a journal was moved here."""
    try:
        with open_descriptor(open_root(directory)) as found:
            return is_original(found, journal) and is_half_way(found, journal)
    except (OSError, SandboxError):
        return False


def half_changed(undo_dir: Path) -> Journal | None:
    """The journal of a change that neither came to its end nor was taken back; None otherwise."""
    try:
        journal = read_journal(undo_dir)
    except SandboxError:
        return None
    return journal if journal.phase in UNDER_WAY else None


def leave(undo_dir: Path) -> None:
    """Let a half-changed directory be what it is now; what it held before is kept in `undo_dir`.

    Raises:
        SandboxError: E_SANDBOX_UNDO when it is not half-changed; E_SANDBOX_BUSY.
    """
    with _held_journal(undo_dir) as journal:
        if journal.phase not in UNDER_WAY:
            raise SandboxError(
                f"The change in {undo_dir} is {journal.phase}; it is not half-way.",
                code="E_SANDBOX_UNDO",
            )
        write_journal(undo_dir, replace(journal, phase="undone"))
