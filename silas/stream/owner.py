"""The one person who decides: every question of the Stream goes to the owner's connection."""

from typing import TypeVar

from silas.audit import Audit
from silas.cards import Card, CardChannel
from silas.cards.unseen import left_answer
from silas.clock import Clock
from silas.errors import ChannelError
from silas.language import said_at
from silas.types import OWNER

AnswerT = TypeVar("AnswerT")


class Owner:
    """The owner on a channel, whoever's turn it is: no sender answers a question about himself."""

    def __init__(self, channel: CardChannel, audit: Audit, clock: Clock) -> None:
        self._channel = channel
        self._audit = audit
        self._clock = clock

    async def ask(self, card: Card[AnswerT], to: str = OWNER) -> AnswerT:
        """The answer, or the card's safe one where the channel fails (18.1, `E_CHANNEL_*`).

        A channel answers safely by itself when the card's time is over; that is recorded (8.1).
        """
        deadline = self._clock.monotonic() + card.timeout_seconds
        try:
            answer = await self._channel.ask(to, card)
        except ChannelError as error:
            await self._audit.log("card_unanswered", intent=card.intent, code=error.code)
            return left_answer(card)
        if answer == card.safe and self._clock.monotonic() >= deadline:
            await self._audit.log("card_timed_out", intent=card.intent)
            return left_answer(card)
        return answer

    async def tell(self, text: str) -> None:
        """Say a sentence of Silas's own to the owner; a channel that fails stops nothing."""
        try:
            await self._channel.send(OWNER, said_at(self._channel.channel_name, text))
        except ChannelError:
            await self._audit.log("send_failed", connection_id=OWNER)
