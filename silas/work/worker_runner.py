"""Who does the work of an attempt: the executor, or the worker that the plan names, and whom that
worker may ask (`worker-approval-policy.md`).

Each run of a worker is made for itself: its agent, its tools, its policy, its authority for single
calls. Nothing of a caller's is inherited, nothing is left behind. What all runs of one attempt
share is what the plan gave: the workspace, the budget, the labels of what was read.

The other worker's calls pass the door under its own policy; a yes to one worker is none to
another. All runs of an attempt share budget and labels, which can only be too strict.
"""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from silas.agents import ExecutorAgent, ModelRunFailed
from silas.agents.worker_file import DELEGATE, Worker
from silas.agents.workers import Team, Workers
from silas.approval import ApprovalDecision
from silas.audit import Audit
from silas.errors import ConfigError, PlanFamilyError
from silas.plans import WorkItem
from silas.plans.binding import bound_skills, bound_workers
from silas.skills import Skills, SkillText
from silas.tools import ToolCallContext, ToolResult
from silas.tools.toolset import WORKER, ToolRun
from silas.types import new_id
from silas.work.authority.task_authority import TaskAuthority
from silas.work.authority.worker_ability import WorkerAbility
from silas.work.models import AskCalls, CallQuestion

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.usage import RunUsage, UsageLimits

    from silas.agents.models import ExecutorAgentOutput
    from silas.agents.outcome import StructuredRun

Hire = Callable[[Worker], AbstractAsyncContextManager[ExecutorAgent[ToolRun]]]
"""Makes the agent of a worker for one run."""


@dataclass(frozen=True)
class AttemptJob:
    """What every run of one attempt shares.

    Attributes:
        item: The approved work.
        skills: What its skills and those of its workers say, as it was approved.
        base: The tools, place and limits of the plan, as the executor has them.
        authority: Makes the authority of one run, which asks as it is told to.
        limits: What is left of the budget, for all runs together.
        usage: What all runs together have used.
    """

    item: WorkItem
    skills: tuple[SkillText, ...]
    base: ToolRun
    authority: Callable[[AskCalls], TaskAuthority]
    limits: "UsageLimits"
    usage: "RunUsage"


@dataclass(frozen=True)
class _Shift:
    """One run of one worker. Whom it asks does one task after the other: they share a workspace."""

    job: AttemptJob
    team: Team
    worker: Worker
    depth: int
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def skills(self) -> tuple[SkillText, ...]:
        """What its own file names; whom the plan names has the plan's skills besides."""
        own = self.worker.skills
        wanted = own if self.depth else (*self.job.item.skills, *own)
        return tuple(skill for skill in self.job.skills if skill.name in wanted)


