"""What a crash left half-changed is brought back before anything builds on it (decision B18)."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from silas.audit import Audit
from silas.errors import SandboxError
from silas.work.uninterrupted import shielded
from silas.workspace.journal import Journal
from silas.workspace.undo import half_changed, leave, recover

_BUSY = "E_SANDBOX_BUSY"
_TOLD = "told"
"""In the place of a change: why it could not be brought back, so that it is recorded once."""

_WAY_OUT = (
    "Put your own version of that file aside and `silas undo {id}`, or keep everything as it is "
    "now: `silas undo {id} --keep-files`."
)


class HalfChanged(NamedTuple):
    """A directory that is neither as it was before some work nor as that work left it.

    Attributes:
        work_item_id: The work that a crash interrupted.
        place: Where its way back is kept.
        root: The directory.
        why: Why it is not brought back; empty where nobody tried yet, or somebody is at it.
    """

    work_item_id: str
    place: Path
    root: Path
    why: str = ""

    @property
    def words(self) -> str:
        """One sentence or two: what is wrong and what to do."""
        said = f"{self.root} is half-changed: {self.work_item_id} was interrupted"
        if not self.why:
            return f"{said}; `silas undo {self.work_item_id}` brings it back to what it was."
        return f"{said}, and {self.why}. {_WAY_OUT.format(id=self.work_item_id)}"


def half_changed_in(folder: Path) -> list[HalfChanged]:
    """What is half-changed of what the journals in this folder tell, oldest first."""
    found = ((place, half_changed(place)) for place in sorted(folder.glob("*/*")))
    return [
        HalfChanged(place.parent.name, place, journal.root, _told(place))
        for place, journal in found
        if journal is not None and _is_there(journal)
    ]


class FileRecovery:
    """Brings half-changed directories back to what they were; every opening begins with it.

    Work of another living process is left alone: it holds the journal of its change.
    """

    def __init__(self, folder: Path, audit: Audit) -> None:
        self._folder = folder
        self._audit = audit

    def left(self) -> list[HalfChanged]:
        """What is half-changed now, oldest first; looks and changes nothing."""
        return half_changed_in(self._folder)

    async def recover(self) -> frozenset[str]:
        """Bring back what a crash left; returns the ids of the work that was taken back.

        One that somebody else changed since is left as it is, on record: it must not keep
        everything else from starting. Work on it is refused by `require_whole`.
        """
        halves = await asyncio.to_thread(self.left)
        return frozenset([half.work_item_id for half in halves if await self._recovered(half)])

    async def require_whole(self, workspace: str | None) -> None:
        """Recover, and refuse where this directory, or one around or in it, is still half-changed.

        Raises:
            SandboxError: E_SANDBOX_HALF.
        """
        if workspace is None:
            return
        await self.recover()
        for half in await asyncio.to_thread(self.left):
            if _overlap(half.root, Path(workspace)):
                raise SandboxError(half.words, code="E_SANDBOX_HALF")

    async def leave(self, work_item_id: str) -> None:
        """Keep a half-changed directory as it is now: it stops being half-changed.

        Raises:
            SandboxError: Nothing of this work is half-changed; nothing was done.
        """
        mine = [half for half in self.left() if half.work_item_id == work_item_id]
        if not mine:
            raise SandboxError(
                f"Nothing of {work_item_id!r} is half-changed, so there is nothing to leave; see "
                "`silas status`.",
                code="E_SANDBOX_NO_UNDO",
            )
        for half in mine:
            await self._audit.log(
                "workspace_not_recovered", work_item_id=work_item_id, reason="the owner kept it"
            )
            await shielded(asyncio.to_thread(leave, half.place))

    async def _recovered(self, half: HalfChanged) -> bool:
        try:
            done = await shielded(asyncio.to_thread(recover, half.place))
        except (SandboxError, OSError) as error:
            if not isinstance(error, SandboxError) or error.code != _BUSY:
                await self._tell(half, error)
            return False
        if done:
            await self._audit.log("workspace_recovered", work_item_id=half.work_item_id)
        return done

    async def _tell(self, half: HalfChanged, error: SandboxError | OSError) -> None:
        words = error.message if isinstance(error, SandboxError) else str(error.strerror)
        why = words.partition(";")[0].rstrip(".")
        if why == half.why:
            return
        await self._audit.log(
            "workspace_not_recovered", work_item_id=half.work_item_id, reason=words
        )
        with suppress(OSError):
            (half.place / _TOLD).write_text(why, encoding="utf-8", errors="backslashreplace")


def _told(place: Path) -> str:
    try:
        return (place / _TOLD).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _is_there(journal: Journal) -> bool:
    """Whether it is still the directory that was changed; one that is gone is half-way no more."""
    try:
        facts = os.stat(journal.root)
    except OSError:
        return False
    return (facts.st_dev, facts.st_ino) == journal.identity


def _overlap(one: Path, other: Path) -> bool:
    other = Path(os.path.realpath(other))
    return one == other or one in other.parents or other in one.parents
