"""Pages hear what happened, whoever did it: results say that they were taken back (0.5.5)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from silas.channels.web.events import RecordGrew
from silas.channels.web.pages import Pages
from silas.channels.web.transcript import Transcript
from silas.clock import Clock
from silas.errors import SilasError

SECONDS_BETWEEN = 0.5
"""How soon an open page is told: another program may have undone something."""


class UndoneNews(NamedTuple):
    """The ids of the work that was undone, in order, and up to which entry of the record."""

    last: int
    work: Sequence[str]


class UndoneWorkReader(Protocol):
    """What is known of changes that were taken back."""

    async def since(self, seq: int) -> UndoneNews:
        """What was undone after an entry of the record."""
        ...

    async def newest(self) -> int:
        """The newest entry of the record."""
        ...

    async def is_undone(self, work_item_id: str) -> bool:
        """Whether all that an item changed was taken back."""
        ...


class UndoneResults:
    """Follows what is undone, from whatever process, into the kept conversation and the pages.

    Args:
        transcript: Where results are kept.
        pages: Who may still offer to undo them.
        undoings: What was undone.
        tell: Keeps and tells that an item's changes were taken back.
    """

    def __init__(
        self,
        transcript: Transcript,
        pages: Pages,
        undoings: UndoneWorkReader,
        tell: Callable[[str], None],
    ) -> None:
        self._transcript = transcript
        self._pages = pages
        self._undoings = undoings
        self._tell = tell
        self._last: int | None = None

    async def look(self) -> None:
        """Tell what was undone since the last look, and whether anything else happened; at first,
        whatever the pages do not say yet.

        Raises:
            DatabaseError: The record or the conversation cannot be read.
        """
        if self._last is None:
            newest = await self._undoings.newest()
            for name in self._transcript.offering_undo():
                if await self._undoings.is_undone(name):
                    self._tell(name)
            self._last = newest
            return
        before = self._last
        self._last, undone = await self._undoings.since(before)
        for name in undone:
            self._tell(name)
        if self._last != before:
            self._pages.all(RecordGrew().model_dump_json())

    async def follow(self, clock: Clock) -> None:
        """Look again and again for the pages that are there, until this is cancelled."""
        while True:
            await self._pages.some()
            await clock.sleep(SECONDS_BETWEEN)
            if len(self._pages):
                with suppress(SilasError):  # the next look may succeed
                    await self.look()
