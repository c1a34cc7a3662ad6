"""A call on its way through the tool door, and the pure steps that turn a request into one.

The idempotency key is derived from task, step, tool, action and validated arguments, with the
run's own random trace: call ids are a model's to choose, and the same plan may run twice.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from pydantic import ValidationError

from silas.canonical import canonical_json, digest
from silas.errors import SilasError, misfits
from silas.gates import Gate, GateResult, GateTrigger
from silas.gates.models import GateAction
from silas.tools.models import (
    CallFacts,
    Decision,
    PreviewResult,
    RiskLevel,
    Stance,
    ToolCallContext,
    ValidatedCall,
    validated_call,
)
from silas.tools.outcomes import idempotency_key
from silas.tools.pending_call import AskReason
from silas.tools.policy import LOOKED_AT, CallRuling, assess_risk, decide, holds_secrets, strictest
from silas.tools.port import RegisteredTool
from silas.tools.refusals import (
    InvalidArguments,
)
from silas.tools.taint import has_effect, must_ask


class GateChecker(Protocol):
    """What the tool door needs of the gates: `silas.gates.GateRunner` is one."""

    async def check_gates(
        self, gates: Sequence[Gate], trigger: GateTrigger, context: dict[str, Any]
    ) -> tuple[Sequence[GateResult], Sequence[GateResult], dict[str, Any]]:
        """Policy results, quality results, and the context with allowed rewrites merged."""
        ...


_WORST = CallFacts(broadcast=True, destructive=True, blast_radius=1)
"""What is assumed of a call whose tool cannot say what it would touch."""


class AssessedCall(NamedTuple):
    """A call with everything that was found out about it.

    Attributes:
        tool: The registered tool.
        call: The validated call and its digest.
        canonical: The arguments as the canonical JSON that was hashed; this text is what runs.
        facts: What makes it dangerous.
        risk: The assessed risk.
    """

    tool: RegisteredTool
    call: ValidatedCall
    canonical: str
    facts: CallFacts
    risk: RiskLevel

    def request(self) -> dict[str, Any]:
        """The arguments from the bytes that were hashed: nobody else holds this copy."""
        return json.loads(self.canonical)


def fitting_arguments(tool: RegisteredTool, action: str, request: object) -> dict[str, Any]:
    """The arguments as the tool's schema has them, as plain JSON values.

    Raises:
        InvalidArguments: The action is unknown, or the arguments do not fit; nothing was run.
    """
    known = tool.tool.actions
    if action not in known:
        raise InvalidArguments(
            f"The tool {tool.tool_name!r} has no action {action!r}; it has {', '.join(known)}.",
            code="E_TOOL_ACTION",
        )
    if not isinstance(request, dict):
        raise _misfit(tool, "the arguments must be an object")
    try:
        return json.loads(canonical_json(tool.tool.validate(json.loads(canonical_json(request)))))
    except ValidationError as error:  # of another's tool, which passes its library's words on
        first = misfits(error)[0]
        raise _misfit(tool, f"{first.place or 'arguments'}: {first.words}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise _misfit(tool, str(error).splitlines()[0] if str(error) else "not JSON") from error
    except Exception as error:  # a tool may be anybody's code; what it cannot read does not fit
        raise _misfit(tool, f"the tool could not read them ({type(error).__name__})") from error


def _misfit(tool: RegisteredTool, why: str) -> InvalidArguments:
    return InvalidArguments(
        f"The arguments do not fit {tool.tool_name!r}: {why}.", code="E_TOOL_ARGUMENTS"
    )


def assess(
    tool: RegisteredTool,
    action: str,
    args: dict[str, Any],
    blast_limit: int,
    *,
    quiet_hours: bool,
) -> AssessedCall:
    """Bind validated arguments to their digest and rate them."""
    try:
        told = tool.tool.facts(action, args)
    except Exception:  # a tool may be anybody's code; what it cannot say is taken as the worst
        told = _WORST
    facts = told.model_copy(update={"blast_limit": blast_limit, "quiet_hours": quiet_hours})
    call = validated_call(tool.tool_name, action, args)
    return AssessedCall(tool, call, canonical_json(args), facts, assess_risk(tool, action, facts))


def own_stance(tool: RegisteredTool, call: ValidatedCall) -> Stance:
    """The toolset's own stance; one that fails to say blocks."""
    try:
        return tool.tool.needs_approval(call.action, call.args)
    except Exception:  # a tool may be anybody's code; silence means no
        return Stance.blocked


def is_tainted(assessed: AssessedCall, context: ToolCallContext) -> bool:
    """Whether the call asks for what its arguments rest on (decision B9)."""
    if not has_effect(assessed.facts, context.files):
        return False
    return must_ask(
        assessed.facts,
        context.provenance.derive(assessed.call.tool_name, assessed.call.args),
    )


