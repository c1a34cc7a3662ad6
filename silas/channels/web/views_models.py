"""What the cockpit shows of who answers, and answers after a change."""

from typing import Literal

from silas.types import FrozenModel


class RoleView(FrozenModel):
    """What a model does, which one it is, and its server; empty for the provider's own."""

    name: str
    model: str
    server: str


class KeyView(FrozenModel):
    """The hosted provider's key.

    Attributes:
        place: In the environment, in the key store, or nowhere.
        ref_id: Of the secret; empty elsewhere.
        checked_at: When the provider said that it knows it, in ISO 8601; empty where it never did.
        refused: The provider was asked, and does not know it.
    """

    place: Literal["environment", "stored", "none"]
    ref_id: str
    checked_at: str
    refused: bool


class AnsweringView(FrozenModel):
    """Who answers now.

    Attributes:
        provider: `runbook`, `openrouter`, `local`, or `other` where the file names other models.
        file: The configuration file, which a choice is written into.
        asks: Whether a question about another one waits.
        example: How a server's address is written.
    """

    provider: str
    roles: tuple[RoleView, ...]
    key: KeyView
    file: str
    asks: bool
    example: str = "http://127.0.0.1:8080/v1"


class OfferView(FrozenModel):
    """A model of a server on this machine."""

    name: str
    server: str
    words: str


class ChosenModels(FrozenModel):
    """What came of a choice; `asks`: the owner is asked on a card first."""

    asks: bool
    words: str
