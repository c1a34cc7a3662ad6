"""Gates: one primitive for guardrails, mid-run checks, approvals and access (spec 3.4)."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from silas.types import FrozenModel


class Expectation(FrozenModel):
    """A deterministic predicate over output, exit code and files; exactly one is set (spec 3.3)."""

    exit_code: int | None = None
    equals: str | None = None
    contains: str | None = None
    regex: str | None = None
    output_lt: float | None = None
    output_gt: float | None = None
    file_exists: str | None = None
    not_empty: bool | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> "Expectation":
        given = [
            name
            for name in type(self).model_fields
            if (value := getattr(self, name)) is not None and value is not False
        ]
        if len(given) != 1:
            raise ValueError(
                "an expectation sets exactly one of " + ", ".join(type(self).model_fields)
            )
        return self


class GateType(StrEnum):
    """What kind of check a gate is."""

    numeric_range = "numeric_range"
    string_match = "string_match"
    regex = "regex"
    file_valid = "file_valid"
    approval_always = "approval_always"
    custom_check = "custom_check"


class GateLane(StrEnum):
    """Policy blocks and is deterministic; quality advises and never blocks."""

    policy = "policy"
    quality = "quality"


class GateProvider(StrEnum):
    """Who evaluates a gate."""

    guardrails_ai = "guardrails_ai"
    predicate = "predicate"
    llm = "llm"
    script = "script"
    custom = "custom"


class GateTrigger(StrEnum):
    """When a gate fires."""

    every_user_message = "every_user_message"
    every_agent_response = "every_agent_response"
    after_step = "after_step"
    on_tool_call = "on_tool_call"


class Gate(FrozenModel):
    """One gate, as configuration or a plan writes it. Field meanings: spec 3.4."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    on: GateTrigger
    after_step: int | None = None
    provider: GateProvider = GateProvider.predicate
    type: GateType = GateType.string_match
    check: str | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    extract: str | None = None
    auto_approve: dict[str, float] | None = None
    require_approval: dict[str, float] | None = None
    block: dict[str, list[float]] | None = None
    allowed_values: list[str] | None = None
    approval_values: list[str] | None = None
    on_block: str = "report"
    check_command: str | None = None
    check_expect: Expectation | None = None
    promote_to_policy: bool = False

    @property
    def lane(self) -> GateLane:
        """Quality for an `llm` gate that is not promoted, policy for everything else."""
        if self.provider is GateProvider.llm and not self.promote_to_policy:
            return GateLane.quality
        return GateLane.policy


class AccessLevel(FrozenModel):
    """A tier of tools for connections that are not the owner's (spec 3.4)."""

    description: str
    tools: list[str] = Field(default_factory=list[str])
    requires: list[str] = Field(default_factory=list[str])
    expires_after: int | None = None


GateAction = Literal["continue", "block", "require_approval"]

ALLOWED_MUTATIONS = frozenset({"response", "message", "tool_args"})
"""The only top-level context keys a gate may rewrite (spec 3.4)."""


class GateResult(FrozenModel):
    """What a gate decided. Field meanings: spec 3.4."""

    gate_name: str
    lane: GateLane
    action: GateAction
    reason: str
    value: str | float | None = None
    score: float | None = None
    flags: tuple[str, ...] = ()
    modified_context: dict[str, Any] | None = None


class EscalationAction(FrozenModel):
    """What happens when a gate blocks or verification fails (spec 3.3)."""

    action: Literal[
        "report",
        "escalate_human",
        "transfer_to_queue",
        "suppress_and_rephrase",
        "suppress_and_escalate",
        "respond",
        "spawn_task",
        "retry",
    ]
    queue: str | None = None
    message: str | None = None
    instruction: str | None = None
    max_retries: int = Field(default=2, ge=0, le=10)
    fallback: str | None = None
