"""The runner of approved tasks, and what keeps changes that wait."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from silas.plans import WorkItem
from silas.services.gates import PROVIDERS
from silas.tools import AutonomyLevel, RunApprovalMode
from silas.work.agent_run import AgentRunner
from silas.work.consulting import Consulting
from silas.work.effects import Effects
from silas.work.ending import Ending
from silas.work.entry import EntryCheck
from silas.work.grant_uses import PlanGrants
from silas.work.held_store import HeldAnswer, HeldChanges, HeldStore, Holding
from silas.work.models import Advice
from silas.work.settings import TaskSettings
from silas.work.steps import StepGates
from silas.work.task import TaskRunner
from silas.work.verify import VerificationRunner
from silas.work.worker_runner import Crew

if TYPE_CHECKING:
    from silas.agents import PlannerAgent
    from silas.wiring.parts import Parts


def holding(parts: "Parts") -> Holding:
    """What keeps changes that wait; a run that asks nobody does not ask about them either."""

    async def ask(held: HeldChanges, diff: str) -> HeldAnswer:
        if parts.policies.of(held.work_item_id).mode is RunApprovalMode.reject_all:
            return "keep"
        result = await parts.mind.work.as_shown(held.result)
        return await parts.questions.held(held._replace(result=result), diff)

    data = parts.config.data_dir
    return Holding(
        HeldStore(data / "held"),
        data / "undo",
        parts.approval,
        parts.store,
        parts.audit,
        ask,
        parts.secrecy,
        parts.require_ready,
    )


async def tell_held(held: HeldStore, tell: Callable[[str], Awaitable[None]]) -> None:
    """Say at a start that changes wait, so that they are not forgotten."""
    waiting = held.ids()
    if waiting:
        await tell(
            f"Changes of {len(waiting)} finished work item(s) wait for your yes: "
            "`silas approvals list`."
        )


def entry_check(parts: "Parts", crew: Crew) -> EntryCheck:
    """What refuses plans that could not run, before their card and again when they start."""
    return EntryCheck(
        parts.approval,
        parts.binding,
        parts.skills,
        parts.secrecy.missing,
        PlanGrants(parts.outcomes, parts.registry).refuse,
        crew.refuse,
        PROVIDERS,
    )


def task_runner(
    parts: "Parts", crew: Crew, planner: "PlannerAgent", entry: EntryCheck
) -> TaskRunner:
    """The runner over the parts that are made before it."""

    async def advise(item: WorkItem, failures: str) -> Advice:
        advice = await planner.advise(item, failures, skills=crew.skills_of(item))
        said = advice.output
        return Advice(said.guidance, advice.tokens, advice.cost_usd, said.plan_is_wrong)

    config = parts.config
    grants = PlanGrants(parts.outcomes, parts.registry)
    settings = TaskSettings(
        scratch=config.data_dir / "scratch",
        undo=config.data_dir / "undo",
        limits=parts.limits,
        autonomy=AutonomyLevel.A2,
        system_gates=config.gates.system,
        scopes=parts.scopes,
        follows_runbook=config.models.executor.name == "runbook",
    )
    return TaskRunner(
        entry=entry,
        agent_runs=AgentRunner(
            crew,
            parts.policies,
            StepGates(parts.gates, parts.audit, parts.questions.gate),
            parts.approval,
            parts.binding,
            grants,
            parts.questions.calls,
            parts.audit,
            settings,
            parts.board,
            parts.runtime.clock,
            parts.surroundings.briefing,
        ),
        verifier=VerificationRunner(parts.sandbox, parts.runtime.clock, parts.limits),
        consult=Consulting(advise, parts.revising, parts.audit, parts.runtime.clock),
        secrets=parts.secrecy,
        effects=Effects(parts.outcomes, parts.registry),
        store=parts.store,
        audit=parts.audit,
        clock=parts.runtime.clock,
        require_running=parts.require_ready,
        settings=settings,
        ending=Ending(parts.holding, parts.store, parts.audit, parts.secrecy, settings),
    )
