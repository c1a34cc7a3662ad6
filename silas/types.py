"""Vocabulary shared by every domain: trust, risk, interaction, identifiers."""

import base64
import secrets
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer, PlainValidator


class FrozenModel(BaseModel):
    """Base of every value that must not change after it was made; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


OWNER = "owner"
"""The scope and connection of the single owner (spec 5.1)."""


def address_of(scope_id: str, conversation: str) -> str:
    """Where a conversation takes place: a scope, and which of its conversations.

    The first conversation of a scope has no name of its own, and its address is the scope's id.
    """
    return f"{scope_id}/{conversation}" if conversation else scope_id


def whose(address: str) -> str:
    """The scope of an address; only the owner has more than one conversation."""
    return OWNER if address.startswith(f"{OWNER}/") else address


def conversation_at(address: str) -> str:
    """Which conversation an address names; empty for the first one of its scope."""
    return address.removeprefix(f"{OWNER}/") if address.startswith(f"{OWNER}/") else ""


SOURCE_BOUNDARIES = " /?#:@"
"""What may follow a source of which only the beginning is named, as in `tool:web_fetch URL`."""


class TaintLevel(StrEnum):
    """Where content came from (spec 3.1). Anything unlisted is `external`."""

    owner = "owner"
    """Signed by the owner's key."""
    auth = "auth"
    """From a known channel identity, not signed."""
    external = "external"
    """Unknown source, untrusted."""


_TAINT_ORDER = {TaintLevel.owner: 0, TaintLevel.auth: 1, TaintLevel.external: 2}


def join_taint(levels: Iterable[TaintLevel]) -> TaintLevel:
    """The least trusted of several origins; of none, `external`: unknown means untrusted."""
    return max(levels, key=_TAINT_ORDER.__getitem__, default=TaintLevel.external)


class OriginKind(StrEnum):
    """What kind of place content came from (decision B9)."""

    owner = "owner"
    """A message that the owner signed."""
    plan = "plan"
    """The approved plan, word for word."""
    message = "message"
    """Somebody else's message."""
    tool = "tool"
    file = "file"
    memory = "memory"
    web = "web"
    model = "model"
    """Words that a model found; what they rest on is everything it had read."""


class Origin(FrozenModel):
    """Where a piece of content came from.

    Attributes:
        kind: What kind of place.
        name: Which one: a path, an address, a memory's id; empty where there is but one.
        tool: The tool that brought it in; empty where none did.
        call: The step of the call that brought it in; empty where none did.
        taint: How far it is trusted.
    """

    kind: OriginKind
    name: str = ""
    tool: str = ""
    call: str = ""
    taint: TaintLevel = TaintLevel.external


class Risk(StrEnum):
    """The risk a card shows, which decides its gesture (spec 0.5.2)."""

    low = "low"
    medium = "medium"
    high = "high"
    irreversible = "irreversible"


class InteractionRegister(StrEnum):
    """What kind of interaction a turn is (spec 0.5.7)."""

    exploration = "exploration"
    execution = "execution"
    review = "review"
    status = "status"


class InteractionMode(StrEnum):
    """How assertively Silas proceeds (spec 3.2)."""

    default_and_offer = "default_and_offer"
    act_and_report = "act_and_report"
    confirm_only_when_required = "confirm_only_when_required"


def _decode(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return base64.b64decode(value, validate=True)
    raise ValueError("expected bytes or a base64 string")


Base64Bytes = Annotated[
    bytes,
    PlainValidator(_decode),
    PlainSerializer(lambda raw: base64.b64encode(raw).decode("ascii"), return_type=str),
]
"""Bytes in memory, base64 text in JSON (spec 3.6)."""


def new_id(prefix: str) -> str:
    """A fresh identifier such as `task-5f0c...`."""
    return f"{prefix}-{secrets.token_hex(16)}"


def new_nonce() -> str:
    """256 bits from the operating system, as hex: single use, never guessed."""
    return secrets.token_hex(32)


def new_mark() -> str:
    """64 bits from the operating system, as hex: what a text that already exists cannot hold."""
    return secrets.token_hex(8)
