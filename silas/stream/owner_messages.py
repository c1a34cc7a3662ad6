"""What the owner says to a program that holds Silas, as messages that are signed as his (3.1)."""

from collections.abc import Callable
from dataclasses import replace

from silas.cards import ChannelMessage, message_bytes
from silas.clock import Clock
from silas.context.conversation_store import FIRST, ConversationStore
from silas.stream.models import Incoming
from silas.stream.sender_identity import SignMessage, attest_owner
from silas.types import OWNER, new_nonce


class OwnerMessages:
    """Makes messages of the owner's.

    Args:
        channel: The name of the channel that they count as.
        sign: Signs them; who holds this speaks as the owner.
        clock: For their time.
        conversations: The owner's, in one of which each is said.
    """

    def __init__(
        self, channel: str, sign: SignMessage, clock: Clock, conversations: ConversationStore
    ) -> None:
        self._channel = channel
        self._sign = sign
        self.clock = clock
        self.conversations = conversations

    def make(self, text: str, workspace: str | None, conversation: str = FIRST) -> Incoming:
        """A signed message of this text, about a directory where there is one.

        Args:
            text: What is said.
            workspace: The directory.
            conversation: Which conversation it belongs to; by default the first one.

        Raises:
            ContextError: There is no such conversation, or it is archived.
        """
        message = ChannelMessage(
            channel=self._channel,
            sender_id=OWNER,
            text=text,
            timestamp=self.clock.now(),
            conversation=self.conversations.open(conversation).id,
        )
        nonce = new_nonce()
        return Incoming(message, OWNER, self._sign(message_bytes(message, nonce)), nonce, workspace)

    def attest(self, incoming: Incoming) -> Incoming:
        """See `silas.stream.sender_identity.attest_owner`."""
        return attest_owner(self._sign, incoming)

    def attest_in(self, conversation: str) -> Callable[[Incoming], Incoming]:
        """Attests what a channel says that has this one conversation alone and does not name it.

        Raises:
            ContextError: There is no such conversation, or it is archived.
        """
        told = self.conversations.open(conversation).id

        def attest(incoming: Incoming) -> Incoming:
            said = incoming.message.model_copy(update={"conversation": told})
            return self.attest(replace(incoming, message=said))

        return attest
