"""One task: entry check, attempts, ledger, step gates, verification from outside (spec 5.2.1)."""

import asyncio
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from silas.agents import ExecutorAgent, ModelRunFailed
from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.clock import Clock
from silas.errors import DatabaseError, LLMError, SandboxError
from silas.gates import Gate
from silas.plans import (
    BudgetTracker,
    VerificationReport,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemStore,
    format_failures,
)
from silas.sandbox import SandboxLimits
from silas.skills import Skills
from silas.tools import AutonomyLevel, ToolCallContext, ToolResult
from silas.tools.toolset import AllTools, ToolRun
from silas.types import new_id
from silas.work.authority import TaskAuthority
from silas.work.entry import refuse_entry
from silas.work.ledger import Ledger, unknown_references
from silas.work.models import Advise, AskCall, Notify, ProgressEvent
from silas.work.site import Site
from silas.work.steps import StepGates
from silas.work.undo import next_place
from silas.work.verify import VerificationRunner

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.usage import UsageLimits

_STUCK_AFTER = 3  # attempts before the planner is asked for guidance (5.2.1 e)
_REQUESTS_PER_ATTEMPT = 50  # model calls in one attempt; a loop that never ends is not work


@dataclass(frozen=True)
class TaskSettings:
    """Numbers and places that come from the configuration.

    Attributes:
        scratch: Where private workspace copies live while a task runs.
        undo: Where what a task overwrote is kept, one directory a work item.
        limits: Sandbox limits of one tool call.
        autonomy: The autonomy level of execution (decision table C).
        system_gates: `gates.system`, evaluated before the work item's own.
    """

    scratch: Path
    undo: Path
    limits: SandboxLimits
    autonomy: AutonomyLevel
    system_gates: tuple[Gate, ...]


@dataclass
class _Attempt:
    """What one pass through the loop knows."""

    ledger: Ledger
    next_steps: list[str]
    error: str | None = None
    blocked: str | None = None
    report: VerificationReport | None = None


