"""Why a call was stopped, and what is not known about one that was not (decision table C)."""

from datetime import datetime

from silas.errors import ToolError
from silas.tools.models import PreviewResult, RiskLevel, ValidatedCall
from silas.tools.pending_call import PendingCall

OUTSIDE_PLAN = "E_APPROVAL_OUTSIDE_PLAN"
"""The code of a verdict on a call that the plan's grants leave out, and that neither the owner nor
the plan asked for: nobody is asked about it."""


class ScopeViolation(ToolError):
    """The context does not grant a scope the tool needs; never retried."""


class ApprovalRequired(ToolError):
    """The call needs an approval that covers exactly these arguments."""

    def __init__(self, message: str, asked: PendingCall, **ids: str) -> None:
        super().__init__(message, code="E_TOOL_APPROVAL_REQUIRED", **ids)
        self.asked = asked

    @property
    def call(self) -> ValidatedCall:
        """The call as the gates left it."""
        return self.asked.call

    @property
    def risk(self) -> RiskLevel:
        """How risky it is."""
        return self.asked.risk


class PreviewRequired(ToolError):
    """The autonomy level only suggests; here is what would have been done."""

    def __init__(self, message: str, preview: PreviewResult | None, **ids: str) -> None:
        super().__init__(message, code="E_TOOL_PREVIEW", **ids)
        self.preview = preview


class HardBlocked(ToolError):
    """The call may not happen, approved or not."""


class ToolUnavailable(ToolError):
    """The tool is not there or not healthy."""


class DuplicateKey(ToolError):
    """An idempotency key was reused for other arguments."""


class InvalidArguments(ToolError):
    """The arguments do not fit the tool's schema; nothing was run."""


class RateLimited(ToolError):
    """The service behind the tool refused for now; nothing was done.

    Args:
        resets_at: When it may be asked again.
    """

    def __init__(self, message: str, resets_at: datetime, **ids: str) -> None:
        super().__init__(message, code="E_TOOL_RATE_LIMITED", **ids)
        self.resets_at = resets_at


class OutcomeUnknown(ToolError):
    """The call was attempted and nobody knows whether it happened; never success (decision B4).

    Attributes:
        repeatable: The tool says that doing it twice is harmless. Otherwise the owner is asked.
    """

    def __init__(self, message: str, *, repeatable: bool, **ids: str) -> None:
        super().__init__(message, code="E_TOOL_OUTCOME_UNKNOWN", **ids)
        self.repeatable = repeatable
