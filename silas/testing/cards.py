"""One valid card of every kind, for tests of what channels show and what silence means."""

from typing import Any

from silas.cards.models import (
    Action,
    AutonomyThresholdCard,
    BatchAnswer,
    BatchReviewCard,
    Card,
    CheckpointCard,
    ConnectionFailureCard,
    ConnectionSetupCard,
    DecisionAnswer,
    DecisionCard,
    Detail,
    DraftAnswer,
    DraftReviewCard,
    GateCard,
    HeldCard,
    PermissionEscalationCard,
    PlanAnswer,
    PlanCard,
    SecureInputAnswer,
    SecureInputCard,
    SetupAnswer,
    SuggestionCard,
    ToolCallCard,
)
from silas.types import Risk


def _fields(yes: Any, no: Any, **extra: Any) -> dict[str, Any]:
    return {
        "intent": "Do the thing",
        "risk": Risk.medium,
        "rationale": "It was asked for.",
        "actions": (
            Action[Any](label="Do it now", value=yes, role="recommended"),
            Action[Any](label="Leave it", value=no, role="decline"),
        ),
        "safe": no,
        "details": (Detail(heading="More", lines=("first line", "second line")),),
        **extra,
    }


_YES, _NO = DecisionAnswer(selected_value="yes", approved=True), DecisionAnswer()
_DIGEST = "0" * 64

_EXAMPLES: dict[type[Any], dict[str, Any]] = {
    PlanCard: _fields(
        PlanAnswer(verdict="approved"),
        PlanAnswer(verdict="declined"),
        work_item_id="task-example",
        plan_hash=_DIGEST,
    ),
    GateCard: _fields("approve", "block", gate_name="budget"),
    ToolCallCard: _fields("approve", "decline", tool_name="shell_exec", call_digest=_DIGEST),
    HeldCard: _fields("apply", "keep", work_item_id="task-example", digest=_DIGEST),
    CheckpointCard: _fields("go on", "stop here"),
    BatchReviewCard: _fields(
        BatchAnswer(verdict="approve", selected_item_ids=("a",)),
        BatchAnswer(verdict="decline"),
        batch_id="batch-example",
        item_ids=("a",),
    ),
    DraftReviewCard: _fields(
        DraftAnswer(verdict="approve"), DraftAnswer(verdict="reject"), draft="Dear all"
    ),
    DecisionCard: _fields(_YES, _NO),
    SuggestionCard: _fields(_YES, _NO, suggestion_id="suggestion-example"),
    AutonomyThresholdCard: _fields("approve", "decline", proposal_id="proposal-example"),
    SecureInputCard: _fields(
        SecureInputAnswer(ref_id="ref", success=True),
        SecureInputAnswer(ref_id="ref"),
        ref_id="ref",
        label="API key",
    ),
    ConnectionSetupCard: _fields(
        SetupAnswer(step_type="device_code", action="done"),
        SetupAnswer(step_type="device_code", action="cancel"),
        step_type="device_code",
    ),
    PermissionEscalationCard: _fields(
        DecisionAnswer(selected_value="approve", approved=True),
        _NO,
        connection_name="mail",
        current=("read",),
        requested=("write",),
    ),
    ConnectionFailureCard: _fields(_YES, _NO, service="mail"),
}


def a_card(kind: type[Card[Any]], **overrides: Any) -> Card[Any]:
    """A card of this kind that is valid as it is; a test names only what it is about."""
    return kind.model_validate({**_EXAMPLES[kind], **overrides})
