"""Questions that end with their safe answer when Silas stops (spec 18.2 step 2)."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from silas.cards import Arrived, Card, CardChannel
from silas.cards.unseen import left_answer, unseen_answer
from silas.stream.escalation_actions import HandoverChannel
from silas.stream.turn_place import asks_beside, heard_in_turn, somebody_looks

AnswerT = TypeVar("AnswerT")


class ClosingChannel:
    """A channel that can be closed for questions: open ones and later ones answer safely.

    Where cards stand beside the conversation a plan goes on waiting: ending Silas is no answer to
    it. At a terminal it is, unless another program asks about the plan: whoever ends Silas there
    was asked and has not said yes.
    """

    def __init__(self, channel: CardChannel) -> None:
        self._channel = channel
        self._closed = asyncio.Event()

    @property
    def channel_name(self) -> str:
        """The wrapped channel's name."""
        return self._channel.channel_name

    @property
    def asks_beside(self) -> bool:
        """As the wrapped channel."""
        return asks_beside(self._channel)

    @property
    def somebody_looks(self) -> bool:
        """As the wrapped channel; nobody, once questions are closed."""
        return not self._closed.is_set() and somebody_looks(self._channel)

    @property
    def heard_in_turn(self) -> bool:
        """As the wrapped channel."""
        return heard_in_turn(self._channel)

    def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        """The wrapped channel's messages."""
        return self._channel.listen()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Pass on."""
        await self._channel.send(recipient_id, text, reply_to)

    async def hand_over(self, connection_id: str, queue: str, words: str) -> bool:
        """Pass on; false where the wrapped channel lets nobody take over."""
        channel = self._channel
        return isinstance(channel, HandoverChannel) and await channel.hand_over(
            connection_id, queue, words
        )

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """The channel's answer, unless questions are closed before it comes."""
        if self._closed.is_set():
            return self._answer_of_nobody(card)
        asking = asyncio.ensure_future(self._channel.ask(to, card))
        closing = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait({asking, closing}, return_when=asyncio.FIRST_COMPLETED)
            # an answer that is there counts, also in the moment of closing
            return asking.result() if asking.done() else self._answer_of_nobody(card)
        finally:
            asking.cancel()
            closing.cancel()

    def _answer_of_nobody(self, card: Card[AnswerT]) -> AnswerT:
        return unseen_answer(card) if self.asks_beside else left_answer(card)

    def close(self) -> None:
        """From now on every question has its safe answer."""
        self._closed.set()
