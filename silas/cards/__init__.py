"""Questions Silas asks its owner, and the messages it exchanges: data and ports, no transport."""

from silas.cards.messages import Arrived, ChannelMessage, SignedMessage, message_bytes
from silas.cards.models import (
    Action,
    Card,
    Detail,
    GateCard,
    HeldCard,
    PlanAnswer,
    PlanCard,
    ToolCallCard,
)
from silas.cards.port import CardChannel, Channel

__all__ = [
    "Action",
    "Arrived",
    "Card",
    "CardChannel",
    "Channel",
    "ChannelMessage",
    "Detail",
    "GateCard",
    "HeldCard",
    "PlanAnswer",
    "PlanCard",
    "SignedMessage",
    "ToolCallCard",
    "message_bytes",
]
