"""Words and results on the pages are withheld once what they were made of was forgotten (5.1)."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

from silas.channels.web.events import Withheld
from silas.channels.web.pages import Pages
from silas.channels.web.transcript import Transcript
from silas.clock import Clock
from silas.errors import SilasError

SECONDS_BETWEEN = 0.5
"""How soon an open page is told: another program may have forgotten something."""


class ForgottenSources(Protocol):
    """What was forgotten, and whether something was made of it."""

    def newest(self) -> Hashable:
        """What was forgotten until now; another value after every forgetting."""
        ...

    async def rests(self, work_item_id: str, *, ever: bool) -> bool:
        """See `ScopeWork.rests_on_forgotten`."""
        ...

    def gone_since(self, last: int) -> Callable[[Sequence[str]], bool]:
        """Whether one of some sources was forgotten after the forgetting of this number."""
        ...


class ForgottenContent:
    """Follows what is forgotten, from whatever process, into the kept conversation and the pages.

    Args:
        transcript: Where results are kept.
        pages: Who may still show them.
        forgotten: What was forgotten.
        words: What stands in the place of what is withheld.
    """

    def __init__(
        self,
        transcript: Transcript,
        pages: Pages,
        forgotten: ForgottenSources,
        words: str,
    ) -> None:
        self._transcript = transcript
        self._pages = pages
        self._forgotten = forgotten
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
            now, newest = self._forgotten.newest(), self._transcript.newest()
            more = now != self._known
            # a result that came since the last look may have been read before a forgetting
            after = 0 if more else self._looked_at
            gone = [
                one.seq
                for one in self._transcript.results(after)
                if await self._forgotten.rests(one.work_item_id, ever=one.ran_again)
            ]
            gone_since = lru_cache(self._forgotten.gone_since)
            gone += [
                one.seq
                for one in self._transcript.messages(after)
                if gone_since(one.forgotten)(one.sources)
            ]
            gone.sort()
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
            await self._pages.some()
            await clock.sleep(SECONDS_BETWEEN)
            if len(self._pages):
                with suppress(SilasError):  # the next look may succeed, and who connects looks
                    await self.look()

    def _event(self, seqs: tuple[int, ...]) -> Withheld:
        return Withheld(seqs=seqs, words=self._words)
