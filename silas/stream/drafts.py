"""What a model says while it is still finding its answer, shown where nothing could forbid it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple, Protocol, runtime_checkable

from silas.agents.call_scope import limit_waits
from silas.agents.listener import NOBODY, Listener
from silas.gates.partial import settle_answers
from silas.language import tr, tr_later
from silas.stream.models import SendText
from silas.stream.turn_place import Aside
from silas.tools.toolset import ToolRun

SECONDS_BETWEEN: Final = 0.05
"""How often a draft grows on a page at most, however small the pieces of the model are."""

LONGEST: Final = 20_000
"""Characters of a draft; what is longer is seen when it is whole."""


@runtime_checkable
class ShowsDrafts(Protocol):
    """A channel with a place for an answer that is still coming."""

    def shows_drafts_to(self, recipient_id: str) -> bool:
        """Whether this is somebody it could show one to, and who is there now."""
        ...

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        """Show a further piece; with `begins` what was shown of this turn is withdrawn first."""
        ...

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        """Say what takes the place of a turn's draft. Raises `ChannelError` as `send` does."""
        ...


@runtime_checkable
class ShowsWaiting(Protocol):
    """A channel that says in passing what is waited for."""

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        """Show what this source waits for; empty words where it waits no longer."""
        ...


DraftWaits = Callable[[str, str, str], None]
"""As `ShowsWaiting.waits`."""

_TURN: Final = "turn"

_ROLES: Final = {"proxy": tr_later("proxy"), "planner": tr_later("planner")}
"""Who asks the model in a turn, as it is said in passing."""


class TurnVoice(NamedTuple):
    """What a turn says texts with, and what it leaves its place with."""

    send: SendText
    aside: Aside


class Drafts(Protocol):
    """The drafts of the turns under way."""

    def turn(
        self, connection_id: str, voice: TurnVoice, reply_to: str
    ) -> AbstractContextManager[TurnVoice]:
        """A turn of a connection from its beginning to its end; gives what it says texts with.

        Args:
            connection_id: The connection.
            voice: Says a text on it, and leaves the turn's place.
            reply_to: The message that the turn answers; empty where it has no name.
        """
        ...

    def listener(self, run: ToolRun) -> Listener:
        """Who hears the answer of one agent run of a turn."""
        ...


@contextmanager
def _as_it_is(voice: TurnVoice) -> Generator[TurnVoice]:
    yield voice


class NoDrafts:
    """The absence of drafts: every answer is said whole."""

    def turn(
        self, connection_id: str, voice: TurnVoice, reply_to: str
    ) -> AbstractContextManager[TurnVoice]:
        """Nothing is around a turn."""
        del connection_id, reply_to
        return _as_it_is(voice)

    def listener(self, run: ToolRun) -> Listener:
        """Nobody."""
        del run
        return NOBODY


class _Draft:
    """One turn's draft: grows at most every `SECONDS_BETWEEN`, and never by part of a secret."""

    def __init__(self, show: Callable[[str, bool], None], safe: Callable[[str], str]) -> None:
        self._show = show
        self._safe = safe
        self._heard = ""
        self._timer: asyncio.TimerHandle | None = None
        self._over = False
        self.shown = ""

    def more(self, text: str) -> None:
        """Hear a piece; it is shown at once if nothing was shown a moment ago."""
        if self._over or len(self._heard) >= LONGEST:
            return
        self._heard = (self._heard + text)[:LONGEST]
        if self._timer is None:
            self._grow()

    def again(self) -> None:
        """Withdraw what was shown."""
        self._heard = ""
        if self.shown:
            self.shown = ""
            self._show("", True)

    def end(self) -> None:
        """Nothing more is shown."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()

    def _grow(self) -> None:
        self._timer = None
        safe = self._safe(self._heard)
        if self.shown.startswith(safe):
            return  # nothing new, or its end may have begun something
        begins = not self.shown or not safe.startswith(self.shown)
        piece = safe if begins else safe[len(self.shown) :]
        self.shown = safe
        self._show(piece, begins)
        self._timer = asyncio.get_running_loop().call_later(SECONDS_BETWEEN, self._grow)


class _Speaking:
    """A turn that may have a draft."""

    def __init__(
        self,
        channel: ShowsDrafts,
        connection_id: str,
        send: SendText,
        reply_to: str,
        waits: DraftWaits,
    ) -> None:
        self._channel = channel
        self._waits = waits
        self._reply_to = reply_to or None
        self._connection_id = connection_id
        self._send = send
        self._turn_id = ""
        self._waited_for = ""
        self.draft: _Draft | None = None

    def begin(self, turn_id: str, safe: Callable[[str], str]) -> _Draft:
        """The turn's draft; a second model of the same turn goes on with it."""
        if self.draft is None:
            self._turn_id = turn_id
            self.draft = _Draft(self._show, safe)
        return self.draft

    async def say(self, text: str) -> None:
        """Say a whole text; it takes the place of the draft, if something of one was shown."""
        self.waits("")
        if self._over():
            of = self._connection_id
            await self._channel.answer(of, text, self._turn_id, self._reply_to)
        else:
            await self._send(text)

    def leave(self) -> None:
        """The turn is over; a draft that nothing took the place of is withdrawn."""
        self.waits("")
        if self._over():
            self._show("", True)

    def waits(self, words: str) -> None:
        """Say in passing what the turn waits for; empty for nothing."""
        self._waited_for = words
        self._waits(self._connection_id, _TURN, words)

    @contextmanager
    def limit_wait(self, words: str) -> Generator[None]:
        """Say so for as long as the turn waits for the limit of requests, and then as before."""
        before = self._waited_for
        self.waits(words)
        try:
            yield
        finally:
            if self._waited_for == words:
                self.waits(before)

    def _over(self) -> bool:
        draft, self.draft = self.draft, None
        if draft is None:
            return False
        draft.end()
        return bool(draft.shown)

    def _show(self, text: str, begins: bool) -> None:
        self._channel.draft(self._connection_id, self._turn_id, text, begins=begins)