class TaskRunner:
    """Runs approved tasks. Every dependency is a port; none may be missing."""

    def __init__(
        self,
        *,
        approval: ApprovalVerifier,
        agent: ExecutorAgent[ToolRun],
        toolset: "AbstractToolset[ToolRun]",
        steps: StepGates,
        verifier: VerificationRunner,
        advise: Advise,
        ask_call: AskCall,
        skills: Skills,
        store: WorkItemStore,
        audit: Audit,
        clock: Clock,
        settings: TaskSettings,
    ) -> None:
        self._approval = approval
        self._agent = agent
        self._toolset = toolset
        self._steps = steps
        self._verifier = verifier
        self._advise = advise
        self._ask_call = ask_call
        self._skills = skills
        self._store = store
        self._audit = audit
        self._clock = clock
        self._settings = settings

    async def run(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Execute one task to `done`, `failed`, `stuck` or `blocked`; the item is persisted."""
        # 0  approval gate: mandatory, before anything else
        refusal = await refuse_entry(item, self._approval, self._skills)
        if refusal is not None:
            await self._audit.log(
                "execution_blocked_no_approval", work_item_id=item.id, reason=refusal
            )
            return await self._finish(item, WorkItemStatus.blocked, refusal, notify)
        # 0.5  artifacts of the item this one deepens
        artifacts, missing = await self._inherited(item)
        if missing is not None:
            return await self._finish(item, WorkItemStatus.blocked, missing, notify)
        site: Site | None = None
        try:
            site = await Site.prepare(item, self._settings.scratch / item.id, artifacts)
            return await self._loop(item, site, notify)
        except (SandboxError, LLMError) as error:
            status = (
                WorkItemStatus.blocked if isinstance(error, SandboxError) else WorkItemStatus.failed
            )
            await self._audit.log("execution_failed", work_item_id=item.id, code=error.code)
            return await self._finish(item, status, str(error), notify)
        except asyncio.CancelledError:
            await self._cancelled(item)
            raise
        finally:
            if site is not None:
                await site.close()

    async def _loop(self, item: WorkItem, site: Site, notify: Notify) -> WorkItemResult:
        # 1  budget tracking: asked before every action
        tracker = BudgetTracker(item.budget, item.budget_used, self._clock)
        gates = (*self._settings.system_gates, *item.gates)
        failures, guidance = "", ""
        # 2  retry loop
        while not tracker.exhausted():
            # 2a  count the attempt before it happens
            tracker.charge(attempts=1, executor_runs=1)
            item.attempts += 1
            await self._progress(
                item, WorkItemStatus.running, f"attempt {item.attempts}", tracker, notify
            )
            # 2b-2d  instructions, agent, ledger, step gates
            instructions = _instructions(item, failures, guidance)
            attempt = await self._attempt(item, site, gates, instructions, tracker)
            if attempt.blocked is not None:
                item.budget_used = tracker.used()
                return await self._finish(item, WorkItemStatus.blocked, attempt.blocked, notify)
            # 2e  external verification; 2f  without checks, one successful run is done
            if attempt.error is None and await self._verified(item, site, attempt):
                item.budget_used = tracker.used()
                return await self._done(item, site, attempt, notify)
            failures = attempt.error or _failures(attempt)
            await notify(ProgressEvent(item.id, "verification_failed", failures, item.attempts))
            guidance = await self._guidance(item, failures, tracker)
        # 3  budget or attempts exhausted
        item.budget_used = tracker.used()
        words = failures or f"The budget is spent: {tracker.describe()}."
        return await self._finish(item, WorkItemStatus.stuck, words, notify)

    async def _attempt(
        self,
        item: WorkItem,
        site: Site,
        gates: tuple[Gate, ...],
        instructions: str,
        tracker: BudgetTracker,
    ) -> _Attempt:
        """Run the agent once; tool calls go through the door and into the ledger (2c to 2d)."""
        attempt = _Attempt(Ledger(), [])
        authority = TaskAuthority(item, self._approval, self._ask_call)
        run = self._tool_run(item, site, gates, attempt.ledger, authority)
        try:
            async with asyncio.timeout(max(tracker.remaining_seconds(), 0.001)):
                outcome = await self._agent.run(
                    instructions,
                    toolset=self._toolset,
                    deps=run,
                    limits=_usage_limits(tracker),
                )
        except TimeoutError:
            attempt.error = "The wall time of the budget ran out."
            return attempt
        except ModelRunFailed as error:
            tracker.charge(tokens=error.spent.tokens, cost_usd=error.spent.cost_usd)
            if error.code != "E_LLM_BUDGET":
                raise
            attempt.error = error.message
            return attempt
        tracker.charge(tokens=outcome.tokens, cost_usd=outcome.cost_usd)
        if outcome.fell_back:
            attempt.error = "executor_structured_output_invalid"
            return attempt
        attempt.next_steps = list(outcome.output.next_steps)
        unknown = unknown_references(outcome.output.artifact_refs, attempt.ledger.artifacts())
        if unknown:
            await self._audit.log("artifact_ref_mismatch", work_item_id=item.id, names=unknown)
        attempt.blocked = await self._steps.refuse(item, gates, attempt.ledger)
        return attempt

    def _tool_run(
        self,
        item: WorkItem,
        site: Site,
        gates: tuple[Gate, ...],
        ledger: Ledger,
        authority: TaskAuthority,
    ) -> ToolRun:
        trace, files, prefix = new_id("trace"), site.files(), f"{item.attempts}."

        def context(step: str) -> ToolCallContext:
            return ToolCallContext(
                trace_id=trace,
                task_id=item.id,
                step_id=prefix + step,
                idempotency_key="",
                autonomy_level=self._settings.autonomy,
                granted_scopes=frozenset({"sandbox.execute"}),
                gates=gates,
                authorise=authority.authorise,
                files=files,
                limits=self._settings.limits,
            )

        def record(tool_name: str, args: dict[str, Any], result: ToolResult) -> None:
            ledger.record(tool_name, args, result)

        return ToolRun(
            role="executor", allowed=AllTools.ALL, context=context, ask=authority.ask, record=record
        )

    async def _verified(self, item: WorkItem, site: Site, attempt: _Attempt) -> bool:
        if not item.verify:
            # Without checks the ledger decides: something was done, and the last of it succeeded.
            entries = attempt.ledger.entries
            return bool(entries) and entries[-1].result.ok
        attempt.report = await self._verifier.run_checks(item.verify, site.bench())
        results = [r.model_dump(mode="json") for r in attempt.report.results]
        item.verification_results.append({"attempt": item.attempts, "results": results})
        await self._audit.log(
            "verification_finished",
            work_item_id=item.id,
            attempt=item.attempts,
            all_passed=attempt.report.all_passed,
            checks={r.name: r.passed for r in attempt.report.results},
        )
        return attempt.report.all_passed

    async def _guidance(self, item: WorkItem, failures: str, tracker: BudgetTracker) -> str:
        """Planner advice when stuck, within the budget (2e)."""
        wanted = item.attempts >= _STUCK_AFTER and item.on_stuck == "consult_planner"
        if not wanted or not tracker.may_consult_planner() or tracker.exhausted():
            return ""
        tracker.charge(planner_calls=1)
        advice = await self._advise(item, failures)
        tracker.charge(tokens=advice.tokens, cost_usd=advice.cost_usd)
        return advice.text

    async def _done(
        self, item: WorkItem, site: Site, attempt: _Attempt, notify: Notify
    ) -> WorkItemResult:
        """Only verified changes reach the original, and they can be undone (decision B3)."""
        diff = await site.diff()
        changed = await site.apply(next_place(self._settings.undo / item.id))
        await self._audit.log("workspace_applied", work_item_id=item.id, paths=changed)
        artifacts = attempt.ledger.artifacts()
        if diff:
            artifacts["changes.diff"] = diff
        passed = [r.name for r in attempt.report.results] if attempt.report else []
        summary = (
            f"Done and verified: {', '.join(passed)}."
            if passed
            else "Done; the plan has no checks."
        )
        return await self._finish(
            item,
            WorkItemStatus.done,
            summary,
            notify,
            artifacts=artifacts,
            next_steps=attempt.next_steps,
            diff=diff,
        )

    async def _inherited(self, item: WorkItem) -> tuple[dict[str, str], str | None]:
        """Artifacts of `follow_up_of` by name; words if the link or a name is missing (0.5)."""
        if item.follow_up_of is None:
            return {}, None
        prior = await self._store.get_result(item.follow_up_of)
        if prior is None or prior.status is not WorkItemStatus.done:
            return {}, f"It follows up {item.follow_up_of}, which is not completed work."
        wanted = item.input_artifacts_from
        if wanted == ["*"]:
            return prior.artifacts, None
        absent = sorted(set(wanted) - prior.artifacts.keys())
        if absent:
            return {}, f"{item.follow_up_of} has no artifact {', '.join(absent)}."
        return {name: prior.artifacts[name] for name in wanted}, None

    async def _progress(
        self,
        item: WorkItem,
        status: WorkItemStatus,
        words: str,
        tracker: BudgetTracker,
        notify: Notify,
    ) -> None:
        item.status = status
        item.budget_used = tracker.used()
        await self._store.save(item)
        await self._audit.log("work_item_attempt", work_item_id=item.id, attempt=item.attempts)
        await notify(ProgressEvent(item.id, status, words, item.attempts))

    async def _cancelled(self, item: WorkItem) -> None:
        item.status = WorkItemStatus.paused
        try:
            await self._store.save(item)
            await self._audit.log("work_item_cancelled", work_item_id=item.id)
        except DatabaseError:
            return  # the cancellation itself must go on; rehydration finds the item running

    async def _finish(
        self,
        item: WorkItem,
        status: WorkItemStatus,
        words: str,
        notify: Notify,
        *,
        artifacts: dict[str, str] | None = None,
        next_steps: list[str] | None = None,
        diff: str = "",
    ) -> WorkItemResult:
        item.status = status
        result = WorkItemResult(
            work_item_id=item.id,
            status=status,
            summary=words,
            last_error=None if status is WorkItemStatus.done else words,
            verification_results=item.verification_results,
            budget_used=item.budget_used,
            artifacts=artifacts or {},
            next_steps=next_steps or [],
            diff=diff,
        )
        await self._store.save(item)
        await self._store.save_result(result)
        await self._audit.log("work_item_finished", work_item_id=item.id, status=status.value)
        await notify(ProgressEvent(item.id, status.value, words, item.attempts))
        return result


def _instructions(item: WorkItem, failures: str, guidance: str) -> str:
    """The briefing; on a retry with what failed and what the planner advises (2b)."""
    parts = [item.body]
    if failures:
        parts.append(f"# Previous attempt {item.attempts - 1} failed\n\n{failures}")
    if guidance:
        parts.append(f"# Planner guidance\n\n{guidance}")
    return "\n\n".join(parts)


def _failures(attempt: _Attempt) -> str:
    if attempt.report is not None:
        return format_failures(attempt.report)
    failed = next((e for e in attempt.ledger.entries if not e.result.ok), None)
    return f"{failed.tool_name} failed: {failed.result.error}" if failed else "nothing was done"


def _usage_limits(tracker: BudgetTracker) -> "UsageLimits":
    from pydantic_ai.usage import UsageLimits  # noqa: PLC0415 - only a run needs it

    left = tracker.remaining()
    return UsageLimits(
        request_limit=_REQUESTS_PER_ATTEMPT,
        total_tokens_limit=max(left.tokens, 1),
        cost_limit=Decimal(str(left.cost_usd)) if left.cost_usd > 0 else None,
    )
