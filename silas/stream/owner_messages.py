"""What the owner says to a program that holds Silas, as messages that are signed as his (3.1)."""

from dataclasses import replace

from silas.cards import ChannelMessage, message_bytes
from silas.clock import Clock
from silas.stream.models import Incoming
from silas.stream.sender_identity import SignMessage, attested
from silas.types import OWNER, new_nonce


class OwnerMessages:
    """Makes messages of the owner's.

    Args:
        channel: The name of the channel that they count as.
        sign: Signs them; who holds this speaks as the owner.
        clock: For their time.
    """

    def __init__(self, channel: str, sign: SignMessage, clock: Clock) -> None:
        self._channel = channel
        self._sign = sign
        self.clock = clock

    def make(self, text: str, workspace: str | None, conversation: str = "") -> Incoming:
        """A signed message of this text, about a directory where there is one.

        Args:
            text: What is said.
            workspace: The directory.
            conversation: Which conversation it belongs to; by default the first one.
        """
        message = ChannelMessage(
            channel=self._channel,
            sender_id=OWNER,
            text=text,
            timestamp=self.clock.now(),
            conversation=conversation,
        )
        nonce = new_nonce()
        return Incoming(message, OWNER, self._sign(message_bytes(message, nonce)), nonce, workspace)

    def attest(self, incoming: Incoming, conversation: str = "") -> Incoming:
        """See `silas.stream.sender_identity.attested`.

        Args:
            incoming: What was said.
            conversation: Where, if its channel has one conversation alone and does not say.
        """
        if conversation:
            said = incoming.message.model_copy(update={"conversation": conversation})
            incoming = replace(incoming, message=said)
        return attested(self._sign, incoming)
