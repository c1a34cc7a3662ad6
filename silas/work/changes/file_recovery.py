"""What a crash left half-changed is brought back before anything builds on it (decision B18)."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from silas.audit import Audit
from silas.errors import SandboxError
from silas.language import tr, tr_later
from silas.plans.characters import show_exactly
from silas.work.changes.undo_record import hold_mark, remove_mark, settle_marked
from silas.work.uninterrupted import finish_work
from silas.workspace.journal import (
    Journal,
    hold_journal,
    is_unreadable,
    root_of_unreadable,
    set_journal_aside,
)
from silas.workspace.undo import half_changed, leave, lies_in, recover

_BUSY = "E_SANDBOX_BUSY"
_TOLD = "told"
"""In the place of a change: why it could not be brought back, so that it is recorded once."""

_GONE = "its directory is gone"
_SETTLED = tr_later(
    "The changes of {work_item_id} were undone: Silas ended before it could say so, and has put it "
    "on record now."
)

_NAMED = 3  # paths that one sentence names

_WAYS_BACK = (
    ("is missing", "`silas undo {id}` puts back what is missing"),
    ("replaced by a link", "Put the directory itself back in its place and `silas undo {id}`"),
    ("", "Put your own version of that file aside and `silas undo {id}`"),
)
"""The end of what is in the way, and what to do about it; the first that fits."""


class HalfChanged(NamedTuple):
    """A directory that is neither as it was before some work nor as that work left it.

    Attributes:
        work_item_id: The work that a crash interrupted.
        place: Where its way back is kept.
        journal: What it was writing, and where.
        why: Why it is not brought back; empty where nobody tried yet, or somebody is at it.
        gone: Whether nothing stands at its path any more.
    """

    work_item_id: str
    place: Path
    journal: Journal
    why: str
    gone: bool

    @property
    def root(self) -> Path:
        """The directory."""
        return self.journal.root

    @property
    def words(self) -> str:
        """One sentence or two: what is wrong and what to do."""
        name = self.work_item_id
        keep = f"`silas undo {name} --keep-files`"
        if self.gone:
            return (
                f"{self.root} is gone, and {self._interrupted} there; what they held before is in "
                f"{self.place}. Put the directory back and `silas undo {name}`, or settle it as "
                f"it is now: {keep}."
            )
        said = f"{self.root} is half-changed: {self._interrupted}"
        if not self.why:
            return f"{said}; `silas undo {name}` brings it back to what it was."
        way = next(way for end, way in _WAYS_BACK if self.why.endswith(end)).format(id=name)
        return f"{said}, and {self.why}. {way}, or keep everything as it is now: {keep}."

    def words_in(self, workspace: Path) -> str:
        """The same where the directory was moved to another place."""
        name = self.work_item_id
        return (
            f"{workspace} is what {self.root} was, half-changed: {self._interrupted}. Move it back "
            f"and `silas undo {name}`, or keep everything as it is now: "
            f"`silas undo {name} --keep-files`."
        )

    @property
    def _interrupted(self) -> str:
        paths = [show_exactly(change.path) for change in self.journal.changes]
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        named = ", ".join(paths[:_NAMED])
        return f"{self.work_item_id} was interrupted while it wrote {named}{more}"


class UnreadableChange(NamedTuple):
    """A change whose journal cannot be read: nobody knows whether its directory is whole.

    Attributes:
        work_item_id: The work that made it.
        place: Where its way back is kept.
        root: The directory, where the journal still names it.
    """

    work_item_id: str
    place: Path
    root: Path | None

    @property
    def words(self) -> str:
        """What is wrong and what to do."""
        name = self.work_item_id
        where = "a directory that it does not name any more" if self.root is None else self.root
        return (
            f"The record of what {name} changed in {where} is damaged, so whether a crash left it "
            f"half-changed is not known: {self.place}/journal.json. Restore that file from a "
            "backup, or look at the directory and keep everything as it is now: "
            f"`silas undo {name} --keep-files`."
        )


LeftBehind = HalfChanged | UnreadableChange
"""What work must not build on."""


def left_in(folder: Path) -> list[LeftBehind]:
    """What is half-changed, or may be, of what the journals in this folder tell, by their names."""
    found = (_change_left_at(place) for place in sorted(folder.glob("*/*")))
    return [left for left in found if left is not None]


def _change_left_at(place: Path) -> LeftBehind | None:
    if is_unreadable(place):
        return UnreadableChange(place.parent.name, place, root_of_unreadable(place))
    journal = half_changed(place)
    return None if journal is None else _half(place, journal)


def _half(place: Path, journal: Journal) -> HalfChanged:
    gone, why = not os.path.lexists(journal.root), _read_told(place)
    return HalfChanged(place.parent.name, place, journal, "" if why == _GONE else why, gone)


class FileRecovery:
    """Brings half-changed directories back to what they were; every opening begins with it.

    Work of another living process is left alone: it holds the journal of its change.
    """

    def __init__(self, folder: Path, audit: Audit) -> None:
        self._folder = folder
        self._audit = audit
        self._settled: list[str] = []

    def list_left(self) -> list[LeftBehind]:
        """What is half-changed now, or may be, oldest first; looks and changes nothing."""
        return left_in(self._folder)

    async def recover(self, asked: str = "") -> frozenset[str]:
        """Bring back what a crash left; returns the ids of the work that was taken back.

        One that somebody else changed since, or that is gone, is left as it is, on record: it must
        not keep everything else from starting. Work on it is refused by `require_whole`.

        Args:
            asked: The work that the owner wants taken back: of it, files that are missing are put
                back, too.
        """
        halves = await asyncio.to_thread(self.list_left)
        taken_back = [
            half.work_item_id
            for half in halves
            if isinstance(half, HalfChanged) and await self._recover_files(half, asked)
        ]
        settled = await finish_work(settle_marked(self._folder, self._audit))
        self._settled += settled
        return frozenset((*taken_back, *settled))

    async def require_whole(self, workspace: str | None) -> None:
        """Recover, and refuse where this directory, or one around or in it, is still half-changed.

        Raises:
            SandboxError: E_SANDBOX_HALF; E_SANDBOX_BUSY where living work is writing there.
        """
        if workspace is None:
            return
        await self.recover()
        for half in await asyncio.to_thread(self.list_left):
            words = await asyncio.to_thread(_refusal, half, workspace)
            if not words:
                continue
            refused = await asyncio.to_thread(half_error, half, words)
            if half in await asyncio.to_thread(self.list_left):  # its work did not end meanwhile
                raise refused

    async def tell(self, tell: Callable[[str], Awaitable[None]]) -> None:
        """Say at a start what could not be brought back, so that nobody finds it by chance, and
        what was undone when Silas ended before it said so.
        """
        halves = await asyncio.to_thread(self.list_left)
        words = [half.words for half in halves if _is_told(half)]
        words += [tr(_SETTLED, work_item_id=name) for name in self._settled]
        self._settled.clear()
        if words:
            await tell("\n".join(words))

    async def leave(self, work_item_id: str) -> None:
        """Keep a half-changed directory as it is now: it stops being half-changed.

        Raises:
            SandboxError: Nothing of this work is half-changed; nothing was done.
        """
        mine = [half for half in self.list_left() if half.work_item_id == work_item_id]
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
            end = set_journal_aside if isinstance(half, UnreadableChange) else leave
            await finish_work(asyncio.to_thread(end, half.place))
            remove_mark(half.place)

    async def _recover_files(self, half: HalfChanged, asked: str) -> bool:
        bring_back = partial(recover, half.place, missing=half.work_item_id == asked)

        async def bring_back_on_record() -> bool:
            with hold_mark(half.place):
                done = await asyncio.to_thread(bring_back)
                if done:
                    await self._audit.log("workspace_recovered", work_item_id=half.work_item_id)
                    remove_mark(half.place)
            return done

        try:
            return await finish_work(bring_back_on_record())
        except (SandboxError, OSError) as error:
            if not isinstance(error, SandboxError) or error.code != _BUSY:
                await self._tell(half, error)
            return False

    async def _tell(self, half: HalfChanged, error: SandboxError | OSError) -> None:
        words = error.message if isinstance(error, SandboxError) else str(error.strerror)
        why = _GONE if half.gone else words.partition(";")[0].rstrip(".")
        if why == _read_told(half.place):
            return
        await self._audit.log(
            "workspace_not_recovered", work_item_id=half.work_item_id, reason=words
        )
        with suppress(OSError):
            (half.place / _TOLD).write_text(why, encoding="utf-8", errors="backslashreplace")


def half_error(half: LeftBehind, words: str) -> SandboxError:
    """Why nothing is done there: living work is writing, E_SANDBOX_BUSY; else these words."""
    if isinstance(half, HalfChanged) and _is_held(half.place):
        return SandboxError(
            f"{half.root} is being written by {half.work_item_id} at this moment; ask again when "
            "that has ended.",
            code=_BUSY,
        )
    return SandboxError(words, code="E_SANDBOX_HALF")


def _is_held(place: Path) -> bool:
    """Whether living work is at a change: no crash left it."""
    try:
        with hold_journal(place):
            return False
    except SandboxError as error:
        return error.code == _BUSY


def _is_told(half: LeftBehind) -> bool:
    """Whether it stays so; else somebody is at it."""
    return isinstance(half, UnreadableChange) or bool(half.why) or half.gone


def _read_told(place: Path) -> str:
    try:
        return (place / _TOLD).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _refusal(half: LeftBehind, workspace: str) -> str:
    place = Path(os.path.realpath(workspace))
    if isinstance(half, UnreadableChange):
        return half.words if half.root is None or _meet(half.root, place) else ""
    if _concerns(half, place):
        return half.words
    return half.words_in(place) if lies_in(place, half.journal) else ""


def _concerns(half: HalfChanged, place: Path) -> bool:
    """Whether work in this directory would build on what is half-changed."""
    if half.gone:  # around it, nothing of it is left
        return half.root == place or half.root in place.parents
    return _meet(half.root, place)


def _meet(root: Path, place: Path) -> bool:
    """Whether one of these directories is the other, or lies in it."""
    roots = (root, Path(os.path.realpath(root)))
    return any(one == place or one in place.parents or place in one.parents for one in roots)
