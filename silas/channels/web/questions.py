"""Questions as a page gets them: every card with its own fields of spec 8.1.

Every question carries the whole card (spec 0.5.3), so that one page component shows them all; the
fields beside it are those that section 8.1 names.
"""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from silas.types import FrozenModel


class CardAction(FrozenModel):
    """One choice: what happens, and how it is drawn."""

    label: str
    value: Any
    role: Literal["recommended", "alternative", "decline"]


class CardDetail(FrozenModel):
    """One expandable part: a heading and plain lines; `open` ones are shown without a tap."""

    heading: str
    lines: tuple[str, ...]
    open: bool = False


class CardFace(FrozenModel):
    """The anatomy every card shares. The page draws nothing that is not in here."""

    intent: str
    risk_level: Literal["low", "medium", "high", "irreversible"]
    rationale: str
    affected: str = ""
    effect: str = ""
    actions: tuple[CardAction, ...]
    details: tuple[CardDetail, ...] = ()


class _Question(FrozenModel):
    """A card that waits for an answer.

    Attributes:
        request_id: Names it in the answer.
        digest: Hex SHA-256 of the canonical JSON of this event without `digest`, `asked_at`,
            `expires_at`: what a device signs together with the answer.
        asked_at, expires_at: After `expires_at` the safe answer stands.
    """

    request_id: str
    card: CardFace
    digest: str = ""
    asked_at: AwareDatetime
    expires_at: AwareDatetime


class ApprovalRequest(_Question):
    """A plan to approve."""

    type: Literal["approval_request"] = "approval_request"
    work_item_id: str
    plan_hash: str
    title: str
    body: str
    budget: tuple[str, ...]
    verify: tuple[str, ...]


class GateApproval(_Question):
    """A gate that asks whether to go on."""

    type: Literal["gate_approval"] = "gate_approval"
    gate_name: str
    value: str | float | None = None
    context: str = ""


class ToolCallRequest(_Question):
    """One call that no approved plan covers."""

    type: Literal["tool_call"] = "tool_call"
    tool_name: str
    call_digest: str
    asked_by: str = ""


class HeldRequest(_Question):
    """Verified changes that need the owner's word before any of them is applied."""

    type: Literal["held_changes"] = "held_changes"
    work_item_id: str
    changes_digest: str


class CheckpointQuestion(_Question):
    """A pause with choices."""

    type: Literal["checkpoint"] = "checkpoint"
    message: str
    options: tuple[CardAction, ...]


class BatchReview(_Question):
    """Several alike items to approve together."""

    type: Literal["batch_review"] = "batch_review"
    batch: dict[str, Any]


class DraftReview(_Question):
    """A draft to send, change or drop."""

    type: Literal["draft_review"] = "draft_review"
    context: str
    draft: str
    metadata: dict[str, Any] = Field(default_factory=dict)


class DecisionQuestion(_Question):
    """A question with options."""

    type: Literal["decision"] = "decision"
    question: str
    options: tuple[CardAction, ...]
    allow_freetext: bool = False


class Suggestion(_Question):
    """Something Silas proposes to do next."""

    type: Literal["suggestion"] = "suggestion"
    suggestion: dict[str, Any]


class AutonomyThresholdReview(_Question):
    """A change of what Silas may do without asking."""

    type: Literal["autonomy_threshold_review"] = "autonomy_threshold_review"
    proposal: dict[str, Any]


class SecureInputRequest(_Question):
    """Asks for a secret, which goes to `POST /secrets/{ref_id}` and never over this connection."""

    type: Literal["secure_input_request"] = "secure_input_request"
    ref_id: str
    label: str
    input_hint: str | None = None
    guidance: dict[str, Any] = Field(default_factory=dict)


class ConnectionSetupStep(_Question):
    """A step of setting up a connection."""

    type: Literal["connection_setup_step"] = "connection_setup_step"
    step_type: str
    step: dict[str, Any] = Field(default_factory=dict)


class PermissionEscalation(_Question):
    """A connection asks for more permissions."""

    type: Literal["permission_escalation"] = "permission_escalation"
    connection_name: str
    current_permissions: tuple[str, ...]
    requested_permissions: tuple[str, ...]
    reason: str
    risk_level: Literal["low", "medium", "high", "irreversible"]


class ConnectionFailure(_Question):
    """A connection failed; its ways out, always with a skip."""

    type: Literal["connection_failure"] = "connection_failure"
    failure_type: str
    service: str
    message: str
    recovery_options: tuple[CardAction, ...]


CardEvent = Annotated[
    ApprovalRequest
    | GateApproval
    | ToolCallRequest
    | HeldRequest
    | CheckpointQuestion
    | BatchReview
    | DraftReview
    | DecisionQuestion
    | Suggestion
    | AutonomyThresholdReview
    | SecureInputRequest
    | ConnectionSetupStep
    | PermissionEscalation
    | ConnectionFailure,
    Field(discriminator="type"),
]
"""Every question."""
