"""Sentences to a conversation that a broken channel does not turn into a failure."""

from silas.audit import Audit
from silas.cards import CardChannel
from silas.errors import ChannelError
from silas.language import said_at
from silas.stream.models import SendText


class ChannelSender:
    """Makes what says something at an address; that it could not be sent is on record."""

    def __init__(self, channel: CardChannel, audit: Audit) -> None:
        self._channel = channel
        self._audit = audit

    def to(self, address: str, reply_to: str = "") -> SendText:
        """Says something there.

        Args:
            address: The conversation's.
            reply_to: The id of the message that it answers, if any.
        """

        async def send(text: str) -> None:
            try:
                await self._channel.send(address, text, reply_to or None)
            except ChannelError:
                await self._audit.log("send_failed", connection_id=address)

        return send

    def put(self, words: str) -> str:
        """Words as they are said where they are heard."""
        return said_at(self._channel.channel_name, words)
