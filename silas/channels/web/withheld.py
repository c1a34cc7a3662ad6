"""Results on the pages lose what they printed and reported once its source was forgotten (5.1)."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Protocol

from silas.channels.web.events import Withheld
from silas.channels.web.pages import Pages
from silas.channels.web.transcript import Transcript
from silas.clock import Clock
from silas.errors import SilasError

SECONDS_BETWEEN = 0.5
"""How soon an open page is told: another program may have forgotten something."""


class RestsOnForgotten(Protocol):
    """Whether what work rests on was forgotten: since it last began, or `ever`."""

    def __call__(self, work_item_id: str, *, ever: bool) -> Awaitable[bool]:
        """See `ScopeWork.rests_on_forgotten`."""
        ...


class Withholding:
    """Follows what is forgotten, from whatever process, into the kept conversation and the pages.

    Args:
        transcript: Where results are kept.
        pages: Who may still show them.
        forgotten: What was forgotten until now; another value after every forgetting.
        rests: Whether a work item rests on any of it.
        words: What stands in the place of what is withheld.
    """

    def __init__(
        self,
        transcript: Transcript,
        pages: Pages,
        forgotten: Callable[[], Hashable],
        rests: RestsOnForgotten,
        words: str,
    ) -> None:
        self._transcript = transcript
        self._pages = pages
        self._forgotten = forgotten
        self._rests = rests
        self._words = words
        self._known: Hashable = None
        self._looked_at = 0
        self._looking = asyncio.Lock()

    async def look(self) -> None:
        """Withhold what rests on what was forgotten since the last look; before anything is shown.

        Raises:
            DatabaseError: What was forgotten, or what a result rests on, cannot be read.
        """
        async with self._looking:
            now, newest = self._forgotten(), self._transcript.newest()
            more = now != self._known
            # a result that came since the last look may have been read before a forgetting
            after = 0 if more else self._looked_at
            gone = [
                one.seq
                for one in self._transcript.results(after)
                if await self._rests(one.work_item_id, ever=one.ran_again)
            ]
            if gone:
                self._transcript.withhold(gone, self._words)
            if (gone or more) and len(self._pages):
                self._pages.all(self._event(tuple(gone)).model_dump_json())
            self._known, self._looked_at = now, newest

    def all(self) -> Withheld:
        """What a page that comes back must not show any more."""
        return self._event(self._transcript.withheld())

    async def follow(self, clock: Clock) -> None:
        """Look again and again for the pages that are there, until this is cancelled."""
        while True:
            await clock.sleep(SECONDS_BETWEEN)
            if len(self._pages):
                with suppress(SilasError):  # the next look may succeed, and who connects looks
                    await self.look()

    def _event(self, seqs: tuple[int, ...]) -> Withheld:
        return Withheld(seqs=seqs, words=self._words)
