"""A channel whose owner is a function."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from silas.cards import Card, ChannelMessage

AnswerT = TypeVar("AnswerT")


def decline_everything(card: Card[Any]) -> Any:
    """Each card's safe answer."""
    return card.safe


class ScriptedChannel:
    """Answers cards by a function and records everything.

    Args:
        answer: What the owner says to a card; by default the safe answer.
        messages: What `listen` yields, each with its connection.

    Attributes:
        cards: Every card that was shown, in order.
        sent: Every text that was sent, with its recipient.
    """

    channel_name = "cli"

    def __init__(
        self,
        answer: Callable[[Card[Any]], Any] = decline_everything,
        messages: Sequence[tuple[ChannelMessage, str]] = (),
    ) -> None:
        self._answer = answer
        self._messages = tuple(messages)
        self.cards: list[Card[Any]] = []
        self.sent: list[tuple[str, str]] = []

    @property
    def texts(self) -> list[str]:
        """What was sent, without recipients."""
        return [text for _, text in self.sent]

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        """The scripted messages, then the end."""
        for message in self._messages:
            yield message

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Record."""
        del reply_to
        self.sent.append((recipient_id, text))

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """Record, and answer as the function says."""
        del to
        self.cards.append(card)
        return self._answer(card)
