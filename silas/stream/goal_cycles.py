"""One cycle of a goal: its own work, or its checks and the work that follows where one fails (spec
5.2.3, decision D504).

A healthy cycle asks no model and says nothing. Nothing of a cycle that has an effect is repeated
after a crash: the use of the standing approval, the task and the cycle's note of it are one
transaction, and whoever begins the cycle again goes on from that note.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from silas.approval import ApprovalVerifier, Verdict
from silas.approval.verdict_words import verdict_words
from silas.audit import Audit
from silas.autonomy.signals import STANDING_FAMILY, Noted, Signal, note_used_up, started_alone
from silas.cards import CardChannel
from silas.clock import Clock
from silas.db import at_once
from silas.errors import ChannelError, PlanFamilyError, SandboxError, Stopped, from_foreign
from silas.goals.models import Cycle, Outcome
from silas.goals.service import GIVES_UP, KIND, Goals
from silas.jobs.models import Finish, Job, JobKind, job_id, nothing
from silas.language import refusal_words, said_at, tr
from silas.plans import (
    BudgetUsed,
    VerificationReport,
    WorkItem,
    WorkItemStatus,
    WorkItemStore,
    recurring_task,
    show,
    spawn_task,
    subject_of,
)
from silas.plans.binding import PlanBinding
from silas.plans.commands.out_of_sight import looks_beyond_files
from silas.plans.goals.lapsed import lapse_words
from silas.plans.goals.limits import SPAWNS, TIDIES
from silas.stop.sentinel import RequireRunning
from silas.stream import goal_words
from silas.stream.dispatch import Dispatcher
from silas.stream.models import SendText
from silas.stream.propose import APPROVED_ELSEWHERE, STAYS, Proposer
from silas.stream.tidy_cycles import TidyCycles, WithoutPlace
from silas.types import OWNER
from silas.work.authority.plan_approval import MISSING_APPROVAL
from silas.work.checks.goal_checks import GoalChecks
from silas.work.executor import WorkItemExecutor
from silas.work.models import AlreadyRunning

_ATTEMPTS: Final = 10_000  # it ends, and is told, however long its owner cannot be reached
_LONGEST: Final = timedelta(hours=1)
_GIVES_UP: Final = 6  # attempts that end in an error that nobody expects
_WAITS: Final = (ChannelError, Stopped)
"""What says nothing about the goal: it goes on once that is over."""

_DAY: Final = timedelta(days=1)
_A_DAY: Final = 5  # times the budget of one cycle

_ENDED: Final = frozenset(
    {
        WorkItemStatus.done,
        WorkItemStatus.failed,
        WorkItemStatus.stuck,
        WorkItemStatus.blocked,
        WorkItemStatus.paused,
    }
)

_FAILS: Final = frozenset({Outcome.failed, Outcome.not_fixed, Outcome.not_done})
_WENT_WELL: Final = frozenset({Outcome.fixed, Outcome.done})


class GoalAuthority(NamedTuple):
    """What decides whether a goal may start work, and who is asked where it may not.

    Attributes:
        approval: Verifies standing approvals and spends them.
        binding: Whether what an approval binds is unchanged.
        proposer: Asks the owner about one work.
        together: Opens a transaction that survives power loss.
        require_ready: Raises where Silas is stopped or its record was changed.
        without_place: Lets other jobs run while its owner is asked or its work runs.
    """

    approval: ApprovalVerifier
    binding: PlanBinding
    proposer: Proposer
    together: Callable[[], AbstractContextManager[object]]
    require_ready: RequireRunning
    without_place: WithoutPlace


class _End(NamedTuple):
    """How a cycle ends, and what its owner is told; nothing where it is empty.

    Attributes:
        unmet: That the condition of its work does not hold, which is told by itself only once.
    """

    outcome: Outcome
    words: str = ""
    told: str = ""
    unmet: str = ""


class GoalCycles:
    """Carries out the jobs of goals.

    Args:
        goals: The service.
        authority: Decides what may be started.
        checks: Runs checks in the verification sandbox.
        tidies: Asks about the files of folders.
        dispatcher, executor: Run what is started.
        store: Where goals and tasks are kept.
        channel: Where the owner is told.
        audit: The record.
        clock: Effective time.
        discreet: A text without any known secret.
        noted: Learns from work that was started without asking and went well.
    """

    def __init__(
        self,
        goals: Goals,
        authority: GoalAuthority,
        checks: GoalChecks,
        tidies: TidyCycles,
        dispatcher: Dispatcher,
        executor: WorkItemExecutor,
        store: WorkItemStore,
        channel: CardChannel,
        audit: Audit,
        clock: Clock,
        discreet: Callable[[str], str],
        noted: Noted,
    ) -> None:
        self._noted = noted
        self._goals = goals
        self._authority = authority
        self._checks = checks
        self._tidies = tidies
        self._dispatcher = dispatcher
        self._executor = executor
        self._store = store
        self._channel = channel
        self._audit = audit
        self._clock = clock
        self._discreet = discreet

    def kind(self) -> JobKind:
        """How jobs of goals run: one after the other of each goal."""
        return JobKind(KIND, self.run, self.following, attempts=_ATTEMPTS, longest=_LONGEST)

    def following(self, job: Job, now: datetime) -> datetime | None:
        """When the next cycle comes."""
        return self._goals.next_cycle(job.ref, now)

    async def run(self, job: Job) -> Finish:
        """One cycle, or the rest of one that was interrupted."""
        cycle = self._goals.begin(job.ref, job.slot, job.due)
        goal = None if cycle is None else await self._store.get(job.ref)
        if cycle is None or goal is None:
            return nothing
        self._authority.require_ready()
        checks: dict[str, bool] = {}
        try:
            end = await self._resume_cycle(cycle)
            if end is None and (refused := await self._why_refused(goal)):
                end = _End(Outcome.refused, refused, goal_words.pause_words(refused))
            report = None
            if end is None and goal.cycle == TIDIES:
                end = _End(*await self._tidies.run(goal, job.id))
            if end is None and goal.cycle != "work":
                report = await self._checks.run(goal)
                checks = {result.name: result.passed for result in report.results}
            if end is None:
                cycle, end = await self._follows(goal, cycle, report)
        except (SandboxError, PlanFamilyError) as error:  # what somebody has to look at
            words = goal_words.unchecked_words(error.message)
            end = _End(Outcome.refused, words, goal_words.pause_words(words))
        except Exception as error:
            if isinstance(error, _WAITS) or job.attempts < _GIVES_UP:
                raise  # its job is begun again
            words = await self._gave_up(error, job)
            end = _End(Outcome.refused, words, goal_words.pause_words(words))
        await self._tell(goal, end)
        await self._learn(cycle, end)
        return partial(self._goals.end_cycle, cycle, end.outcome, self._discreet(end.words), checks)

    async def _gave_up(self, error: Exception, job: Job) -> str:
        """What the owner is told of an error that nobody expects here: its own sentence, or where
        the details of a mistake of ours stand. It is recorded as those before it were.
        """
        known = from_foreign(error)
        code = "E_SILAS_UNEXPECTED" if known is None else known.code
        await self._audit.log(
            "job.failed", kind=job.kind, ref=job.ref, slot=job.slot, code=code,
            error=type(error).__name__, attempt=job.attempts, again=False,
        )  # fmt: skip
        why = goal_words.UNFORESEEN if known is None else known.message
        return goal_words.error_words(job.attempts, why)

    async def _why_refused(self, goal: WorkItem) -> str:
        """Why not even its checks may run; nothing where they may."""
        if goal.approval_token is None:
            return tr(goal_words.NO_APPROVAL)
        verdict = await self._authority.approval.stands(goal.approval_token, subject_of(goal))
        if verdict or verdict.code in goal_words.OVER:
            verdict = await self._authority.binding.check(goal, None)
        if verdict:
            return ""
        self._authority.require_ready()  # a stop says nothing about this goal
        return lapse_words(refusal_words(verdict_words(verdict)), verdict.code)

    async def _follows(
        self, goal: WorkItem, cycle: Cycle, report: VerificationReport | None
    ) -> tuple[Cycle, _End]:
        """What comes of a cycle's checks; of none where its work is done each time."""
        if report is None or goal.cycle is not None:
            if report is None or report.all_passed:
                return await self._works(goal, cycle)
            why = goal_words.condition_words(result.name for result in report.failed)
            return cycle, _End(Outcome.healthy, why, unmet=why)
        if report.all_passed:
            return cycle, _End(Outcome.healthy)
        known = self._goals.get(goal.id)
        found = goal_words.check_words(result.name for result in report.failed)
        if goal.on_failure != SPAWNS:
            return cycle, _End(Outcome.failed, found, "" if known.quiet else found)
        return await self._start_work(goal, cycle, spawn_task(goal, report), found)

    async def _works(self, goal: WorkItem, cycle: Cycle) -> tuple[Cycle, _End]:
        """The goal's own work, once for each slot; its result is told as that of any work."""
        task = recurring_task(goal, cycle.slot, self._clock.now())
        return await self._start_work(goal, cycle, task, tr(goal_words.WORK_IS_DUE))

    async def _start_work(
        self, goal: WorkItem, cycle: Cycle, task: WorkItem, found: str
    ) -> tuple[Cycle, _End]:
        """Work that the goal's approval covers runs; other work has a card, one for many cycles."""
        known = self._goals.get(goal.id)
        over = await self._over_budget(goal)
        if over:
            return cycle, _End(Outcome.over_budget, over, "" if known.quiet else f"{found} {over}")
        verdict = await self._authorise_task(goal, cycle, task)
        if verdict:
            cycle = cycle._replace(task_id=task.id)
            return cycle, await self._wait_for_work(cycle, task)
        why = goal_words.card_words(found, goal, verdict.code)
        if known.quiet:
            return cycle, _End(Outcome.asked, why)
        await note_used_up(self._noted, verdict.code)
        return await self._ask_card(goal, cycle, task, why)

    async def _authorise_task(self, goal: WorkItem, cycle: Cycle, task: WorkItem) -> Verdict:
        """Spend one use for exactly this task and keep both, or neither."""
        token = goal.approval_token
        if token is None:
            return MISSING_APPROVAL
        task.approval_token, task.needs_approval = token, False
        self._authority.require_ready()
        with self._authority.together():
            verify = self._authority.approval.verify
            verdict = at_once(verify(token, subject_of(goal), subject_of(task)))
            if verdict:
                at_once(self._store.save(task))
                self._goals.store.save_spawned(cycle, task.id)
                return verdict
        task.approval_token, task.needs_approval = None, True
        return verdict

    async def _ask_card(
        self, goal: WorkItem, cycle: Cycle, task: WorkItem, why: str
    ) -> tuple[Cycle, _End]:
        """One card about this work, and none while one of this goal waits."""
        proposer = self._authority.proposer
        if any(waits.parent == goal.id for waits in await proposer.waiting()):
            return cycle, _End(Outcome.asked, why)
        self._goals.store.save_spawned(cycle, task.id)
        cycle = cycle._replace(task_id=task.id)
        with self._authority.without_place(job_id(KIND, cycle.goal_id, cycle.slot)):
            proposal = await proposer.propose(task, self._channel, OWNER, why)
        if proposal.verdict == "approved":
            return cycle, await self._wait_for_work(cycle, task)
        if proposal.verdict in STAYS:
            return cycle, _End(Outcome.asked, f"{why} {goal_words.waiting_words(task.id)}")
        if proposal.verdict == APPROVED_ELSEWHERE:
            return cycle, _End(Outcome.asked, f"{why} {proposal.words}")
        task.status = WorkItemStatus.blocked
        await self._store.save(task)
        told = goal_words.declined_words(proposal.words, goal)
        return cycle, _End(Outcome.declined, proposal.words, told)

    async def _resume_cycle(self, cycle: Cycle) -> _End | None:
        """The rest of a cycle that a crash interrupted after its task was made; None where none
        was.
        """
        task = await self._store.get(cycle.task_id) if cycle.task_id else None
        if task is None:
            if not cycle.task_id or await self._authority.proposer.question(cycle.task_id) is None:
                return None
            return _End(Outcome.asked, goal_words.waiting_words(cycle.task_id))
        if task.approval_token is None:
            return _End(Outcome.declined, tr(goal_words.NOT_APPROVED))
        if task.status in _ENDED:
            return _result(task, task.status)
        return await self._wait_for_work(cycle, task)

    async def _wait_for_work(self, cycle: Cycle, task: WorkItem) -> _End:
        """Wait for the work, which goes on as any other where this is ended."""
        with suppress(AlreadyRunning):  # a start of Silas resumed it
            self._dispatcher.dispatch(task, self._send(task))
        with self._authority.without_place(job_id(KIND, cycle.goal_id, cycle.slot)):
            await self._executor.wait(task.id)
        ended = await self._store.get(task.id)
        return _result(task, WorkItemStatus.failed if ended is None else ended.status)

    def _send(self, task: WorkItem) -> SendText:
        """How its work is told; work that recurs comes unasked, so it says first what it is."""
        head = "" if task.cycle is None else self._discreet(f"{show(task.title)}: ")

        async def send(text: str) -> None:
            nonlocal head
            said, head = head + text, ""
            await self._channel.send(OWNER, said)

        return send

    async def _learn(self, cycle: Cycle, end: _End) -> None:
        task = await self._store.get(cycle.task_id) if cycle.task_id else None
        if task is not None and end.outcome in _WENT_WELL and started_alone(task):
            await self._noted(Signal(STANDING_FAMILY, "approved"))

    async def _over_budget(self, goal: WorkItem) -> str:
        """That the budget of a day leaves no room for one cycle more; nothing where it does."""
        since = self._clock.now() - _DAY
        works = await self._store.list_by_parent(goal.id)
        counted = sorted(
            (one for one in works if one.created_at > since), key=attrgetter("created_at")
        )
        again = None
        while _is_spent(goal, counted):
            again, *counted = counted
        if again is None:
            return ""
        moment = self._goals.say_moment(again.created_at + _DAY, goal.schedule or "")
        return goal_words.budget_words(_A_DAY, moment)

    async def _tell(self, goal: WorkItem, end: _End) -> None:
        told, known = end.told, self._goals.get(goal.id)
        if self._goals.gives_up(known, end.outcome):
            told = goal_words.give_up_words(goal, GIVES_UP)
        elif self._fails_from_the_beginning(goal) and await self._found_failing(goal, end):
            told = f"{told or end.unmet} {goal_words.sandbox_words()}".strip()
        if told:
            words = said_at(self._channel.channel_name, goal_words.told_words(goal, told))
            await self._channel.send(OWNER, self._discreet(words))

    def _fails_from_the_beginning(self, goal: WorkItem) -> bool:
        """Whether this is its first cycle, and a check may ask for what no sandbox shows."""
        since, last = self._goals.get(goal.id).approved_at, self._goals.store.history(goal.id, 2)
        cycles = [one.began_at >= since for one in last]
        return sum(cycles) == 1 and any(looks_beyond_files(one.run) for one in goal.verify)

    async def _found_failing(self, goal: WorkItem, end: _End) -> bool:
        """Whether a check failed: its own, the condition of its work, or one that proves it."""
        if end.outcome not in _FAILS or goal.cycle is None:
            return end.outcome in _FAILS or bool(end.unmet)
        works = await self._store.list_by_parent(goal.id)
        proofs = [one.verification_results[-1] for one in works if one.verification_results]
        return any(not check["passed"] for proof in proofs for check in proof.get("results", ()))


def _is_spent(goal: WorkItem, works: Sequence[WorkItem]) -> bool:
    """Whether work leaves no room for one cycle more in the budget of a day."""
    used = BudgetUsed()
    for task in works:
        used = used.merge(task.budget_used)
    budget = goal.budget
    return (
        used.tokens > (_A_DAY - 1) * budget.max_tokens
        or used.cost_usd > (_A_DAY - 1) * budget.max_cost_usd
        or used.wall_time_seconds > (_A_DAY - 1) * budget.max_wall_time_seconds
    )


def _result(task: WorkItem, status: WorkItemStatus) -> _End:
    good, bad = Outcome.fixed, Outcome.not_fixed
    if task.cycle is not None:
        good, bad = Outcome.done, Outcome.not_done
    words = goal_words.result_words(task, status)
    return _End(good if status is WorkItemStatus.done else bad, words)
