"""What comes into a turn and what it returns."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

from silas.cards import Arrived, ChannelMessage, SignedMessage
from silas.plans import WorkItem
from silas.types import OWNER, address_of, whose

Outcome = Literal["answered", "dispatched", "declined", "waiting", "blocked", "busy", "failed"]
"""An answer, work under way, the owner's no, a plan that waits for the owner, a refusal, a full
queue, or no model that could be asked, understood and answered in form."""

MCP_CLIENT: Final = "mcp"
"""The connection of who is at the other end of `silas mcp serve`; its words are never signed."""

SUGGESTED: Final = "suggestion"
"""The channel of words that the owner picked and did not say: no login vouches for it."""


@dataclass(frozen=True)
class Incoming:
    """A message as a channel delivered it.

    Attributes:
        message: What was said.
        connection_id: The connection it came on; its lock and access level hang on it.
        signature, nonce: The owner's signature over the message, or empty.
        workspace: The directory the owner stands in, offered to plans; None where unknown.
    """

    message: ChannelMessage
    connection_id: str
    signature: bytes = b""
    nonce: str = ""
    workspace: str | None = None

    def __post_init__(self) -> None:
        """Refuse the id of a connection that reads as a conversation of the owner's."""
        if self.connection_id != OWNER and whose(self.connection_id) == OWNER:
            raise ValueError(f"{self.connection_id!r} is no id of a connection")

    def door(self, own: str) -> str:
        """The channel whose words its answer has: the one where it was said.

        Args:
            own: The name of the cockpit's or terminal's channel, where what was picked is answered.
        """
        return own if self.message.channel == SUGGESTED else self.message.channel

    @property
    def address(self) -> str:
        """The conversation it belongs to; only the owner has more than one."""
        told = self.message.conversation if self.connection_id == OWNER else ""
        return address_of(self.connection_id, told)

    @classmethod
    def of(cls, arrived: Arrived, connection_id: str, workspace: str | None) -> "Incoming":
        """What a channel brought, with the signature that came with it, if one did."""
        if isinstance(arrived, SignedMessage):
            signature, nonce = arrived.signature, arrived.nonce
            return cls(arrived.message, connection_id, signature, nonce, workspace)
        return cls(arrived, connection_id, workspace=workspace)


@dataclass(frozen=True)
class Reply:
    """What a turn returns; the text was sent already.

    Attributes:
        text: The answer.
        outcome: How the turn ended.
        plan: The plan that was proposed, if one was.
        turn_id: For the audit.
    """

    text: str
    outcome: Outcome
    plan: WorkItem | None = None
    turn_id: str = ""


SendText = Callable[[str], Awaitable[None]]
"""Delivers text to the connection that a turn serves."""
