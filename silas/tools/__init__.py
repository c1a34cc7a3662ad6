"""The one tool door: registry, policy, executor, outcome journal, the built-in tools.

The PydanticAI chain is `silas.tools.toolset`, imported by its full name because it is heavy. What
must not go in: anything that calls a tool past `ToolExecutor.call`.
"""

from silas.tools.assessed_call import GateChecker
from silas.tools.builtin.base import SANDBOX_SCOPE
from silas.tools.builtin.files import (
    FILE_TOOL_NAMES,
    FILE_TOOLS,
)
from silas.tools.builtin.python import (
    PythonTool,
)
from silas.tools.builtin.sandboxed import (
    SANDBOX_TOOL,
    SECRETS_SCOPE,
)
from silas.tools.builtin.shell import (
    ShellTool,
)
from silas.tools.executor import (
    ToolExecutor,
)
from silas.tools.models import (
    AutonomyLevel,
    CallFacts,
    Decision,
    HealthStatus,
    PreviewResult,
    RiskLevel,
    RunApprovalMode,
    RunApprovalPolicy,
    Stance,
    ToolCallContext,
    ToolConfig,
    ToolHealth,
    ToolResult,
    ValidatedCall,
    WorkerApprovalPolicy,
    call_subject,
    validated_call,
)
from silas.tools.outcomes import (
    OutcomeRecord,
    OutcomeStatus,
    OutcomeStore,
    SqlOutcomeStore,
    idempotency_key,
)
from silas.tools.policy import (
    CallRuling,
    ToolPolicyConfig,
    assess_risk,
    decide,
    strictest,
)
from silas.tools.port import BaseTool, RegisteredTool
from silas.tools.refusals import (
    ApprovalRequired,
    DuplicateKey,
    HardBlocked,
    InvalidArguments,
    OutcomeUnknown,
    PreviewRequired,
    RateLimited,
    ScopeViolation,
    ToolUnavailable,
)
from silas.tools.registry import (
    HealthOutcome,
    ToolRegistry,
    next_health,
)

__all__ = [
    "FILE_TOOLS",
    "FILE_TOOL_NAMES",
    "SANDBOX_SCOPE",
    "SANDBOX_TOOL",
    "SECRETS_SCOPE",
    "ApprovalRequired",
    "AutonomyLevel",
    "BaseTool",
    "CallFacts",
    "CallRuling",
    "Decision",
    "DuplicateKey",
    "GateChecker",
    "HardBlocked",
    "HealthOutcome",
    "HealthStatus",
    "InvalidArguments",
    "OutcomeRecord",
    "OutcomeStatus",
    "OutcomeStore",
    "OutcomeUnknown",
    "PreviewRequired",
    "PreviewResult",
    "PythonTool",
    "RateLimited",
    "RegisteredTool",
    "RiskLevel",
    "RunApprovalMode",
    "RunApprovalPolicy",
    "ScopeViolation",
    "ShellTool",
    "SqlOutcomeStore",
    "Stance",
    "ToolCallContext",
    "ToolConfig",
    "ToolExecutor",
    "ToolHealth",
    "ToolPolicyConfig",
    "ToolRegistry",
    "ToolResult",
    "ToolUnavailable",
    "ValidatedCall",
    "WorkerApprovalPolicy",
    "assess_risk",
    "call_subject",
    "decide",
    "idempotency_key",
    "next_health",
    "strictest",
    "validated_call",
]
