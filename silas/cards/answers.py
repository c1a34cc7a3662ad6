"""Choices on a card that comes from outside, and the bytes a device signs for a yes (4.1.1, B7)."""

import hashlib
from dataclasses import dataclass
from typing import Any

from pydantic import AwareDatetime, Field

from silas.canonical import canonical_bytes
from silas.cards.models import Card
from silas.types import Base64Bytes, FrozenModel, new_id

CHOICE_DOMAIN = b"silas/choice/v1\n"
"""Stands before what a device signs for a choice, and before nothing else that is signed."""


class ChoiceProof(FrozenModel):
    """A paired device's signature over `choice_bytes`.

    Attributes:
        timestamp: When it was made; stale ones do not count.
        nonce: Single use.
        signature: Ed25519 by the device's own key.
    """

    timestamp: AwareDatetime
    nonce: str = Field(min_length=16, max_length=128)
    signature: Base64Bytes


class CardChoice(FrozenModel):
    """One of a card's actions, chosen on a channel that is not the owner's own.

    Attributes:
        number: Its place on the card, from 1.
        proof: A device's signature; without one only a no counts.
    """

    number: int
    proof: ChoiceProof | None = None


@dataclass(frozen=True)
class ShownCard:
    """One showing of a card.

    Attributes:
        card: The card.
        digest: Hex SHA-256 of the card and of a name that this showing alone has, so that what
            was signed for one showing never answers another.
    """

    card: Card[Any]
    digest: str


def show_card(card: Card[Any]) -> ShownCard:
    """A fresh showing of a card."""
    content = {
        "card": card.model_dump(mode="json"),
        "kind": type(card).__name__,
        "showing": new_id("showing"),
    }
    return ShownCard(card, hashlib.sha256(canonical_bytes(content)).hexdigest())


def choice_bytes(digest: str, number: int, proof: ChoiceProof) -> bytes:
    """What a device signs: which action, on which showing of a card, when, and once.

    Args:
        digest: `ShownCard.digest`.
        number: `CardChoice.number`.
        proof: Gives timestamp and nonce; its signature is not looked at.
    """
    return CHOICE_DOMAIN + canonical_bytes(
        {
            "card": digest,
            "choice": number,
            "nonce": proof.nonce,
            "timestamp": proof.timestamp.isoformat(),
        }
    )
