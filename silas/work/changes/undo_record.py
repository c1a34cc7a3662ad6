"""Files that go back, and the entry that says so: a kill between the two is settled later (B5)."""

import asyncio
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from errno import ENOENT
from pathlib import Path

from silas.audit import Audit
from silas.errors import SandboxError
from silas.workspace.journal import UNDER_WAY, read_journal
from silas.workspace.tree import open_descriptor

SHOWN_PATHS = 100
"""Paths that an audit entry names; a change of a whole tree would fill the log."""

_NOT_BEGUN = "Silas ended before it began to put them back"

_MARK = "unrecorded"
"""In the place of a change: it may be taken back without an entry that says so."""


@contextmanager
def hold_mark(place: Path, *, new: bool = True) -> Generator[None]:
    """Mark a change as being taken back; who finds the mark held leaves it to a living process.

    The mark is on the disk before the block begins and stays after it: `remove_mark` takes it
    away, once the record has what became of the change.

    Args:
        place: Where the way back is kept.
        new: Put a mark there; else there has to be one.

    Raises:
        SandboxError: E_SANDBOX_BUSY, somebody holds it, here or in another process.
        OSError: It cannot be written, or there is none; nothing was begun.
    """
    flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_CREAT if new else 0)
    with open_descriptor(os.open(place / _MARK, flags, 0o600)) as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SandboxError(
                "Silas is writing these files at this moment; try again when that has ended.",
                code="E_SANDBOX_BUSY",
            ) from error
        if not os.fstat(mark).st_nlink:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(place / _MARK))
        yield


def remove_mark(place: Path) -> None:
    """The record has what became of this change."""
    (place / _MARK).unlink(missing_ok=True)


def marked_changes(folder: Path) -> list[Path]:
    """The places of changes that may be taken back without an entry."""
    return [mark.parent for mark in sorted(folder.glob(f"*/*/{_MARK}"))]


async def record_outcome(place: Path, audit: Audit, *, why: str) -> str:
    """Record what became of a change that was to be taken back, by its journal.

    Args:
        place: Where its way back is kept; its mark is held.
        audit: The record.
        why: Why it was not undone, where it was not.

    Returns:
        The id of the work where its change is undone; empty where it stands, or is half-way, which
        `recover` ends.
    """
    journal, name = await asyncio.to_thread(read_journal, place), place.parent.name
    if journal.phase in UNDER_WAY:
        return ""
    paths = [change.path for change in journal.changes][:SHOWN_PATHS]
    undone = journal.phase == "undone"
    if undone:
        await audit.log("workspace_undone", work_item_id=name, paths=paths)
    else:
        await audit.log("workspace_not_undone", work_item_id=name, paths=paths, reason=why)
    remove_mark(place)
    return name if undone else ""


async def settle_marked(folder: Path, audit: Audit) -> list[str]:
    """Record what a kill kept from being recorded; the ids of the work that turns out undone."""
    found: list[str] = []
    for place in await asyncio.to_thread(marked_changes, folder):
        # held by a living process, or settled meanwhile
        with suppress(SandboxError, OSError), hold_mark(place, new=False):
            found.append(await record_outcome(place, audit, why=_NOT_BEGUN))
    return [name for name in found if name]
