"""One task: entry check, attempts, ledger, step gates, verification from outside (spec 5.2.1)."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from silas.audit import Audit
from silas.clock import Clock
from silas.errors import (
    DatabaseError,
    PlanFamilyError,
    SandboxError,
    SilasError,
    Stopped,
)
from silas.language import tr, tr_later
from silas.plans import (
    BudgetTracker,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemStore,
)
from silas.stop.sentinel import RequireRunning
from silas.tools import OutcomeUnknown
from silas.work.agent_run import AgentRunner
from silas.work.attempt import (
    Attempt,
    failed_step,
    instructions,
    out_of_budget,
    owner_words,
    what_failed,
    without_last_attempt,
)
from silas.work.authority.allowed_hosts import PlannedNetwork
from silas.work.changes.delivery import ChangeDelivery
from silas.work.changes.file_recovery import FileRecovery
from silas.work.changes.task_workspace import TaskWorkspace
from silas.work.checks.finding import what_was_found
from silas.work.checks.unstartable import broken_plan, fingerprint
from silas.work.checks.verdict import check_changes
from silas.work.checks.verify import VerificationRunner
from silas.work.consulting import CONSULTS, NO_ADVICE, Consulting
from silas.work.dependencies import inherited_work
from silas.work.effects import Effects
from silas.work.entry import EntryCheck
from silas.work.influence import Readings
from silas.work.models import (
    Advice,
    AlreadyRunning,
    Notify,
    ProgressEvent,
    Secrets,
)
from silas.work.record import TaskRecord
from silas.work.report import NOTHING_LEFT, AttemptOutput, attempt_output, for_next
from silas.work.settings import TaskSettings
from silas.workspace.copy import Changes

__all__ = ["TaskRunner", "TaskSettings"]

_STUCK_AFTER = 3  # attempts before the planner is asked for guidance (5.2.1 e)


class TaskRunner:
    """Runs approved tasks. Every dependency is a port; none may be missing."""

    def __init__(
        self,
        *,
        entry: EntryCheck,
        agent_runs: AgentRunner,
        verifier: VerificationRunner,
        consult: Consulting,
        effects: Effects,
        secrets: Secrets,
        store: WorkItemStore,
        audit: Audit,
        clock: Clock,
        require_running: RequireRunning,
        settings: TaskSettings,
        ending: ChangeDelivery,
    ) -> None:
        self._entry = entry
        self._agent_runs = agent_runs
        self._record = TaskRecord(store, audit)
        self._files = FileRecovery(settings.undo, audit)
        self._verifier = verifier
        self._consult = consult
        self._effects = effects
        self._secrets = secrets
        self._store = store
        self._audit = audit
        self._clock = clock
        self._require_running = require_running
        self._settings = settings
        self._ending = ending

    async def run(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Execute one task to its end; whatever happens, the item does not stay `running`.

        Raises:
            AlreadyRunning: Another run of this item is under way; nothing was touched.
            DatabaseError: What became of it could not be recorded.
        """
        try:
            result = await self._run_to_end(item, notify)
            event = ProgressEvent(item.id, result.status.value, result.summary, item.attempts)
            await notify(event)
        except asyncio.CancelledError:
            if self._settings.left.has_task(item):  # as after a crash, this attempt is made again
                raise
            ended = await self._record.record_stop(item)
            if ended is None:
                raise
            return ended  # the cancellation came too late
        return result

    async def _run_to_end(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        try:
            await self._settings.refresh()
            return await self._run_in_workspace(item, notify)
        except AlreadyRunning:
            raise
        except SilasError as error:
            return await self._record_failure(item, error)
        except Exception as error:  # a mistake of ours: it is recorded, and then shown
            await self._record_failure(item, _unexpected_error(error))
            raise

    async def _record_failure(self, item: WorkItem, error: SilasError) -> WorkItemResult:
        """Record what ended the work; raise where even that is not possible."""
        said = f"{error.message} {_AGAIN}" if isinstance(error, Stopped) else str(error)
        words = self._secrets.redact(said)  # it may name a file of the workspace
        try:
            result = await self._record.record_end(item, _status_after(error), words)
            await self._audit.log("execution_failed", work_item_id=item.id, code=error.code)
        except DatabaseError as unrecorded:
            raise unrecorded from error
        return result

    async def _run_in_workspace(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        # 0  approval gate: mandatory, before anything else but the emergency stop
        self._require_running()
        await self._files.require_whole(item.workspace)
        refusal = await self._entry.refuse(item, None)
        if refusal:
            return await self._block_item(item, refusal)
        unsettled = self._effects.refuse(item)
        if unsettled:
            await self._audit.log("effects_unsettled", work_item_id=item.id, reason=unsettled)
            return await self._record.record_end(item, WorkItemStatus.blocked, unsettled)
        # 0.5  what it waits for, and the artifacts of the item this one deepens
        artifacts, missing = await inherited_work(item, self._store)
        if missing:
            return await self._record.record_end(item, WorkItemStatus.blocked, missing)
        async with TaskWorkspace.open_copy(
            item, self._settings.scratch / item.id, artifacts
        ) as task_workspace:
            # nobody else changes the copy: what it holds runs
            if task_workspace.copied is not None:
                differs = await self._entry.unbound_copy(
                    item, task_workspace.copied, task_workspace.root
                )
                if differs:
                    return await self._block_item(item, differs)
            # an attempt that was cut off at a question had not failed, and is made again
            if self._settings.left.questions.cut_off(item):
                without_last_attempt(item)
            budget = self._settings.budget_of(item)
            tracker = BudgetTracker(budget, item.budget_used, self._clock)
            try:
                result = await self._run_attempts(item, task_workspace, tracker, notify)
            finally:
                item.budget_used = tracker.measure_use()
        # 4  what waits for the owner is asked about when nothing of the run is left behind
        return await self._ending.holding.answer(item) if result.held else result

    async def _refusal(self, item: WorkItem, task_workspace: TaskWorkspace) -> str:
        """Why the checks may not run, or nothing; everything is asked again, also of the copy."""
        return await self._entry.refuse(item, task_workspace.copied)

    async def _block_item(self, item: WorkItem, refusal: str) -> WorkItemResult:
        self._require_running()  # a stop refuses everything; that says nothing about this plan
        await self._audit.log("execution_blocked_no_approval", work_item_id=item.id, reason=refusal)
        return await self._record.record_end(item, WorkItemStatus.blocked, refusal)

    async def _begin_attempt(self, item: WorkItem, notify: Notify) -> None:
        """Record an attempt, which asks anew; a crash before that forgives the one cut off."""
        await self._record.attempt(item, notify)
        self._settings.left.questions.drop(item)

    async def _run_attempts(
        self, item: WorkItem, task_workspace: TaskWorkspace, tracker: BudgetTracker, notify: Notify
    ) -> WorkItemResult:
        # 1  budget: asked before every action
        gates = (*self._settings.system_gates, *item.gates)
        failures, evidence, guidance, left = "", "", "", NOTHING_LEFT
        readings = Readings(item, self._secrets.redact)
        marks: Sequence[object] = ()
        follows = self._settings.follows_runbook() and item.worker is None
        # 2  retry loop
        while not tracker.is_spent():
            self._require_running()
            # 2a  count the attempt before it happens
            tracker.charge(attempts=1, executor_runs=1)
            item.attempts += 1
            item.budget_used = tracker.measure_use()
            await self._begin_attempt(item, notify)
            # 2b-2d  instructions, agent, ledger, step gates
            briefing = instructions(item, evidence, guidance)
            attempt = await self._agent_runs.attempt(
                item, task_workspace, gates, briefing, tracker, readings
            )
            item.budget_used = tracker.measure_use()
            left = attempt_output(attempt, self._secrets.redact)
            self._record.leaves(item, left)
            if (end := _end_before_checks(attempt, left)) is not None:
                return await self._end_without_success(item, end, left, tracker, notify)
            if attempt.error is None:
                # 2e  external verification; 2f  without checks, one successful run is done
                refusal = await self._refusal(item, task_workspace)
                if refusal:
                    return await self._block_item(item, refusal)
                changes = await task_workspace.changes()
                passed = await self._verify_attempt(item, task_workspace, attempt, changes)
                item.budget_used = tracker.measure_use()
                # what changed during the checks was not what they were approved to look at
                differs = await self._entry.unbound(item, task_workspace.copied)
                if differs:
                    return await self._block_item(item, differs)
                # a step that failed did not do its part, whatever the checks say
                if passed and not attempt.stopped:
                    self._require_running()  # what was verified before a stop is not applied
                    taken = await self._entry.taken_back(item)
                    if taken:
                        return await self._block_item(item, taken)
                    influence = readings.influence
                    return await self._ending.deliver_verified(
                        item, task_workspace, attempt, changes, influence
                    )
            failures, before = what_failed(attempt), marks
            if (end := _final(item, attempt, follows_runbook=follows)) is not None:
                return await self._end_without_success(item, end, left, tracker, notify)
            marks = fingerprint(attempt)
            again = marks == before  # the same steps that failed in the same way
            if again and (guidance or follows):
                break
            self._settings.left.questions.forget_answers(item)  # the next attempt asks for itself
            await notify(
                ProgressEvent(item.id, "verification_failed", owner_words(failures), item.attempts)
            )
            evidence = for_next(failures, left)
            advice = await self._guidance(item, evidence, tracker, again=again)
            guidance, failures = advice.text, _wrong(advice) or failures
            if advice.plan_is_wrong or (again and not guidance):
                break
        # 3  budget or attempts exhausted
        words = failures or out_of_budget(item, tracker)
        stuck = _End(WorkItemStatus.stuck, words, unfit=bool(failures))
        return await self._end_without_success(item, stuck, left, tracker, notify)

    async def _end_without_success(
        self,
        item: WorkItem,
        end: "_End",
        left: AttemptOutput,
        tracker: BudgetTracker,
        notify: Notify,
    ) -> WorkItemResult:
        """End work without success; where its plan could not do it, ask for another one before."""
        words = owner_words(end.words)
        if end.unfit and self._consult.may_revise(item, tracker):
            self._require_running()
            await notify(ProgressEvent(item.id, "running", tr(_REVISING), item.attempts))
            evidence = for_next(end.words, left)
            told = await self._consult.another_plan(item, evidence, tracker)
            words = f"{words.rstrip()}\n{told}".rstrip()
        item.budget_used = tracker.measure_use()
        return await self._record.record_end(item, end.status, words)

    async def _verify_attempt(
        self, item: WorkItem, task_workspace: TaskWorkspace, attempt: Attempt, changes: Changes
    ) -> bool:
        # Withheld: it would be there while the checks look, and missing where the work is wanted.
        withheld = [*changes.withheld, *await task_workspace.leaks(changes, self._secrets)]
        if withheld:
            left_out = self._secrets.redact("; ".join(withheld))
            attempt.error = f"What cannot be written back must be removed: {left_out}."
            return False
        if not item.verify:
            # Without checks the ledger decides: something was done, and the last of it succeeded.
            entries = attempt.ledger.entries
            return bool(entries) and entries[-1].result.ok
        attempt.checks_changed = await asyncio.to_thread(
            check_changes, item, task_workspace.root, changes
        )
        bench = PlannedNetwork(item, self._audit).for_checks(
            await asyncio.to_thread(task_workspace.bench)
        )
        bench = bench._replace(watch=self._settings.watch_checks(item.id))
        attempt.report = await self._verifier.run_checks(tuple(item.verify), bench)
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

    async def _guidance(
        self, item: WorkItem, failures: str, tracker: BudgetTracker, *, again: bool
    ) -> Advice:
        """Planner advice when stuck, within the budget (2e).

        Args:
            again: Whether the last two attempts failed in the same way; nothing but advice
                can make the third another one.
        """
        stuck = again or item.attempts >= _STUCK_AFTER
        wanted = stuck and item.on_stuck == CONSULTS
        if not wanted or not tracker.may_consult_planner() or tracker.is_spent():
            return NO_ADVICE
        return await self._consult.guidance(item, failures, tracker)


def _wrong(advice: Advice) -> str:
    """That the planner sees no way within this plan; empty where it does."""
    return f"{_WRONG} {' '.join(advice.text.split())}" if advice.plan_is_wrong else ""


class _End(NamedTuple):
    """How work ends without success, and whether that is a fault of its plan."""

    status: WorkItemStatus
    words: str
    unfit: bool


def _end_before_checks(attempt: Attempt, left: AttemptOutput) -> _End | None:
    """What stops work before its checks: a rule, or its executor's word.

    An executor's words can end work, never pass it.
    """
    if attempt.blocked is not None:
        return _End(WorkItemStatus.blocked, attempt.blocked, unfit=False)
    if attempt.error is not None:
        return None
    match attempt.said.status:
        case "blocked":
            words = attempt.said.gives_up(left.report)
            return _End(WorkItemStatus.blocked, words, unfit=False)
        case "needs_another_plan":
            words = attempt.said.gives_up(left.report)
            return _End(WorkItemStatus.stuck, words, unfit=True)
        case _:
            return None


def _final(item: WorkItem, attempt: Attempt, *, follows_runbook: bool) -> _End | None:
    """What another attempt could not change: the plan is broken, or what it looks at is."""
    if broken := broken_plan(item, attempt, follows_runbook=follows_runbook):
        return _End(WorkItemStatus.blocked, broken, unfit=True)
    if found := what_was_found(item, attempt, follows_runbook=follows_runbook):
        return _End(WorkItemStatus.failed, found, unfit=False)
    if step := failed_step(attempt):
        return _End(WorkItemStatus.failed, step, unfit=True)
    return None


_WRONG = "The planner finds that the plan itself is wrong:"
_REVISING = tr_later("asking the planner for another plan")

_BLOCKING = (SandboxError, PlanFamilyError, OutcomeUnknown)
"""What somebody has to look at before it is tried again."""


_AGAIN = "Nothing of this work was applied; it needs a new approval."


def _status_after(error: SilasError) -> WorkItemStatus:
    if isinstance(error, Stopped):
        return WorkItemStatus.paused
    return WorkItemStatus.blocked if isinstance(error, _BLOCKING) else WorkItemStatus.failed


def _unexpected_error(error: Exception) -> SilasError:
    return SilasError(
        f"Silas itself failed ({type(error).__name__}); nothing was applied.",
        code="E_SILAS_UNEXPECTED",
    )
