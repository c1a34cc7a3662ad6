"""How Silas reaches a person: messages on every channel, cards on those that can show them."""

from collections.abc import AsyncIterator
from typing import Protocol, TypeVar, runtime_checkable

from silas.cards.answers import CardChoice, ShownCard
from silas.cards.messages import Arrived
from silas.cards.models import Card

AnswerT = TypeVar("AnswerT")


@runtime_checkable
class Channel(Protocol):
    """A minimal message transport (spec 4.1)."""

    @property
    def channel_name(self) -> str:
        """`web`, `cli`, `telegram`."""
        ...

    def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        """Incoming messages, each with the connection it came on; signed where a device signed."""
        ...

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Deliver text to a recipient."""
        ...


@runtime_checkable
class CardChannel(Channel, Protocol):
    """A channel that can show cards and bring answers back (spec 4.1.1)."""

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """Show the card and wait; `card.safe` on silence, timeout or a closed connection."""
        ...


@runtime_checkable
class ChoiceChannel(Channel, Protocol):
    """A channel that shows cards as buttons and may bring a device's signature with a choice."""

    async def choose(self, to: str, shown: ShownCard) -> CardChoice:
        """Show the card and wait for a choice; the wait is cancelled when the card is closed.

        Raises:
            ChannelError: It cannot be shown here, which the owner is told once.
        """
        ...
