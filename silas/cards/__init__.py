"""Questions Silas asks its owner, and the messages it exchanges: data and ports, no transport."""

from silas.cards.answers import CardChoice, ChoiceProof, ShownCard, choice_bytes
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
from silas.cards.port import CardChannel, Channel, ChoiceChannel

__all__ = [
    "Action",
    "Arrived",
    "Card",
    "CardChannel",
    "CardChoice",
    "Channel",
    "ChannelMessage",
    "ChoiceChannel",
    "ChoiceProof",
    "Detail",
    "GateCard",
    "HeldCard",
    "PlanAnswer",
    "PlanCard",
    "ShownCard",
    "SignedMessage",
    "ToolCallCard",
    "choice_bytes",
    "message_bytes",
]
