"""What a tool is, how risky a call is, and everything a call carries (`tool-runtime.md`)."""

from collections.abc import Awaitable, Callable
from enum import IntEnum, StrEnum
from typing import Any, Protocol

from pydantic import AwareDatetime, ConfigDict, Field

from silas.approval import Verdict
from silas.errors import ToolError
from silas.gates import Gate
from silas.sandbox import SandboxFiles, SandboxLimits
from silas.types import Frozen, TaintLevel


class RiskLevel(StrEnum):
    """How much harm a call can do, rising."""

    low = "low"
    medium = "medium"
    high = "high"
    critical = "critical"


class AutonomyLevel(IntEnum):
    """How far Silas goes without asking (decision table C)."""

    A0 = 0
    """Suggest only: a ceiling, nothing runs."""
    A1 = 1
    """Confirm everything."""
    A2 = 2
    """Scoped; the default."""
    A3 = 3
    A4 = 4


class Decision(StrEnum):
    """What the matrix says about a call; ordered from lenient to strict by `policy.STRICTNESS`."""

    ALLOW = "ALLOW"
    CONFIRM = "CONFIRM"
    PREVIEW = "PREVIEW"
    HARD_BLOCK = "HARD_BLOCK"


class ProviderType(StrEnum):
    """Where a tool comes from."""

    native = "native"
    mcp = "mcp"


class HealthStatus(StrEnum):
    """Whether a tool can be used now."""

    healthy = "healthy"
    degraded = "degraded"
    unavailable = "unavailable"


class ToolHealth(Frozen):
    """A tool's recent luck."""

    status: HealthStatus = HealthStatus.healthy
    last_success_at: AwareDatetime | None = None
    last_error: str | None = None
    consecutive_errors: int = 0
    rate_limit_resets_at: AwareDatetime | None = None


class ToolConfig(Frozen):
    """What the registry is told about a tool that the tool does not say itself."""

    connector_id: str
    risk_default: RiskLevel
    risk_map: dict[str, RiskLevel] = Field(default_factory=dict[str, RiskLevel])
    provider_type: ProviderType = ProviderType.native
    config_ref: str = ""


class PreviewResult(Frozen):
    """What a call would do, in words."""

    summary: str
    details: dict[str, Any] = Field(default_factory=dict)


class ToolResult(Frozen):
    """What a call did. `metadata` is for the audit and never reaches a model (spec 3.7)."""

    ok: bool
    return_value: str = ""
    content: tuple[dict[str, Any], ...] = ()
    artifacts: dict[str, str] = Field(default_factory=dict[str, str])
    metadata: dict[str, Any] = Field(default_factory=dict)
    taint: TaintLevel = TaintLevel.external
    error: str | None = None
    duration_seconds: float = 0.0
    deduped: bool = False


class ValidatedCall(Frozen):
    """A call whose arguments passed the tool's schema and the policy gates: about to run."""

    tool_name: str
    action: str
    args: dict[str, Any]
    digest: str
    """Hex SHA-256 over the canonical tool name, action and arguments."""


Authorise = Callable[[ValidatedCall], Awaitable[Verdict]]
"""Says whether a signed approval covers exactly this call; given by whoever holds the approval."""


class ToolCallContext(Frozen):
    """The only carrier of cross-cutting facts; a tool reads nothing else (`tool-runtime.md`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    trace_id: str
    task_id: str
    step_id: str
    idempotency_key: str
    autonomy_level: AutonomyLevel
    granted_scopes: frozenset[str]
    scope_id: str = "owner"
    worker: str = ""
    gates: tuple[Gate, ...] = ()
    authorise: Authorise
    files: SandboxFiles
    limits: SandboxLimits


class BaseTool(Protocol):
    """An adapter the tool door can call. Only the tool door calls it."""

    @property
    def tool_name(self) -> str:
        """The name a model calls."""
        ...

    @property
    def description(self) -> str:
        """What it does, for the model."""
        ...

    @property
    def capabilities(self) -> list[str]:
        """Roles it is offered to: `proxy`, `planner`, `executor`."""
        ...

    @property
    def scopes_required(self) -> list[str]:
        """Scopes a call needs, for example `sandbox.execute`."""
        ...

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments; extra arguments are refused."""
        ...

    @property
    def idempotent(self) -> bool:
        """Whether repeating an unfinished call is harmless."""
        ...

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The canonical, validated arguments; `ValueError` with one sentence otherwise."""
        ...

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Do it, with validated arguments."""
        ...

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """What it would do; None where the tool cannot say."""
        ...


class ScopeViolation(ToolError):
    """The context does not grant a scope the tool needs; never retried."""


class ApprovalRequired(ToolError):
    """The call needs an approval that covers exactly these arguments."""

    def __init__(self, message: str, call: ValidatedCall, risk: RiskLevel, **ids: str) -> None:
        super().__init__(message, code="E_TOOL_APPROVAL_REQUIRED", **ids)
        self.call = call
        self.risk = risk


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
