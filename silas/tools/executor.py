"""The one tool door: every tool call of every agent goes through `ToolExecutor.call`.

Table C lets a plan's token satisfy CONFIRM; then `approval_always` would ask nobody inside an
approved plan. Where a gate asks, only an approval of exactly this call counts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from silas.approval import Verdict
from silas.approval.verdict_words import verdict_words
from silas.audit import Audit
from silas.clock import Clock
from silas.db import Database
from silas.errors import ApprovalError, GateError, SilasError, Stopped
from silas.gates import GateResult, GateTrigger
from silas.gates.models import GateAction
from silas.stop.sentinel import RequireRunning
from silas.tools.assessed_call import (
    AssessedCall,
    GateChecker,
    about_call,
    about_request,
    ask_reason,
    assess,
    block_reason,
    fitting_arguments,
    identify,
    ids_of,
    is_tainted,
    key_of,
    preview_of,
    secrets_in_reach,
    strictest_ruling,
)
from silas.tools.attempt import Attempts
from silas.tools.models import (
    Decision,
    ToolCallContext,
    ToolResult,
    ValidatedCall,
)
from silas.tools.outcomes import OutcomeStore, is_flapping, is_storming
from silas.tools.pending_call import AskReason, PendingCall
from silas.tools.policy import (
    LOOKED_AT,
    STRICTNESS,
    CallRuling,
    ToolPolicyConfig,
    decide,
    in_quiet_hours,
)
from silas.tools.port import RegisteredTool
from silas.tools.refusals import (
    OUTSIDE_PLAN,
    ApprovalRequired,
    HardBlocked,
    InvalidArguments,
    PreviewRequired,
    ScopeViolation,
    ToolUnavailable,
)
from silas.tools.registry import ToolRegistry, is_usable

ErrorT = TypeVar("ErrorT", bound=SilasError)


class ToolExecutor:
    """The tool door.

    Args:
        registry: Every tool there is.
        gates: Evaluates the gates that the context carries.
        audit: Every stop and every attempt is written here, digests only.
        outcomes: The journal of attempts; joins the transaction that the door opens.
        clock: For quiet hours, the cooldown and health.
        db: The database of `audit` and `outcomes`.
        config: The numbers of the policy.
        require_running: Raises `Stopped` while the emergency stop is in force.
        scrub: What is done to text that is about to reach a model, before and after the door
            cleans it: takes out what only the whole knows, such as secrets. Total, idempotent.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        gates: GateChecker,
        *,
        audit: Audit,
        outcomes: OutcomeStore,
        clock: Clock,
        db: Database,
        config: ToolPolicyConfig,
        require_running: RequireRunning,
        scrub: Callable[[str], str],
    ) -> None:
        self._registry = registry
        self._require_running = require_running
        self._gates = gates
        self._audit = audit
        self._outcomes = outcomes
        self._clock = clock
        self._config = config
        self._attempts = Attempts(
            registry, audit=audit, outcomes=outcomes, clock=clock, db=db, scrub=scrub
        )

    async def call(
        self, tool_name: str, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Do one tool call, or stop it at the first of ten steps that says no.

        Before step 1, and again before step 9, the emergency stop is asked: steps wait for people.

        1. The tool is registered and its health allows a try.
        2. The arguments fit its schema.
        3. Every scope it needs is granted.
        4. Its risk is assessed: base, then adjusters.
        5. Policy gates may block, ask, or rewrite arguments, which are then validated and rated
           again.
        6. The decision: strictest of overrides, matrix, toolset, gates, worker and run policy, and
           of where the arguments come from (decision B9).
        7. Authority: a verified approval covers exactly these validated arguments. Asked for on
           CONFIRM, and always by tools that change state.
        8. A call that was already made returns its recorded outcome.
        9. The attempt is recorded together with its audit entry, then the tool is called, with the
           bytes that were hashed.
        10. The outcome is recorded, its text scrubbed, its taint kept, health updated.

        Every step that stops the call writes its audit event before it raises.

        Returns:
            What the tool did; `ok` is false where the tool ran and failed.

        Raises:
            Stopped: Silas is stopped, or its record was changed and the call needs an approval;
                nothing ran.
            ToolUnavailable, InvalidArguments, ScopeViolation, HardBlocked, PreviewRequired,
            ApprovalRequired, DuplicateKey: Nothing ran.
            SandboxUnavailable, RateLimited: Nothing ran; recorded as failed.
            OutcomeUnknown, SandboxError: It was attempted; nobody knows whether it happened.
            DatabaseError: The journal or the audit could not be written. Before the attempt,
                nothing ran; after it, the journal shows the attempt as unknown.
        """
        await self._refuse_when_stopped(tool_name, action, request, context)
        tool = await self._find_tool(tool_name, action, request, context)  # 1
        args = await self._validate_arguments(tool, action, request, context)  # 2
        await self._check_scope(tool, action, args, context)  # 3
        assessed = self._assess_call(tool, action, args)  # 4
        gate, assessed = await self._run_gates(assessed, context)  # 5
        ruling = await self._decide_call(assessed, gate, context)  # 6
        context = await self._authorise_call(assessed, ruling, context)  # 7
        key = key_of(assessed.call, context)
        recorded = await self._attempts.find_outcome(key, assessed, context)  # 8
        if recorded is not None:
            return recorded
        await self._refuse_when_stopped(tool_name, action, request, context)
        return await self._attempts.make_call(key, assessed, context)  # 9 and 10

    def foresee(
        self, tool_name: str, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PendingCall:
        """What `asks_first` asks about, as it is before any gate; never for authority.

        Raises:
            ToolUnavailable: There is no such tool.
            InvalidArguments: The arguments do not fit.
        """
        tool = self._registry.get(tool_name)
        if tool is None:
            raise ToolUnavailable(f"There is no tool named {tool_name!r}.", code="E_TOOL_UNKNOWN")
        assessed = self._assess_ahead(tool, action, request)
        ruling = strictest_ruling(Decision.ALLOW, assessed, context)
        by_worker = ruling.source == AskReason.worker_policy
        reason = AskReason.worker_policy if by_worker else AskReason.toolset
        return PendingCall(assessed.call, assessed.risk, reason)

    def asks_first(
        self, tool_name: str, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> bool:
        """Whether the toolset or the worker's policy wants a question before anything else.

        Pure and cheap, for PydanticAI's approval wrapper, which pauses and never authorises. False
        where the call cannot run anyhow: the door then says why.
        """
        tool = self._registry.get(tool_name)
        try:
            assessed = None if tool is None else self._assess_ahead(tool, action, request)
        except InvalidArguments:
            return False
        if assessed is None:
            return False
        matrix = decide(context.autonomy_level, assessed.risk)
        if STRICTNESS[matrix] > STRICTNESS[Decision.CONFIRM]:
            return False
        return strictest_ruling(Decision.ALLOW, assessed, context).decision is Decision.CONFIRM

    def _assess_ahead(self, tool: RegisteredTool, action: str, request: object) -> AssessedCall:
        return self._assess_call(tool, action, fitting_arguments(tool, action, request))

    async def record_decline(self, call: ValidatedCall, context: ToolCallContext) -> None:
        """Record that the owner said no to a call."""
        await self._audit.log("gate.denied", **about_call(call, context), source="owner")

    async def _refuse_when_stopped(
        self, tool_name: str, action: str, request: object, context: ToolCallContext
    ) -> None:
        try:
            self._require_running()
        except Stopped as error:
            identify(error, context)
            facts = about_request(tool_name, action, request, context)
            raise await self._record_error(error, "gate.stopped", facts) from None

    # 1 -------------------------------------------------------------------------------------------
    async def _find_tool(
        self, tool_name: str, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> RegisteredTool:
        tool = self._registry.get(tool_name)
        if tool is not None and is_usable(tool.health, self._clock.now()):
            return tool
        why, code = (
            (f"There is no tool named {tool_name!r}.", "E_TOOL_UNKNOWN")
            if tool is None
            else (
                f"The tool {tool_name!r} is unavailable just now; do without it or try later.",
                "E_TOOL_UNAVAILABLE",
            )
        )
        absent = ToolUnavailable(why, code=code, **ids_of(context))
        facts = about_request(tool_name, action, request, context)
        raise await self._record_error(absent, "tool_call.failed", facts)

    # 2 -------------------------------------------------------------------------------------------
    async def _validate_arguments(
        self, tool: RegisteredTool, action: str, request: object, context: ToolCallContext
    ) -> dict[str, Any]:
        try:
            return fitting_arguments(tool, action, request)
        except InvalidArguments as error:
            facts = about_request(tool.tool_name, action, request, context)
            identify(error, context)
            raise await self._record_error(error, "tool_call.failed", facts) from error.__cause__

    # 3 -------------------------------------------------------------------------------------------
    async def _check_scope(
        self, tool: RegisteredTool, action: str, args: dict[str, Any], context: ToolCallContext
    ) -> None:
        missing = sorted(set(tool.scopes) - context.granted_scopes)
        if missing:
            error = ScopeViolation(
                f"The tool {tool.tool_name!r} needs the scope {missing[0]!r}, which this work was "
                "not given.",
                code="E_TOOL_SCOPE",
                **ids_of(context),
            )
            facts = about_request(tool.tool_name, action, args, context)
            raise await self._record_error(error, "scope.violation", {**facts, "missing": missing})

    # 4 -------------------------------------------------------------------------------------------
    def _assess_call(self, tool: RegisteredTool, action: str, args: dict[str, Any]) -> AssessedCall:
        quiet = in_quiet_hours(self._config, self._clock.now())
        return assess(tool, action, args, self._config.blast_limit, quiet_hours=quiet)

    # 5 -------------------------------------------------------------------------------------------
    async def _run_gates(
        self, assessed: AssessedCall, context: ToolCallContext
    ) -> tuple[GateAction, AssessedCall]:
        tool, call = assessed.tool, assessed.call
        given = {"tool_name": call.tool_name, "tool_args": json.loads(assessed.canonical)}
        try:
            policy, quality, merged = await self._gates.check_gates(
                context.gates, GateTrigger.on_tool_call, given
            )
        except GateError as error:
            blocked = HardBlocked(
                "The gates could not be evaluated, so the call was blocked.",
                code="E_TOOL_GATE_FAILED",
                **ids_of(context),
            )
            raise await self._record_error(
                blocked, "gate.denied", about_call(call, context)
            ) from error
        await self._observe(quality, call, context)
        blocks = [result for result in policy if result.action == "block"]
        if blocks:
            stopped = HardBlocked(
                f"The gate {blocks[0].gate_name!r} blocked this call: {blocks[0].reason}",
                code="E_TOOL_GATE_BLOCKED",
                **ids_of(context),
            )
            facts = {**about_call(call, context), "source": "gate", "gate": blocks[0].gate_name}
            raise await self._record_error(stopped, "gate.denied", facts)
        rewritten = merged.get("tool_args")
        if rewritten != given["tool_args"]:
            args = await self._validate_arguments(tool, call.action, rewritten, context)
            assessed = self._assess_call(tool, call.action, args)
        asks = any(result.action != "continue" for result in policy)
        return ("require_approval" if asks else "continue"), assessed

    async def _observe(
        self, quality: Sequence[GateResult], call: ValidatedCall, context: ToolCallContext
    ) -> None:
        for result in quality:
            await self._audit.log(
                "quality_gate_tool_call",
                **about_call(call, context),
                gate=result.gate_name,
                score=result.score,
                flags=list(result.flags),
            )

    # 6 -------------------------------------------------------------------------------------------
    async def _decide_call(
        self, assessed: AssessedCall, gate: GateAction, context: ToolCallContext
    ) -> CallRuling:
        call, facts = assessed.call, assessed.facts
        now, limits = self._clock.now(), self._config
        antiflap = is_flapping(self._outcomes, call, facts, now, limits.cooldown_seconds)
        storm = is_storming(self._outcomes, facts, now, limits.outbound_per_hour)
        matrix = decide(
            context.autonomy_level,
            assessed.risk,
            secrets=secrets_in_reach(assessed.tool, context),
            quiet_hours=facts.quiet_hours,
            antiflap=antiflap,
            storm=storm,
        )
        ruling = strictest_ruling(
            matrix, assessed, context, gate=gate, tainted=is_tainted(assessed, context)
        )
        risk = assessed.risk.value
        about = {**about_call(call, context), "risk": risk, "source": ruling.source}
        if ruling.decision is Decision.HARD_BLOCK:
            event, why = block_reason(ruling, antiflap=antiflap, storm=storm)
            error = HardBlocked(why, code="E_TOOL_HARD_BLOCKED", **ids_of(context))
            raise await self._record_error(error, event, about)
        if ruling.decision is Decision.PREVIEW:
            raise await self._preview_error(assessed, context, about)
        return ruling

    async def _preview_error(
        self, assessed: AssessedCall, context: ToolCallContext, about: Mapping[str, Any]
    ) -> PreviewRequired:
        call = assessed.call
        error = PreviewRequired(
            f"Silas may only suggest at this autonomy level; {call.tool_name!r} was not run.",
            await preview_of(assessed, context),
            **ids_of(context),
        )
        return await self._record_error(error, "gate.preview", about)

    # 7 -------------------------------------------------------------------------------------------
    async def _authorise_call(
        self, assessed: AssessedCall, ruling: CallRuling, context: ToolCallContext
    ) -> ToolCallContext:
        call = assessed.call
        risk = assessed.risk.value
        about = {**about_call(call, context), "risk": risk, "source": ruling.source}
        if ruling.decision is Decision.ALLOW and not assessed.tool.tool.requires_authority:
            await self._audit.log("gate.allowed", **about)
            return context
        try:
            self._audit.require_whole()
        except Stopped as error:
            identify(error, context)
            raise await self._record_error(error, "gate.stopped", about) from None
        # Who asks so wants a person to look at this call; a plan approved before is no look.
        covered = context.authorise_alone if ruling.source in LOOKED_AT else context.authorise
        try:
            verdict = await covered(call)
        except ApprovalError as error:
            verdict = Verdict(False, error.message, error.code)
        if verdict.code == OUTSIDE_PLAN:
            refused = HardBlocked(
                verdict_words(verdict), code="E_TOOL_OUTSIDE_PLAN", **ids_of(context)
            )
            raise await self._record_error(refused, "gate.denied", {**about, "why": verdict.code})
        if not verdict:
            needed = ApprovalRequired(
                f"The call of {call.tool_name!r} needs an approval of exactly these arguments: "
                f"{verdict_words(verdict)}",
                PendingCall(
                    call, assessed.risk, ask_reason(ruling, assessed, context, verdict.code)
                ),
                **ids_of(context),
            )
            raise await self._record_error(needed, "gate.required", {**about, "why": verdict.code})
        await self._audit.log("gate.approved", **about)
        # The journal counts a grant's uses by this step, also after a restart.
        return context.model_copy(update={"step_id": verdict.use}) if verdict.use else context

    async def _record_error(self, error: ErrorT, event: str, about: Mapping[str, Any]) -> ErrorT:
        """Write the event that explains a stop, then hand the error back to be raised."""
        await self._audit.log(event, **{**about, "code": error.code})
        return error
