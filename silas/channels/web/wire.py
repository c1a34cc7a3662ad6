"""What a browser sends over the WebSocket, as one discriminated union (spec 8.1).

Unknown fields and unknown types are refused. Nothing in here says who is speaking: that follows
from the session and from the signature, and `sender_id` is read and ignored.
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, model_validator

from silas.canonical import canonical_bytes
from silas.types import Base64Bytes, FrozenModel

MOST_CHARACTERS = 20_000
"""The longest message or edited draft."""

LONGEST_ID = 128
"""Characters of an id in a frame."""

Id = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
WireText = Annotated[str, Field(max_length=MOST_CHARACTERS)]


class Proof(FrozenModel):
    """A signature made on the owner's device (decision B7).

    Attributes:
        timestamp: When it was made; stale ones do not count.
        nonce: Single use.
        signature: Ed25519 by the device's own key. Over `message_bytes` for a message (spec 3.1),
            over `decision_bytes` for an answer to a card, over `command_bytes` for a command.
    """

    timestamp: AwareDatetime
    nonce: str = Field(min_length=16, max_length=128)
    signature: Base64Bytes


class Auth(FrozenModel):
    """The first message, within five seconds: the page's own token, which no cookie carries."""

    type: Literal["auth"]
    token: str = Field(max_length=256)
    after: int = Field(default=0, ge=0)
    """The `seq` of the last event this page has seen; later ones are sent again."""
    head: str = Field(default="", max_length=1000)
    """The newest owner-signed head of the record that this page was told; empty if none was."""
    conversation: str = Field(default="", max_length=128)
    """The conversation that the page shows; empty for the first one."""


class Message(FrozenModel):
    """Something the owner says.

    Attributes:
        id: Made by the page; a message sent again after a lost connection is taken once.
        sender_id: Ignored (spec 8.1 has it, decision B6 does not trust it).
        proof: The owner's signature; without it the message is `auth`, not `owner`.
        conversation: Where it is said, by its id; empty for the first conversation.
        replaces: The `id` of the message that was edited and is asked again with this; shown, and
            nothing else follows from it.
    """

    type: Literal["message"]
    id: Id
    text: WireText = Field(min_length=1)
    sender_id: str | None = None
    reply_to: str | None = None
    proof: Proof | None = None
    conversation: str = Field(default="", max_length=128)
    replaces: str = Field(default="", max_length=128)


class Ping(FrozenModel):
    """Asks for its acknowledgement, and nothing else: a connection may be dead and not say so."""

    type: Literal["ping"]
    id: Id


class _Response(FrozenModel):
    """An answer to a card. What may do harm counts only with a proof."""

    request_id: Id
    proof: Proof | None = None


class ApprovalResponse(_Response):
    """The answer to a plan."""

    type: Literal["approval_response"]
    verdict: Literal["approved", "declined", "edit_requested"]


class GateResponse(_Response):
    """The answer to a gate."""

    type: Literal["gate_response"]
    verdict: Literal["approve", "block"]


class ToolCallResponse(_Response):
    """The answer to one tool call."""

    type: Literal["tool_call_response"]
    verdict: Literal["approve", "decline"]


class HeldResponse(_Response):
    """The answer to changes that wait."""

    type: Literal["held_response"]
    verdict: Literal["apply", "drop", "keep"]


class CheckpointResponse(_Response):
    """The choice at a checkpoint."""

    type: Literal["checkpoint"]
    verdict: str = Field(max_length=200)


class BatchReviewResponse(_Response):
    """The answer to a batch; a selection only where the verdict is to edit it."""

    type: Literal["batch_review_response"]
    verdict: Literal["approve", "decline", "edit_selection"]
    selected_item_ids: tuple[Id, ...] = Field(default=(), max_length=1000)

    @model_validator(mode="after")
    def _selection_fits_the_verdict(self) -> "BatchReviewResponse":
        if bool(self.selected_item_ids) != (self.verdict == "edit_selection"):
            raise ValueError("selected_item_ids goes with edit_selection, and with nothing else")
        return self


