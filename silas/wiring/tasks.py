"""The runner of approved tasks, and what keeps changes that wait."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from silas.home.sandbox_tools import roots_of
from silas.plans import WorkItemType
from silas.services.emergency_stop import PausedByStop
from silas.services.held_changes import HeldQuestion
from silas.services.tools.look_tools import shown_by_work
from silas.services.tools.plan_ability import AUTONOMY, plan_ability
from silas.services.workers import make_hire, offer_delegation, tools_of
from silas.stream.look_answers import LookAnswers
from silas.wiring.models import run_capabilities
from silas.work.agent_run import AgentRunner
from silas.work.authority.grant_uses import PlanGrants
from silas.work.authority.place_ability import PlaceAbility
from silas.work.authority.worker_ability import WorkerAbility
from silas.work.changes.delivery import ChangeDelivery
from silas.work.changes.held_store import ChangeHolder, HeldStore
from silas.work.checks.verify import VerificationRunner
from silas.work.consulting import Consulting
from silas.work.effects import Effects
from silas.work.entry import EntryCheck
from silas.work.executor import RunItem, WorkItemExecutor
from silas.work.goal_start import GoalStart
from silas.work.planner_advice import PlannerConsultant
from silas.work.projects.allowances import Allowances
from silas.work.projects.checks import ProjectChecks
from silas.work.projects.files_left import FilesLeft
from silas.work.projects.rest import ProjectRests
from silas.work.projects.runner import ProjectRunner
from silas.work.projects.undo import WorkUndo
from silas.work.settings import TaskSettings
from silas.work.steps import StepGates
from silas.work.task import TaskRunner
from silas.work.worker_runner import WorkerRunner

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

    from silas.agents import ExecutorAgent, PlannerAgent
    from silas.stream.revising import Revising
    from silas.tools.toolset import ToolRun
    from silas.wiring.parts import Parts


def build_holding(parts: "Parts") -> ChangeHolder:
    """What keeps changes that wait, and asks about them."""
    data = parts.config.data_dir
    return ChangeHolder(
        HeldStore(data / "held"),
        data / "undo",
        parts.approval,
        parts.store,
        parts.audit,
        HeldQuestion(parts.policies, parts.context_services.work, parts.questions),
        parts.secrecy,
        parts.preconditions.require_ready,
    )


def worker_runner_of(
    parts: "Parts", executor: "ExecutorAgent[ToolRun]", chain: "AbstractToolset[ToolRun]"
) -> WorkerRunner:
    """Who does the work of an attempt; `delegate` is registered where there may be workers."""
    limit = parts.config.limits.max_delegation_depth
    worker_runner = WorkerRunner(
        executor,
        chain,
        parts.workers,
        make_hire(parts.runtime, parts.models.executor_choice, run_capabilities(parts)),
        parts.questions.calls,
        WorkerAbility(parts.workers, parts.skills, tools_of(parts.registry), limit),
        parts.skills,
        parts.audit,
    )
    offer_delegation(parts.config, parts.registry, worker_runner.delegate_task)
    return worker_runner


def entry_check(parts: "Parts", worker_runner: WorkerRunner) -> EntryCheck:
    """What refuses plans that could not run, before their card and again when they start."""
    shown = shown_by_work(parts.models.choices, parts.workers, parts.server_entries)
    ability = plan_ability(
        parts.skills,
        parts.secrecy.missing,
        parts.registry,
        worker_runner.ability,
        shown,
        LookAnswers(parts.db, parts.runtime.clock),
        PlaceAbility(roots_of(parts.config)),
    )
    return EntryCheck(parts.approval, parts.binding, ability)


def rests_of(parts: "Parts") -> ProjectRests:
    """What makes plans of what projects did not come to."""
    return ProjectRests(parts.store, parts.undoing, parts.holding.held)


def undo_of(parts: "Parts") -> WorkUndo:
    """What takes back what work changed, and knows what is left of projects."""
    learn, zone = parts.learning.learn_from_undo, parts.config.scheduler.zone
    return WorkUndo(parts.undoing, parts.store, learn, zone, rests_of(parts))


def task_runner(
    parts: "Parts",
    worker_runner: WorkerRunner,
    planner: "PlannerAgent",
    entry: EntryCheck,
    revising: "Revising",
    allowances: Allowances,
) -> TaskRunner:
    """The runner over the parts that are made before it."""
    config, advice = parts.config, PlannerConsultant(planner, worker_runner)
    grants = PlanGrants(parts.outcomes)
    settings = TaskSettings(
        scratch=config.data_dir / "scratch",
        undo=config.data_dir / "undo",
        limits=parts.limits,
        autonomy=AUTONOMY,
        system_gates=config.gates.system,
        scopes=parts.scopes,
        follows_runbook=parts.models.runbook_executes,
        budget_of=allowances.of,
        watch_checks=parts.board.checks,
        left=parts.asked,
        refresh=parts.servers.follow,
    )
    return TaskRunner(
        entry=entry,
        agent_runs=AgentRunner(
            worker_runner,
            parts.policies,
            StepGates(parts.gates, parts.audit, parts.questions.gate),
            parts.approval,
            parts.binding,
            grants,
            parts.questions.calls,
            parts.audit,
            settings,
            parts.board,
            parts.surroundings.briefing,
        ),
        verifier=VerificationRunner(parts.sandbox, parts.runtime.clock, parts.limits),
        consult=Consulting(advice, revising, parts.audit, parts.board),
        secrets=parts.secrecy,
        effects=Effects(parts.outcomes, parts.registry),
        store=parts.store,
        audit=parts.audit,
        clock=parts.runtime.clock,
        require_running=parts.preconditions.require_ready,
        settings=settings,
        ending=ChangeDelivery(parts.holding, parts.store, parts.audit, parts.secrecy, settings),
    )


def executor_of(
    parts: "Parts",
    worker_runner: WorkerRunner,
    planner: "PlannerAgent",
    entry: EntryCheck,
    revising: "Revising",
) -> WorkItemExecutor:
    """What runs every kind of work that runs here."""
    runners = partial(runners_of, parts, worker_runner, planner, entry, revising)
    return WorkItemExecutor(runners, parts.audit, parts.asked)


def runners_of(
    parts: "Parts",
    worker_runner: WorkerRunner,
    planner: "PlannerAgent",
    entry: EntryCheck,
    revising: "Revising",
    run_task: RunItem,
) -> Mapping[WorkItemType, RunItem]:
    """Who runs which kind of work; an emergency stop pauses it."""
    allowances = Allowances()
    tasks = task_runner(parts, worker_runner, planner, entry, revising, allowances)
    projects = ProjectRunner(
        entry,
        run_task,
        allowances,
        ProjectChecks(
            VerificationRunner(parts.sandbox, parts.runtime.clock, parts.limits),
            parts.audit,
            parts.config.data_dir / "scratch",
        ),
        parts.store,
        parts.audit,
        FilesLeft(parts.undoing, parts.binding, parts.audit),
        parts.holding.held.waits,
        parts.preconditions.require_ready,
        parts.asked,
    )
    goals = GoalStart(
        parts.approval, parts.store, parts.goals_when_needed.coming_words, parts.audit
    )
    return {
        WorkItemType.task: PausedByStop(tasks.run, parts.stop.halt, parts.store),
        WorkItemType.goal: goals.run,
        WorkItemType.project: PausedByStop(projects.run, parts.stop.halt, parts.store),
    }