def strictest_ruling(
    matrix: Decision,
    assessed: AssessedCall,
    context: ToolCallContext,
    *,
    gate: GateAction = "continue",
    tainted: bool = False,
) -> CallRuling:
    """The strictest of everybody's opinion on a call (table C)."""
    return strictest(
        matrix,
        toolset=own_stance(assessed.tool, assessed.call),
        gate=gate,
        worker=context.worker_policy.stance(assessed.call),
        run=context.run_policy.mode,
        pre_approved=assessed.tool.pre_approved,
        tainted=tainted,
    )


def secrets_in_reach(tool: RegisteredTool, context: ToolCallContext) -> bool:
    """Whether a scope of the tool or of the work is on secrets."""
    return holds_secrets((*tool.scopes, *context.granted_scopes))


def ask_reason(
    ruling: CallRuling, assessed: AssessedCall, context: ToolCallContext, code: str
) -> AskReason:
    """What decided that a call asks: without it the call would not have asked.

    Args:
        code: Why no approval answered the question, as the authority says it (`Verdict.code`).
    """
    if ruling.source in LOOKED_AT:
        return AskReason(ruling.source)
    if code != "E_APPROVAL_NOT_COVERED":
        return AskReason.approval
    if assessed.tool.tool.requires_authority:
        return AskReason.plan
    return _matrix_reason(assessed, context) if ruling.source == "matrix" else AskReason.toolset


def _matrix_reason(assessed: AssessedCall, context: ToolCallContext) -> AskReason:
    """Which floor of `decide` asks; quiet hours only where the same call is free at other times."""
    by_day = assessed.facts.model_copy(update={"quiet_hours": False})
    risk = assess_risk(assessed.tool, assessed.call.action, by_day)
    if decide(context.autonomy_level, risk) is not Decision.ALLOW:
        return AskReason.risk
    secrets = secrets_in_reach(assessed.tool, context)
    return AskReason.secrets if secrets else AskReason.quiet_hours


async def preview_of(assessed: AssessedCall, context: ToolCallContext) -> PreviewResult | None:
    """What the call would do, or None where the tool cannot say."""
    if not assessed.tool.supports_preview:
        return None
    try:
        return await assessed.tool.tool.preview(assessed.call.action, assessed.request(), context)
    except Exception:  # a tool may be anybody's code; nothing runs either way
        return None


def key_of(call: ValidatedCall, context: ToolCallContext) -> str:
    """The caller's idempotency key, or the derived one where the caller gives none."""
    if context.idempotency_key:
        return context.idempotency_key
    action = f"{call.tool_name}.{call.action}"
    return idempotency_key(context.task_id, context.step_id, action, call.args)


def ids_of(context: ToolCallContext) -> dict[str, str]:
    """Correlation ids for an error."""
    return {
        "turn_id": context.trace_id,
        "work_item_id": context.task_id,
        "scope_id": context.scope_id,
    }


def identify(error: SilasError, context: ToolCallContext) -> None:
    """Give an error that was made where nobody knows the call its correlation ids."""
    for name, value in ids_of(context).items():
        setattr(error, name, value)


def about_call(call: ValidatedCall, context: ToolCallContext) -> dict[str, Any]:
    """What an audit event says about a validated call: its digest, never its payload."""
    return _about(call.tool_name, call.action, call.digest, context)


def about_request(
    tool_name: str, action: str, request: object, context: ToolCallContext
) -> dict[str, Any]:
    """What an audit event says about arguments that were not validated yet."""
    try:
        bound = digest({"tool": tool_name, "action": action, "args": request})
    except (TypeError, ValueError, RecursionError):
        bound = ""  # not JSON, so there are no canonical bytes to take a digest of
    return _about(tool_name, action, bound, context)


def _about(name: str, action: str, bound: str, context: ToolCallContext) -> dict[str, Any]:
    return {
        "tool": name,
        "action": action,
        "digest": bound,
        "task": context.task_id,
        "step": context.step_id,
        "trace": context.trace_id,
        "scope": context.scope_id,
        "worker": context.worker,
    }


def block_reason(ruling: CallRuling, *, antiflap: bool, storm: bool) -> tuple[str, str]:
    """The audit event of a blocked call, and the sentence for the agent."""
    rules = (
        (
            ruling.source not in ("matrix",),
            "gate.denied",
            f"The {ruling.source} forbids this call.",
        ),
        (antiflap, "gate.antiflap_block", "The same was done to the same target a moment ago."),
        (storm, "gate.storm_block", "The hourly limit of notifications is used up."),
    )
    for holds, event, why in rules:
        if holds:
            return event, why
    return "gate.hard_blocked", "This is too risky at this autonomy level, approved or not."
