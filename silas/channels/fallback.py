"""Cards on channels that only carry text: the question as a message, the next message as answer."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from silas.cards import Arrived, Card, CardChannel, Channel
from silas.channels.text import TRIES, parse_reply, render_card
from silas.clock import Clock

AnswerT = TypeVar("AnswerT")


class TextCards:
    """Gives any channel cards by deterministic fallback (spec 4.1.1): silence means no."""

    def __init__(self, channel: Channel, clock: Clock) -> None:
        self._channel = channel
        self._clock = clock
        self._waiting: dict[str, asyncio.Future[str | None]] = {}
        self._ended = False
        self._one_card: dict[str, asyncio.Lock] = {}

    @property
    def channel_name(self) -> str:
        """The wrapped channel's name."""
        return self._channel.channel_name

    async def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        """Messages, except those that answer a pending question on their connection."""
        async for message, connection_id in self._channel.listen():
            waiting = self._waiting.get(connection_id)
            if waiting is not None and not waiting.done():
                waiting.set_result(message.text)
            else:
                yield message, connection_id
        self._ended = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(None)

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Pass on."""
        await self._channel.send(recipient_id, text, reply_to)

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """Send the card as text and read the reply; the safe answer on timeout or nonsense.

        Where the channel has ended no reply can come: then it is the safe answer at once.
        One card at a time per recipient, so that a reply cannot answer another question.
        """
        async with self._one_card.setdefault(to, asyncio.Lock()):
            await self._channel.send(to, render_card(card))
            deadline = self._clock.monotonic() + card.timeout_seconds
            for _ in range(TRIES):
                text = await self._reply(to, deadline - self._clock.monotonic())
                if text is None:
                    return card.safe
                answer = parse_reply(card, text)
                if answer is not None:
                    return answer
                await self._channel.send(to, "Please answer with the number of an option.")
            return card.safe

    async def _reply(self, to: str, seconds: float) -> str | None:
        if self._ended:
            return None
        reply: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._waiting[to] = reply
        timer = asyncio.ensure_future(self._clock.sleep(max(seconds, 0)))
        try:
            await asyncio.wait({reply, timer}, return_when=asyncio.FIRST_COMPLETED)
            return reply.result() if reply.done() else None
        finally:
            timer.cancel()
            del self._waiting[to]


def with_cards(channel: Channel, clock: Clock) -> CardChannel:
    """The channel, which asks in text where it cannot show cards."""
    return channel if isinstance(channel, CardChannel) else TextCards(channel, clock)
