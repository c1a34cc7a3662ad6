"""A channel before another one: it passes on everything but what it answers itself."""

from collections.abc import AsyncIterator

from silas.cards.messages import Arrived
from silas.cards.port import CardChannel


class WrappedChannel:
    """Passes on all but cards; each kind of it says what becomes of those.

    Args:
        channel: The channel behind it.
    """

    def __init__(self, channel: CardChannel) -> None:
        self._channel = channel

    @property
    def channel_name(self) -> str:
        """The wrapped channel's name."""
        return self._channel.channel_name

    def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        """The wrapped channel's messages."""
        return self._channel.listen()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Pass on."""
        await self._channel.send(recipient_id, text, reply_to)