class DraftReviewResponse(_Response):
    """The answer to a draft."""

    type: Literal["draft_review_response"]
    verdict: Literal["approve", "edit", "rephrase", "reject"]
    edited_text: WireText | None = None


class DecisionResponse(_Response):
    """The chosen option, with words of the owner's own where they are allowed."""

    type: Literal["decision_response"]
    selected_value: str | None = Field(default=None, max_length=200)
    freetext: WireText | None = None


class SuggestionResponse(_Response):
    """The answer to a suggestion."""

    type: Literal["suggestion_response"]
    selected_value: str | None = Field(default=None, max_length=200)
    freetext: WireText | None = None


class AutonomyThresholdResponse(_Response):
    """The answer to a change of what Silas may do unasked."""

    type: Literal["autonomy_threshold_response"]
    verdict: Literal["approve", "decline", "tighten_now"]


class SecureInputCompleted(FrozenModel):
    """The form for a secret was sent, or closed. Never the secret itself."""

    type: Literal["secure_input_completed"]
    ref_id: Id
    success: bool


class ConnectionSetupResponse(_Response):
    """What the owner did at a step of setting up a connection."""

    type: Literal["connection_setup_response"]
    step_type: str = Field(max_length=64)
    action: Literal["done", "cancel", "trouble", "retry"]


class PermissionEscalationResponse(_Response):
    """The answer to a connection that asks for more."""

    type: Literal["permission_escalation_response"]
    verdict: Literal["approve", "just_this_once", "deny"]


class ConnectionFailureResponse(_Response):
    """The way out of a failed connection that the owner chose."""

    type: Literal["connection_failure_response"]
    selected_action: str = Field(max_length=200)


Response = (
    ApprovalResponse
    | GateResponse
    | ToolCallResponse
    | HeldResponse
    | CheckpointResponse
    | BatchReviewResponse
    | DraftReviewResponse
    | DecisionResponse
    | SuggestionResponse
    | AutonomyThresholdResponse
    | ConnectionSetupResponse
    | PermissionEscalationResponse
    | ConnectionFailureResponse
)
"""Every answer to a card that goes over the WebSocket."""

Inbound = Annotated[
    Auth | Message | Ping | Response | SecureInputCompleted, Field(discriminator="type")
]
"""Everything a browser may send."""

inbound: TypeAdapter[Inbound] = TypeAdapter(Inbound)
"""Reads one frame. Raises `pydantic.ValidationError`."""

DECISION_DOMAIN = b"silas/decision/v1\n"
COMMAND_DOMAIN = b"silas/command/v1\n"
"""What keeps a signature over one kind of bytes from counting as another."""


def decision_bytes(response: Response, digest: str) -> bytes:
    """What a device signs for an answer: the answer, and the digest of the card it was shown.

    Args:
        response: The answer; its proof gives timestamp and nonce.
        digest: Hex SHA-256 of the card as it was sent (`CardEvent.digest`).

    Raises:
        ValueError: The answer has no proof.
    """
    if response.proof is None:
        raise ValueError("an answer without a proof has no signed bytes")
    answer = response.model_dump(mode="json", exclude={"proof"})
    return DECISION_DOMAIN + canonical_bytes(
        {
            "answer": answer,
            "card": digest,
            "nonce": response.proof.nonce,
            "timestamp": response.proof.timestamp.isoformat(),
        }
    )


def command_bytes(command: str, subject: str, proof: Proof) -> bytes:
    """What a device signs for a command of its owner's, such as to undo a work item."""
    return COMMAND_DOMAIN + canonical_bytes(
        {
            "command": command,
            "subject": subject,
            "nonce": proof.nonce,
            "timestamp": proof.timestamp.isoformat(),
        }
    )
