"""What a tool is, how risky a call is, and everything a call carries (`tool-runtime.md`)."""

from collections.abc import Awaitable, Callable
from enum import IntEnum, StrEnum
from typing import Any, cast

from pydantic import AwareDatetime, ConfigDict, Field, SkipValidation

from silas.approval import Subject, Verdict
from silas.canonical import canonical_bytes, sha256_hex
from silas.context import ContentKind
from silas.gates import Gate
from silas.sandbox import SandboxFiles, SandboxLimits
from silas.tools.look_limits import NO_LOOKS, LookLimits
from silas.tools.provenance import Provenance
from silas.tools.shell_rules import ShellRules, ShellVerdict
from silas.types import FrozenModel, OriginKind, TaintLevel, address_of


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
    toolset = "toolset"


class HealthStatus(StrEnum):
    """Whether a tool can be used now."""

    healthy = "healthy"
    degraded = "degraded"
    unavailable = "unavailable"


class Stance(StrEnum):
    """What a toolset or a worker's policy says about one call (table C, order of power)."""

    blocked = "blocked"
    """Never, approved or not."""
    ask = "ask"
    """Only with an approval."""
    silent = "silent"
    """No opinion; others decide."""
    pre_approved = "pre_approved"
    """No approval of its own needed; never lifts anyone else's block or question."""


class RunApprovalMode(StrEnum):
    """How a run answers the questions of its toolsets."""

    prompt = "prompt"
    """Ask whoever is there; nobody there is a no."""
    approve_all = "approve_all"
    """Answer a toolset's own question with yes; the matrix, gates and workers still ask."""
    reject_all = "reject_all"
    """Answer every question with no."""


class RunApprovalPolicy(FrozenModel):
    """The approval policy of one run; carried by the call, so that it cannot leak into another."""

    mode: RunApprovalMode = RunApprovalMode.prompt


class WorkerApprovalPolicy(FrozenModel):
    """A worker's own stance per tool name; not inherited by the workers it calls.

    Attributes:
        tools: The stance on every call of a tool.
        rules: What decides about single command lines, by the name of the tool that runs them.
    """

    tools: dict[str, Stance] = Field(default_factory=dict[str, Stance])
    rules: dict[str, ShellRules] = Field(default_factory=dict[str, ShellRules])

    def stance(self, call: "ValidatedCall") -> Stance:
        """The stance on a call; `silent` where the worker says nothing.

        What a rule asks, pre-approval answers; what it blocks, or cannot read, nothing does.
        """
        said = self.tools.get(call.tool_name, Stance.silent)
        rules = self.rules.get(call.tool_name)
        if rules is None or said is Stance.blocked:
            return said
        verdict = rules.verdict(_argv(call.args))
        if verdict is ShellVerdict.blocked:
            return Stance.blocked
        if verdict is ShellVerdict.looks:
            return Stance.ask
        asks = verdict is ShellVerdict.asks and said is not Stance.pre_approved
        return Stance.ask if asks else said


def _argv(args: dict[str, Any]) -> tuple[str, ...]:
    """The words of a command; none, which every rule blocks, where it is something else."""
    words: object = args.get("argv")
    return tuple(map(str, cast(list[object], words))) if isinstance(words, list) else ()


class CallFacts(FrozenModel):
    """What makes one call more or less dangerous, told by the tool and completed by the tool door.

    Attributes:
        argv: The program and arguments a call would start; empty where none is started.
        target: Whom or what it acts on, for the cooldown; empty means it has no target.
        broadcast: It reaches a group or everyone.
        destructive: It removes or overwrites something.
        outbound: It notifies somebody outside; counted against the hourly limit.
        blast_radius: How many things it touches.
        blast_limit: More than this many is one risk step; set by the tool door.
        quiet_hours: It would happen in the quiet hours; set by the tool door.
        state_changing: It may change something outside the run's private copy; a read that changes
            state counts. True where nobody says otherwise.
        egress: It may carry its arguments out of this machine. True where nobody says otherwise.
        addressed: Its arguments choose who receives what it carries out. False for a fixed party
            that the owner configured. True where nobody says otherwise.
        contained: It acts only in the run's sandbox, so it carries something out exactly where
            the run may reach a host, which the approved plan names.
    """

    argv: tuple[str, ...] = ()
    target: str = ""
    broadcast: bool = False
    destructive: bool = False
    outbound: bool = False
    blast_radius: int = 0
    blast_limit: int = 0
    quiet_hours: bool = False
    state_changing: bool = True
    egress: bool = True
    addressed: bool = True
    contained: bool = False


CONTAINED = CallFacts(state_changing=False, egress=False, addressed=False, contained=True)
"""A call that acts only in the private copy of its run; what it carries out, the plan names."""


