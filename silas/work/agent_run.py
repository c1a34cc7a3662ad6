"""One run of the executor agent: its tools, its authority, its share of the budget (5.2.1 c, d)."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from silas.agents import ModelRunFailed
from silas.agents.call_scope import limit_waits
from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.clock import TimeLimitReached, time_limit_until
from silas.errors import PlanFamilyError
from silas.gates import Gate
from silas.plans import (
    BudgetExhausted,
    BudgetTracker,
    BudgetUsed,
    RemainingBudget,
    Reservation,
    WorkItem,
)
from silas.plans.binding import PlanBinding
from silas.sandbox import Credentials, SandboxFiles
from silas.tools import (
    SANDBOX_SCOPE,
    SECRETS_SCOPE,
    RunApprovalPolicy,
    ToolCallContext,
    ToolResult,
)
from silas.tools.provenance import Provenance
from silas.tools.toolset import AllTools, ToolRun
from silas.types import Origin, OriginKind, new_id
from silas.work.attempt import OUT_OF_FORM, Attempt
from silas.work.authority.allowed_hosts import PlannedNetwork
from silas.work.authority.grant_uses import PlanGrants
from silas.work.authority.run_policy import RunPolicies, asking
from silas.work.authority.task_authority import TaskAuthority
from silas.work.changes.task_workspace import TaskWorkspace
from silas.work.influence import Readings
from silas.work.ledger import Ledger, unknown_references
from silas.work.models import AskCalls
from silas.work.progress_board import CallWatch, ProgressBoard
from silas.work.report import ExecutorReport
from silas.work.settings import TaskSettings
from silas.work.step_failure import step_failure
from silas.work.steps import StepGates
from silas.work.worker_runner import AttemptJob, WorkerRunner

if TYPE_CHECKING:
    from pydantic_ai.usage import RunUsage, UsageLimits

    from silas.agents.models import ExecutorAgentOutput
    from silas.agents.outcome import StructuredRun

_BEFORE = Origin(kind=OriginKind.tool, name="earlier attempts")

_REQUESTS_PER_ATTEMPT = 50  # model calls in one attempt; a loop that never ends is not work


class _WallTimeOver(PlanFamilyError):
    """The wall time of the budget ended an attempt."""


class AgentRunner:
    """Lets the agent work on a task once; what it did is in the ledger, not in its words."""

    def __init__(
        self,
        worker_runner: WorkerRunner,
        policies: RunPolicies,
        steps: StepGates,
        approval: ApprovalVerifier,
        binding: PlanBinding,
        grants: PlanGrants,
        ask_call: AskCalls,
        audit: Audit,
        settings: TaskSettings,
        board: ProgressBoard,
        surroundings: Callable[[str | None], Awaitable[str]],
    ) -> None:
        self._surroundings = surroundings
        self._board = board
        self._crew = worker_runner
        self._policies = policies
        self._steps = steps
        self._approval = approval
        self._binding = binding
        self._grants = grants
        self._ask_call = ask_call
        self._audit = audit
        self._settings = settings

    async def attempt(
        self,
        item: WorkItem,
        task_workspace: TaskWorkspace,
        gates: tuple[Gate, ...],
        briefing: str,
        tracker: BudgetTracker,
        readings: Readings,
    ) -> Attempt:
        """Run the agent once; tool calls go through the door and into the ledger (2c to 2d).

        Everything that is left is held for the run (decision B11): its requests cannot be foreseen
        one by one, nothing else of this item runs beside it, and a run that is broken off without
        telling what it used has used it all.
        """
        usage = _no_usage()
        waits = limit_waits(self._board.limit_wait(item.id, tracker))
        with waits, self._board.attempt(item, tracker, lambda: run_usage(usage)) as watch:
            if briefing != item.body:
                readings.again()
            seen = readings.watching(watch)
            return await self._run_attempt(
                item, task_workspace, gates, briefing, tracker, usage, seen
            )

    async def _run_attempt(
        self,
        item: WorkItem,
        task_workspace: TaskWorkspace,
        gates: tuple[Gate, ...],
        briefing: str,
        tracker: BudgetTracker,
        usage: "RunUsage",
        watch: CallWatch,
    ) -> Attempt:
        attempt = Attempt(Ledger())
        grants = self._grants.of(item)
        if briefing != item.body:  # what failed before is told, and rests on what was read then
            grants.provenance.add_text(briefing, _BEFORE)
        skills = self._crew.skills_of(item)
        for skill in skills:  # bound by the approval, yet no part of what the owner read
            grants.provenance.add_text(skill.text, skill.origin)
        policy = self._policies.of(item.id)

        def authority(ask: AskCalls) -> TaskAuthority:
            asks = asking(policy, ask)
            return TaskAuthority(
                item, self._approval, self._binding, task_workspace.copied, grants, asks
            )

        own = authority(self._ask_call)
        base = self._tool_run(
            item, task_workspace, gates, attempt.ledger, own, grants.provenance, policy, watch
        )
        left = tracker.remaining()
        try:
            with tracker.reserve(tokens=left.tokens, cost_usd=left.cost_usd) as held:
                job = AttemptJob(item, skills, base, authority, _usage_limits(left), usage)
                # what runs in the sandbox, asked there; the plan's own words go first
                runs = await self._surroundings(item.workspace)
                told = "\n\n".join(filter(None, (briefing, runs)))
                outcome = await self._agent_run(told, job, tracker, held)
        except (BudgetExhausted, _WallTimeOver) as error:
            attempt.error = error.message
            return attempt
        except ModelRunFailed as error:
            if error.code != "E_LLM_BUDGET":
                raise
            attempt.error = error.message
            return attempt
        for words in outcome.stood_in:
            await self._audit.log("model_stood_in", work_item_id=item.id, words=words)
        if outcome.fell_back:
            attempt.error = OUT_OF_FORM
            return attempt
        attempt.next_steps = list(outcome.output.next_steps)
        unknown = unknown_references(outcome.output.artifact_refs, attempt.ledger.artifacts())
        if unknown:
            await self._audit.log("artifact_ref_mismatch", work_item_id=item.id, names=unknown)
        attempt.blocked = await self._steps.refuse(item, gates, attempt.ledger)
        if self._settings.follows_runbook():
            attempt.stopped = _find_stop(item, attempt.ledger, outcome.output)
        elif attempt.blocked is None:
            attempt.said = ExecutorReport(
                await self._steps.pass_report(item, gates, outcome.output.summary),
                outcome.output.status,
            )
        return attempt

    async def _agent_run(
        self, briefing: str, job: AttemptJob, tracker: BudgetTracker, held: Reservation
    ) -> "StructuredRun[ExecutorAgentOutput]":
        """The run within what is left; what it used is settled, failed or not."""
        try:
            async with time_limit_until(tracker.time_over):
                outcome = await self._crew.run(job, briefing)
        except TimeLimitReached as error:
            raise _WallTimeOver("The wall time of the budget ran out.") from error
        except ModelRunFailed as error:
            held.settle(tokens=error.spent.tokens, cost_usd=error.spent.cost_usd)
            raise
        held.settle(tokens=outcome.tokens, cost_usd=outcome.cost_usd)
        return outcome

    def _tool_run(
        self,
        item: WorkItem,
        task_workspace: TaskWorkspace,
        gates: tuple[Gate, ...],
        ledger: Ledger,
        authority: TaskAuthority,
        provenance: Provenance,
        policy: RunApprovalPolicy,
        watch: CallWatch,
    ) -> ToolRun:
        # The trace is of this very run: a model may give a call the id of one long ago, and the
        # same plan may be approved again, and neither is a repeat of what was done then.
        trace = new_id("trace")
        prefix = f"{item.attempts}.{trace}."
        seen = task_workspace.files().model_copy(update={"hear": self._board.hears(item.id)})
        files = _with_credentials(item, PlannedNetwork(item, self._audit).for_agent(seen))
        secrets = frozenset({SECRETS_SCOPE}) if item.credential_refs else frozenset[str]()

        def context(step: str) -> ToolCallContext:
            return ToolCallContext(
                trace_id=trace,
                task_id=item.id,
                step_id=prefix + step,
                idempotency_key="",
                autonomy_level=self._settings.autonomy,
                run_policy=policy,
                granted_scopes=frozenset({SANDBOX_SCOPE}) | secrets | self._settings.scopes,
                gates=gates,
                authorise=authority.authorise,
                authorise_alone=authority.authorise_alone,
                provenance=provenance,
                files=files,
                limits=self._settings.limits,
            )

        def record(tool_name: str, args: dict[str, Any], result: ToolResult) -> None:
            ledger.record(tool_name, args, result)

        return ToolRun(
            role="executor",
            allowed=AllTools.ALL,
            context=context,
            ask=authority.ask,
            record=record,
            watch=watch,
        )


def _find_stop(item: WorkItem, ledger: Ledger, output: "ExecutorAgentOutput") -> str:
    """At which step the built-in model stopped; a worker may be a model that tries another way."""
    if item.worker is not None:
        return ""
    gave_up = output.status != "done"  # no call failed: it was refused, or there was none to make
    return step_failure(ledger) or (" ".join(output.summary.split()) if gave_up else "")


def _with_credentials(item: WorkItem, files: SandboxFiles) -> SandboxFiles:
    """The same files, promised exactly the secrets that the plan names; checks never are (D70)."""
    promised = Credentials(refs=dict(item.credential_refs), work_item_id=item.id)
    return files.model_copy(update={"credentials": promised})


def _no_usage() -> "RunUsage":
    from pydantic_ai.usage import RunUsage  # noqa: PLC0415 - only a run needs it

    return RunUsage()


def run_usage(usage: "RunUsage") -> BudgetUsed:
    """What a run under way has used so far; a cost that the provider does not tell is none."""
    return BudgetUsed(tokens=max(usage.total_tokens, 0), cost_usd=max(float(usage.cost or 0), 0.0))


def _usage_limits(left: RemainingBudget) -> "UsageLimits":
    from pydantic_ai.usage import UsageLimits  # noqa: PLC0415 - only a run needs it

    return UsageLimits(
        request_limit=_REQUESTS_PER_ATTEMPT,
        total_tokens_limit=left.tokens,
        cost_limit=Decimal(str(left.cost_usd)),
    )
