"""The pages that are connected now, and what waits to be sent to each."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import islice

from silas.channels.web.answer_stream import join_deltas
from silas.channels.web.events import MessageDelta
from silas.channels.web.session import WebSession

MOST_WAITING = 512
"""Frames that may wait for one page; whoever reads more slowly is let go and comes back."""

GOING_AWAY, TRY_LATER, UNAUTHENTICATED = 1001, 1013, 4001
"""Why Silas closes a connection (RFC 6455; 4001 is spec 8.1)."""


SendText = Callable[[str], Awaitable[None]]


class ConnectedPage:
    """One connected page."""

    def __init__(self, session: WebSession) -> None:
        self.session = session
        self.closing: int | None = None
        self.told = asyncio.Event()  # whether nothing more is written to it
        self._waiting: deque[str] = deque()
        self._stirred = asyncio.Event()
        self._writing = asyncio.Lock()
        self._coming: dict[str, MessageDelta] = {}

    def give(self, frame: str) -> None:
        """Send in its turn; a page that is far behind is closed and misses nothing by it."""
        if self.closing is not None:
            return
        if len(self._waiting) >= MOST_WAITING:
            self.close(TRY_LATER)
        else:
            self._waiting.append(frame)
            self._stirred.set()

    def draft(self, piece: MessageDelta) -> None:
        """Send a piece of an answer; pieces that wait are one frame, however many there are."""
        if not self._coming:
            self.give(_COMING)
        if self.closing is None:
            self._coming[piece.turn_id] = join_deltas(self._coming.get(piece.turn_id), piece)

    def close(self, code: int) -> None:
        """Send what waits already, then close."""
        if self.closing is None:
            self.closing = code
            self._stirred.set()

    @property
    def has_something(self) -> bool:
        """Whether anything waits to be sent."""
        return bool(self._waiting)

    async def next(self) -> str | None:
        """The next frame to send; None when the connection is to be closed."""
        return self._take_frame() if await self.stirs() else None

    async def stirs(self) -> bool:
        """Wait until there is something to send; False when the connection is to be closed."""
        while not self._waiting and self.closing is None:  # somebody else may have sent it
            await self._stirred.wait()
        return self.has_something

    async def write(self, send: SendText) -> None:
        """Send what waits, in its order; whoever else writes at this moment is waited for."""
        async with self._writing:
            while self._waiting:
                await send(self._take_frame())

    async def answer(self, send: SendText) -> None:
        """As `write`, by whoever made something wait; nothing where somebody writes already."""
        if not self._writing.locked():
            await self.write(send)

    def _take_frame(self) -> str:
        frame = self._waiting.popleft()
        if not self._waiting and self.closing is None:
            self._stirred.clear()
        if frame != _COMING:
            return frame
        pieces, self._coming = self._coming, {}
        return _bundle(piece.model_dump_json() for piece in pieces.values())


_COMING = ""  # in a queue: here is the place of what was drafted meanwhile


def _bundle(frames: Iterable[str]) -> str:
    return f"[{','.join(frames)}]"


CROWD = 32
"""With more pages than this, what is for everybody goes out in bundles."""

SECONDS_A_PAGE = 0.001
"""How long a bundle is filled for each page that gets it: sending takes a tenth of that."""

FAREWELL_SECONDS = 1.0
"""How long Silas waits at its end for pages that do not read why they are closed."""

AT_ONCE = 8
"""Pages that get a bundle before the loop looks after everything else: about a millisecond."""


class Pages:
    """Every connected page; a frame is written out once, for however many.

    A frame is one event, or a JSON array of events. The few devices of one owner get each event at
    once. In a crowd a send to every page costs more than the event, so events are bundled; what is
    for one page alone never waits.

    Args:
        at_once: Pages that get a bundle in one step of the loop.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._pages: set[ConnectedPage] = set()
        self._somebody = asyncio.Event()
        self._bundle: list[str] = []
        self._pouring: deque[tuple[Iterator[ConnectedPage], str]] = deque()

    def __len__(self) -> int:
        return len(self._pages)

    def enter(self, page: ConnectedPage) -> None:
        """From now on it gets what is sent to all; it knows already what was sent before."""
        self._flush()
        self._pages.add(page)
        self._somebody.set()

    def leave(self, page: ConnectedPage) -> None:
        """It is gone."""
        self._pages.discard(page)
        if not self._pages:
            self._somebody.clear()

    async def some(self) -> None:
        """Wait until a page is connected: for nobody nothing is looked for again and again."""
        await self._somebody.wait()

    def all(self, frame: str) -> None:
        """Send to every page."""
        if len(self._pages) <= CROWD and not self._bundle and not self._pouring:
            for page in self._pages:
                page.give(frame)
            return
        if not self._bundle:
            wait = SECONDS_A_PAGE * len(self._pages)
            asyncio.get_running_loop().call_later(wait, self._flush)
        self._bundle.append(frame)

    def draft(self, piece: MessageDelta) -> None:
        """Show a piece of an answer on every page, but for a crowd, which gets it whole."""
        if len(self._pages) <= CROWD:
            for page in self._pages:
                page.draft(piece)

    def close(self, code: int, sessions: Iterable[str] | None = None) -> None:
        """Close every page, or those of some sessions; what was said before comes first."""
        self._flush()
        while self._pouring:
            self._pour(len(self._pages))
        ended = None if sessions is None else frozenset(sessions)
        for page in self._pages:
            if ended is None or page.session.id in ended:
                page.close(code)

    async def end(self, code: int) -> None:
        """Close every page, and wait until each was told so; one that reads nothing is left."""
        self.close(code)
        telling = [asyncio.ensure_future(page.told.wait()) for page in self._pages]
        if telling:
            _, unread = await asyncio.wait(telling, timeout=FAREWELL_SECONDS)
            for one in unread:
                one.cancel()

    def _flush(self) -> None:
        """Give the bundle to those who are there, some at a time: others have something to say."""
        if self._bundle:
            bundle, self._bundle = self._bundle, []
            self._pouring.append((iter(tuple(self._pages)), _bundle(bundle)))
            if len(self._pouring) == 1:
                self._go_on()

    def _go_on(self) -> None:
        self._pour(self._at_once)
        if self._pouring:
            asyncio.get_running_loop().call_soon(self._go_on)

    def _pour(self, count: int) -> None:
        """Give to so many pages; one bundle after the other, so that none overtakes."""
        if self._pouring:
            pages, frame = self._pouring[0]
            given = list(islice(pages, count))
            for page in given:
                page.give(frame)
            if len(given) < count:
                self._pouring.popleft()
