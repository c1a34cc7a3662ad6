"""The pages that are connected now, and what waits to be sent to each."""

import asyncio
from collections.abc import Iterable

from silas.channels.web.session import WebSession

MOST_WAITING = 512
"""Frames that may wait for one page; whoever reads more slowly is let go and comes back."""

GOING_AWAY, TRY_LATER, UNAUTHENTICATED = 1001, 1013, 4001
"""Why Silas closes a connection (RFC 6455; 4001 is spec 8.1)."""


class Page:
    """One connected page."""

    def __init__(self, session: WebSession) -> None:
        self.session = session
        self.closing: int | None = None
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue(MOST_WAITING + 1)

    def give(self, frame: str) -> None:
        """Send in its turn; a page that is far behind is closed and misses nothing by it."""
        if self.closing is not None:
            return
        if self._waiting.qsize() >= MOST_WAITING:
            self.close(TRY_LATER)
        else:
            self._waiting.put_nowait(frame)

    def close(self, code: int) -> None:
        """Send what waits already, then close."""
        if self.closing is None:
            self.closing = code
            self._waiting.put_nowait(None)

    async def next(self) -> str | None:
        """The next frame to send; None when the connection is to be closed."""
        return await self._waiting.get()


class Pages:
    """Every connected page; a frame is written out once, for however many."""

    def __init__(self) -> None:
        self._pages: set[Page] = set()

    def __len__(self) -> int:
        return len(self._pages)

    def enter(self, page: Page) -> None:
        """From now on it gets what is sent to all."""
        self._pages.add(page)

    def leave(self, page: Page) -> None:
        """It is gone."""
        self._pages.discard(page)

    def all(self, frame: str, besides: Page | None = None) -> None:
        """Send to every page, or to every other one."""
        for page in self._pages:
            if page is not besides:
                page.give(frame)

    def close(self, code: int, sessions: Iterable[str] | None = None) -> None:
        """Close every page, or those of some sessions."""
        ended = None if sessions is None else frozenset(sessions)
        for page in self._pages:
            if ended is None or page.session.id in ended:
                page.close(code)