class WorkerRunner:
    """Lets the right agent do the work.

    Args:
        executor: Who works where the plan names no worker.
        toolset: The chain that ends at the tool door; what it shows depends on the run.
        workers: Reads the files.
        hire: Makes an agent.
        ask: Asks the owner.
        ability: Knows what workers are offered, and how many deep a task may be handed on.
        skills: What is installed.
        audit: Where each run of a worker is recorded.
    """

    def __init__(
        self,
        executor: ExecutorAgent[ToolRun],
        toolset: "AbstractToolset[ToolRun]",
        workers: Workers,
        hire: Hire,
        ask: AskCalls,
        ability: WorkerAbility,
        skills: Skills,
        audit: Audit,
    ) -> None:
        self._executor = executor
        self._toolset = toolset
        self._workers = workers
        self._hire = hire
        self._ask = ask
        self.ability = ability
        self._skills = skills
        self._audit = audit
        self._under_way: dict[str, _Shift] = {}

    def skills_of(self, item: WorkItem) -> tuple[SkillText, ...]:
        """What the skills of an approved item say, and those that its workers' files name.

        Raises:
            PlanFamilyError: `E_PLAN_SKILL`: one cannot be used, or is not what was approved;
                `E_PLAN_WORKER`: the same of a worker's file.
        """
        theirs = () if item.worker is None else self._approved_team(item).skills()
        try:
            told = self._skills.instructions((*item.skills, *theirs))
        except ConfigError as error:
            raise PlanFamilyError(
                f"A skill of the plan cannot be used: {error.message}", code="E_PLAN_SKILL"
            ) from error
        signed = bound_skills(item)
        for skill in told:
            if signed.get(skill.path) != skill.digest:
                raise PlanFamilyError(
                    f"The skill file {skill.path} is not the one that was approved; look at it and "
                    "ask again.",
                    code="E_PLAN_SKILL",
                )
        return told

    async def run(self, job: AttemptJob, briefing: str) -> "StructuredRun[ExecutorAgentOutput]":
        """Work through a briefing once.

        Raises:
            PlanFamilyError: `E_PLAN_WORKER`: a file is not the one that was approved.
            LLMError: The model cannot be reached, refuses, or the limits are reached.
        """
        if job.item.worker is None:
            return await self._executor.run(
                briefing,
                skills=job.skills,
                toolset=self._toolset,
                deps=job.base,
                limits=job.limits,
                usage=job.usage,
            )
        team = self._approved_team(job.item)
        return await self._work(_Shift(job, team, team.lead, 0), briefing)

    async def delegate_task(self, context: ToolCallContext, name: str, task: str) -> ToolResult:
        """Let a worker do a task for the run that called; whatever goes wrong is a result."""
        caller = self._under_way.get(context.trace_id)
        refusal = self._refusal(caller, name)
        if caller is None or refusal:
            return _failed_result(refusal)
        # Its task rests on what its author had read: both runs have the labels of one attempt.
        shift = _Shift(caller.job, caller.team, caller.team.members[name], caller.depth + 1)
        try:
            async with caller.turn:
                outcome = await self._work(shift, task)
        except (ModelRunFailed, ConfigError) as error:
            return _failed_result(f"The worker {name!r} could not work: {error.message}")
        if outcome.fell_back:
            return _failed_result(f"The worker {name!r} did not report in the required form.")
        return ToolResult(ok=True, return_value=_report(name, outcome.output))

    def _refusal(self, caller: _Shift | None, name: str) -> str:
        """Why a task may not be handed to somebody; nothing where it may."""
        if caller is None:
            return "No worker is at work here, so nobody can delegate."
        if name not in caller.worker.delegates:
            known = ", ".join(caller.worker.delegates) or "nobody"
            return f"{caller.worker.name!r} may not delegate to {name!r}; it may to {known}."
        if caller.depth >= self.ability.max_depth:
            return f"The task was handed on {caller.depth} times; do it yourself or report back."
        return ""

    def _approved_team(self, item: WorkItem) -> Team:
        """The team as its files are now, if those are what the approval binds."""
        assert item.worker is not None
        try:
            team = self._workers.team(item.worker)
        except ConfigError as error:
            raise PlanFamilyError(error.message, code="E_PLAN_WORKER") from error
        if bound_workers(item) != team.digests():
            raise PlanFamilyError(
                f"The file of the worker {item.worker!r}, or of one it may delegate to, is not the "
                "one that was approved; look at it and ask again.",
                code="E_PLAN_WORKER",
            )
        return team

    async def _work(self, shift: _Shift, briefing: str) -> "StructuredRun[ExecutorAgentOutput]":
        """One run of one worker, with an agent of its own."""
        trace = new_id("trace")
        await self._audit.log(
            "worker_started",
            work_item_id=shift.job.item.id,
            worker=shift.worker.name,
            digest=shift.worker.digest,
            depth=shift.depth,
            trace=trace,
        )
        with self._mark_under_way(trace, shift):
            async with self._hire(shift.worker) as agent:
                return await agent.run(
                    briefing,
                    skills=shift.skills(),
                    toolset=self._toolset,
                    deps=self._tool_run(shift, trace),
                    limits=shift.job.limits,
                    usage=shift.job.usage,
                )

    @contextmanager
    def _mark_under_way(self, trace: str, shift: _Shift) -> Generator[None]:
        self._under_way[trace] = shift
        try:
            yield
        finally:
            del self._under_way[trace]

    def _tool_run(self, shift: _Shift, trace: str) -> ToolRun:
        """What the tool door knows of this run: the plan's gifts, this worker's rules."""
        job, worker = shift.job, shift.worker
        authority = job.authority(_in_the_name_of(worker.name, self._ask))
        last = shift.depth >= self.ability.max_depth  # nobody further is asked
        own = {
            "trace_id": trace,
            "worker": worker.name,
            "worker_policy": worker.offer.policy,
            "authorise": authority.authorise,
            "authorise_alone": authority.authorise_alone,
        }

        def context(step: str) -> ToolCallContext:
            place = f"{job.item.attempts}.{trace}.{step}"
            return job.base.context(step).model_copy(update={**own, "step_id": place})

        def record(tool_name: str, args: dict[str, Any], result: ToolResult) -> None:
            # what another worker reports is a model's word; what it did is recorded by its own run
            if tool_name != DELEGATE:
                job.base.record(tool_name, args, result)

        return ToolRun(
            role=WORKER,
            allowed=self.ability.offered_tools(worker) - ({DELEGATE} if last else frozenset[str]()),
            context=context,
            ask=authority.ask,
            record=record,
            watch=job.base.watch,
        )


def _in_the_name_of(worker: str, ask: AskCalls) -> AskCalls:
    async def ask_for_worker(
        item: WorkItem, questions: Sequence[CallQuestion]
    ) -> Sequence[ApprovalDecision]:
        return await ask(item, [question._replace(asked_by=worker) for question in questions])

    return ask_for_worker


def _failed_result(words: str) -> ToolResult:
    return ToolResult(ok=False, error=words)


def _report(name: str, output: "ExecutorAgentOutput") -> str:
    parts = [f"The worker {name!r} reports:", output.summary]
    if output.next_steps:
        parts += ["It suggests:", *(f"- {step}" for step in output.next_steps)]
    if output.artifact_refs:
        parts.append(f"Artifacts: {', '.join(output.artifact_refs)}")
    return "\n".join(parts)