class ToolHealth(FrozenModel):
    """A tool's recent luck. `retry_at`: when an unavailable tool may be tried once more."""

    status: HealthStatus = HealthStatus.healthy
    last_success_at: AwareDatetime | None = None
    last_error: str | None = None
    consecutive_errors: int = 0
    rate_limit_resets_at: AwareDatetime | None = None
    retry_at: AwareDatetime | None = None


class ToolConfig(FrozenModel):
    """What the registry is told about a tool that the tool does not say itself.

    `blocked` is the owner's word that no call of it runs, as the tool itself then says, too.
    `result_taint` is the owner's word on what the tool brings in; a result is never trusted more,
    whatever the tool says. `content` is the owner's word on how its text is cleaned (D87).
    """

    connector_id: str
    risk_default: RiskLevel
    risk_map: dict[str, RiskLevel] = Field(default_factory=dict[str, RiskLevel])
    provider_type: ProviderType = ProviderType.native
    config_ref: str = ""
    pre_approved: bool = False
    blocked: bool = False
    result_taint: TaintLevel = TaintLevel.external
    content: ContentKind = ContentKind.prose


class PreviewResult(FrozenModel):
    """What a call would do, in words."""

    summary: str
    details: dict[str, Any] = Field(default_factory=dict)


class ValidatedCall(FrozenModel):
    """A call whose arguments passed the tool's schema and the policy gates: about to run."""

    tool_name: str
    action: str
    args: dict[str, Any]
    digest: str
    """Hex SHA-256 over the canonical tool name, action and arguments."""


class ToolResult(FrozenModel):
    """What a call did. `metadata` is for the audit and never reaches a model (spec 3.7).

    `ran` is the call as it ran, set by the tool door: gates may have rewritten what was asked.
    `source` and `origin` say where exactly the content comes from, for a tool that knows it: a web
    address, a path. Neither makes it more trusted.
    """

    ok: bool
    return_value: str = ""
    content: tuple[dict[str, Any], ...] = ()
    artifacts: dict[str, str] = Field(default_factory=dict[str, str])
    metadata: dict[str, Any] = Field(default_factory=dict)
    taint: TaintLevel = TaintLevel.external
    source: str = ""
    origin: OriginKind = OriginKind.tool
    error: str | None = None
    duration_seconds: float = 0.0
    deduped: bool = False
    ran: ValidatedCall | None = None


def validated_call(tool_name: str, action: str, args: dict[str, Any]) -> ValidatedCall:
    """Bind validated arguments to their digest.

    Raises:
        ValueError, TypeError: The arguments are not JSON.
    """
    bound = sha256_hex(call_bytes(tool_name, action, args))
    return ValidatedCall(tool_name=tool_name, action=action, args=args, digest=bound)


def call_bytes(tool_name: str, action: str, args: dict[str, Any]) -> bytes:
    """The canonical bytes that a call's digest is of.

    Raises:
        ValueError, TypeError: The arguments are not JSON.
    """
    return canonical_bytes({"tool": tool_name, "action": action, "args": args})


def call_subject(call: ValidatedCall, task_id: str) -> Subject:
    """What a token for this one call binds to: these arguments, in this task (spec 3.6)."""
    return Subject(
        id=task_id,
        kind="tool_call",
        digest=call.digest,
        parent=task_id,
        canonical=call_bytes(call.tool_name, call.action, call.args),
    )


Authorise = Callable[[ValidatedCall], Awaitable[Verdict]]
"""Says whether a signed approval covers exactly this call; given by whoever holds the approval."""


class ToolCallContext(FrozenModel):
    """The only carrier of cross-cutting facts; a tool reads nothing else (`tool-runtime.md`).

    An empty `idempotency_key` lets the tool door derive it from task, step, tool, action and the
    validated arguments; `step_id` must then name this call and no other of the task.

    `authorise` accepts any approval that covers the call, a plan's included; `authorise_alone` only
    one given for this very call, for where a gate wants a person to look, or the arguments rest on
    what `provenance` does not prove to be the owner's or the plan's. `looks`: what it may see.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    trace_id: str
    task_id: str
    step_id: str
    idempotency_key: str
    autonomy_level: AutonomyLevel
    granted_scopes: frozenset[str]
    scope_id: str = "owner"
    conversation: str = ""
    worker: str = ""
    worker_policy: WorkerApprovalPolicy = Field(default_factory=WorkerApprovalPolicy)
    run_policy: RunApprovalPolicy = Field(default_factory=RunApprovalPolicy)
    gates: tuple[Gate, ...] = ()
    authorise: Authorise
    authorise_alone: Authorise
    provenance: SkipValidation[Provenance]
    files: SandboxFiles
    limits: SandboxLimits
    looks: SkipValidation[LookLimits] = NO_LOOKS

    @property
    def address(self) -> str:
        """Where it is made; of another scope it can never be a conversation of the owner's."""
        return address_of(self.scope_id, self.conversation)
