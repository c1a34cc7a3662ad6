"""A turn's place in its conversation: held while it speaks, left while its owner decides (5.1).

A card waits as long as its owner likes, and he goes on talking meanwhile. So a turn of his that
asks him anything leaves its place for that time, where cards stand beside the conversation; it goes
on after his answer when its place is free again. Turns of others keep theirs: one person
from elsewhere has one question open, not as many as he sends messages.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Protocol, TypeVar, runtime_checkable

from silas.cards import Card, CardChannel
from silas.cards.wrapped import WrappedChannel

AnswerT = TypeVar("AnswerT")

Aside = Callable[[], AbstractAsyncContextManager[bool]]
"""Gives the place up for as long as something is waited for; gives whether others go on now."""


@runtime_checkable
class HasCardArea(Protocol):
    """A channel that says whether cards have a place of their own beside the conversation."""

    @property
    def asks_beside(self) -> bool:
        """Whether they have; elsewhere the next line typed would be taken for the answer."""
        ...


def asks_beside(channel: object) -> bool:
    """Whether cards on this channel stand beside the conversation; else they stand in it."""
    return isinstance(channel, HasCardArea) and channel.asks_beside


@runtime_checkable
class KnowsPresence(Protocol):
    """A channel that knows whether somebody would see a card now."""

    @property
    def somebody_looks(self) -> bool:
        """Whether somebody would; else it answers what is asked safely, and nobody saw it."""
        ...


def somebody_looks(channel: object) -> bool:
    """Whether a card would be seen now; a channel that does not know shows it to whoever reads."""
    return not isinstance(channel, KnowsPresence) or channel.somebody_looks


@runtime_checkable
class QueuesMessages(Protocol):
    """A channel that says whether each of its messages waits for the answer to the one before."""

    @property
    def heard_in_turn(self) -> bool:
        """Whether they do: nobody types them, so all of them are there at once."""
        ...


def heard_in_turn(channel: object) -> bool:
    """Whether messages of this channel are heard one after the other; else as they come."""
    return isinstance(channel, QueuesMessages) and channel.heard_in_turn


class TurnPlace:
    """The place of one turn, for `async with`.

    Args:
        lock: The conversation's; whoever holds it speaks.
        leaves: Whether the place may be left for a while.
    """

    def __init__(self, lock: asyncio.Lock, *, leaves: bool) -> None:
        self._lock = lock
        self._leaves = leaves
        self._holds = False
        self._waiting = 0
        self._returning = asyncio.Lock()

    async def __aenter__(self) -> "TurnPlace":
        await self._lock.acquire()
        self._holds = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._holds:  # a turn that is cancelled while it waits for its place has none to give up
            self._holds = False
            self._lock.release()

    @asynccontextmanager
    async def aside(self) -> AsyncGenerator[bool]:
        """See `Aside`. May be nested, and used by several questions of the turn at once."""
        if not self._leaves:
            yield False
            return
        self._waiting += 1
        self._leave()
        try:
            yield True
        finally:
            self._waiting -= 1
            if not self._waiting:
                await self._come_back()

    async def _come_back(self) -> None:
        async with self._returning:
            if not self._holds:
                await self._lock.acquire()
                self._holds = True


class AsideChannel(WrappedChannel):
    """A turn's channel: the turn leaves its place for as long as one of its cards is open.

    Args:
        channel: The channel.
        aside: Leaves the turn's place.
    """

    def __init__(self, channel: CardChannel, aside: Aside) -> None:
        super().__init__(channel)
        self._aside = aside

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """The channel's answer; the turn goes on when it has its place again."""
        async with self._aside():
            return await self._channel.ask(to, card)
