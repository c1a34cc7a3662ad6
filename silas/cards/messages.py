"""What arrives on a channel, and the canonical bytes an owner's device signs (spec 3.1)."""

from datetime import datetime

from pydantic import AwareDatetime

from silas.canonical import canonical_bytes
from silas.types import Base64Bytes, FrozenModel, TaintLevel


class ChannelMessage(FrozenModel):
    """A raw message from any channel.

    Attributes:
        channel: `web`, `telegram`, `cli`, `webhook`.
        sender_id: The sender within the channel; a claim, never an authorisation.
        text: What was said.
        timestamp: When it was received, timezone-aware UTC.
        attachments: Paths or URLs.
        reply_to: The id of the message this one answers.
        id: What its sender calls it, so that answers can stand under it; empty where it has none.
        conversation: Which of the owner's conversations it belongs to; empty for the first one.
    """

    channel: str
    sender_id: str
    text: str
    timestamp: AwareDatetime
    attachments: tuple[str, ...] = ()
    reply_to: str | None = None
    id: str = ""
    conversation: str = ""


class SignedMessage(FrozenModel):
    """A message with the owner's signature over `message_bytes`, or without one."""

    message: ChannelMessage
    signature: Base64Bytes
    nonce: str
    taint: TaintLevel = TaintLevel.external

    @property
    def text(self) -> str:
        """What was said."""
        return self.message.text


Arrived = ChannelMessage | SignedMessage
"""What a channel brings: with the signature that came with it, or without one."""


def message_bytes(message: ChannelMessage, nonce: str) -> bytes:
    """The bytes a message signature covers: exactly text, timestamp and nonce (spec 3.1).

    Raises:
        ValueError: The timestamp has no timezone.
    """
    if _naive(message.timestamp):
        raise ValueError("a message timestamp must be timezone-aware")
    return canonical_bytes(
        {"text": message.text, "timestamp": message.timestamp.isoformat(), "nonce": nonce}
    )


def _naive(moment: datetime) -> bool:
    return moment.tzinfo is None or moment.utcoffset() is None