_now: ContextVar[_Speaking | None] = ContextVar("speaking", default=None)
"""The turn that may have a draft, in all that is done for it."""


def withdraw_draft() -> None:
    """What was shown of the answer of this turn is shown no longer: something else is asked."""
    speaking = _now.get()
    if speaking is not None and speaking.draft is not None:
        speaking.draft.again()


class ChannelDrafts:
    """Drafts on a channel that shows them.

    Nothing is shown in a turn that has a gate over answers which may stop one or ask about it: that
    is known when the answer is whole, and not before (spec 8.1, 5.4). What gates only rewrite is
    shown as they rewrite it, as far as that is settled.

    Args:
        channel: Where they are shown.
        safe: A text that goes on, without secrets and without what may be the beginning of one.
        waits: Where it is said in passing which model is waited for.
    """

    def __init__(self, channel: ShowsDrafts, safe: Callable[[str], str], waits: DraftWaits) -> None:
        self._channel = channel
        self._safe = safe
        self._waits = waits
        self._speaking: dict[str, _Speaking] = {}

    @contextmanager
    def turn(self, connection_id: str, voice: TurnVoice, reply_to: str) -> Generator[TurnVoice]:
        """One asks models at a time for each connection; one that waits for its owner does not."""
        speaking = _Speaking(self._channel, connection_id, voice.send, reply_to, self._waits)
        self._speaking[connection_id] = speaking

        @asynccontextmanager
        async def aside() -> AsyncGenerator[bool]:
            async with voice.aside() as goes_on:
                if goes_on:
                    speaking.waits("")
                yield goes_on
            self._speaking[connection_id] = speaking  # its models are asked again

        token = _now.set(speaking)
        try:
            with limit_waits(speaking.limit_wait):
                yield TurnVoice(speaking.say, aside)
        finally:
            _now.reset(token)
            if self._speaking.get(connection_id) is speaking:
                del self._speaking[connection_id]
            speaking.leave()

    def listener(self, run: ToolRun) -> Listener:
        """The draft of the turn that a run is part of, where it may have one."""
        of = run.context("answer")
        speaking = self._speaking.get(of.address)
        settle = settle_answers(of.gates)
        if speaking is not None:
            speaking.waits(
                tr("waiting for the model ({role})", role=tr(_ROLES.get(run.role, run.role)))
            )
        if speaking is None or settle is None or not self._channel.shows_drafts_to(of.address):
            return NOBODY
        return speaking.begin(of.trace_id, lambda text: self._safe(settle(text)))


def drafts_on(channel: object, safe: Callable[[str], str]) -> Drafts:
    """Drafts where a channel can show them."""
    if not isinstance(channel, ShowsDrafts):
        return NoDrafts()
    return ChannelDrafts(channel, safe, waits_on(channel))


def waits_on(channel: object) -> DraftWaits:
    """Where it is said what is waited for; nowhere on a channel without a place for it."""
    return channel.waits if isinstance(channel, ShowsWaiting) else _unsaid


def _unsaid(recipient_id: str, source: str, words: str) -> None:
    del recipient_id, source, words
