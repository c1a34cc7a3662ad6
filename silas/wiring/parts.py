"""The objects of one Silas, made in the order of their dependencies (spec 12)."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import NonceStore, SqlNonceStore
from silas.cards import CardChannel, Channel
from silas.channels.fallback import TextCards
from silas.config import SilasConfig
from silas.context import ContextItem
from silas.db import Database
from silas.gates import (
    GateRunner,
)
from silas.home.audit_log import audit_log
from silas.home.effective_clock import effective_time
from silas.home.owner_signatures import owner_verified
from silas.home.runtime import Runtime
from silas.home.sandbox_tools import Surroundings, tool_search
from silas.home.secret_store import guarded
from silas.home.signer_client import announced, message_signer
from silas.home.web_tools import add_web_tools, recorded
from silas.home.witnesses import message_to_owner
from silas.keys.secrecy import Secrecy
from silas.memory import MemoryItem
from silas.plans import PlanParser, WaitingPlan, WorkItem, WorkItemType
from silas.plans.binding import Grants, PlanBinding
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting import SqlWaitingPlans
from silas.sandbox import RefusingSandbox, SandboxLimits
from silas.services.emergency_stop import EmergencyStop, PausedByStop
from silas.services.gates import gate_providers
from silas.services.owner_key import CheckpointKeys
from silas.services.review import Learning
from silas.services.skills.catalogue import skill_loader
from silas.services.tools.looking import add_looking_tools
from silas.services.tools.prompt_overhead import overhead_of
from silas.services.tools.registry import built_in_tools
from silas.services.tools.toolsets import claims_of, scopes_of
from silas.services.work_progress import Telling
from silas.services.workers import hiring, offer_delegation, teams_of, tools_of, worker_library
from silas.stream.ask import OwnerQuestions
from silas.stream.choices import OwnerChoices
from silas.stream.dispatch import Dispatcher
from silas.stream.drafts import drafts_on
from silas.stream.owner_messages import OwnerMessages
from silas.stream.plan_runs import PlanRuns
from silas.stream.propose import Proposer
from silas.stream.revising import Revising
from silas.stream.session import Session
from silas.stream.signin import SignIn, TypedWords
from silas.stream.stream import Backpressure, Stream
from silas.tools import ToolExecutor
from silas.tools.health import SqlHealthStore
from silas.tools.outcomes import SqlOutcomeStore
from silas.tools.policy import ToolPolicyConfig
from silas.wiring.mind import Standing, mind_of
from silas.wiring.tasks import entry_check, holding, task_runner
from silas.wiring.turn import Exchange, TurnWiring
from silas.work.executor import WorkItemExecutor
from silas.work.progress_board import Board
from silas.work.run_policy import RunPolicies
from silas.work.undo import Undo
from silas.work.worker_runner import Crew

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ModelChoice

_KNOWN_CHANNELS = frozenset({"cli", "web"})  # the owner's own login, a browser he has paired


_Session = TypeVar("_Session", bound=Session)


class Parts:
    """The objects of one Silas while it is being wired."""

    def __init__(
        self, config: SilasConfig, runtime: Runtime, db: Database, channel: Channel
    ) -> None:
        clock, sandbox = runtime.clock, runtime.sandbox
        self.config, self.runtime, self.db = config, runtime, db
        self.channel = channel if isinstance(channel, CardChannel) else TextCards(channel, clock)
        self.signer = signer = announced(config, runtime.signer, self.channel)
        keys = CheckpointKeys(signer, runtime.ring)
        self.audit = audit_log(config, db, clock, keys, message_to_owner(self.channel))
        self.stop = EmergencyStop.of(config.data_dir, db, clock)
        self.time = effective_time(db, clock, self.audit)
        self.nonces: NonceStore = SqlNonceStore(db, self.time, config.nonce_store)
        self.approval = ApprovalEngine(
            signer,
            self.nonces,
            self.audit,
            self.time,
            config.approval,
            self.stop.epochs,
            runtime.ring,
        )
        self.store = SqlWorkItemStore(db, clock)
        self.undoing = Undo(config.data_dir / "undo", self.audit)
        self.waiting = SqlWaitingPlans(db, clock)
        self.outcomes = SqlOutcomeStore(db, self.time)
        self.gates = GateRunner(
            gate_providers(config),
            self.audit,
            config.limits.max_gate_evals_per_turn,
        )
        self.secrecy = Secrecy(runtime.secrets, clock.now)
        self.secrecy.refresh()  # asked for here, where a passphrase can be typed
        self.sandbox = guarded(sandbox, self.secrecy, self.audit)
        self.registry = built_in_tools(clock, self.sandbox, SqlHealthStore(db))
        add_web_tools(
            self.registry, config, clock, runtime.web, runtime.secrets, recorded(self.audit)
        )
        self.scopes = scopes_of(config)
        self.door = ToolExecutor(
            self.registry,
            self.gates,
            audit=self.audit,
            outcomes=self.outcomes,
            clock=self.time,
            db=db,
            config=ToolPolicyConfig(
                quiet_from=config.quiet_hours.start,
                quiet_until=config.quiet_hours.end,
                timezone=config.scheduler.zone.key,
            ),
            require_running=self.stop.sentinel.require_running,
            scrub=self.secrecy.redact,
        )
        self.skills = skill_loader(config, signer.verify)
        self.learning = Learning(lambda: (self.mind.review, self.mind.work.scope_of))
        self.questions = OwnerQuestions(
            self.channel, self.audit, clock, claims_of(self.registry), self.learning.call
        )
        self.holding = holding(self)
        self.sign_in = SignIn(
            owner_verified(signer, db, clock), self.nonces, self.audit, clock, _KNOWN_CHANNELS
        )
        self.sign_message = message_signer(config, runtime.signer)
        typed = TypedWords(self.channel.channel_name, self.sign_message, self.sign_in, clock)
        choices = OwnerChoices(self.channel, self.audit, clock, typed.taint_of)
        add_looking_tools(self.registry, self._search, self._look, choices.ask)
        self.limits = SandboxLimits(
            memory_mb=config.sandbox.default_memory_mb,
            cpu_seconds=config.sandbox.default_cpu_seconds,
        )
        self.workers = worker_library(config)
        self.tools = tools = tool_search(config)
        self.surroundings = Surroundings(config, self.sandbox, tools)
        self.binding = PlanBinding(
            self.skills,
            Grants(sandbox.name, self.limits),
            self.audit,
            teams_of(self.workers),
            tools,
        )
        self.policies = RunPolicies()
        self.picks: asyncio.Queue[str] = asyncio.Queue()
        self.board = Board(self.secrecy.redact)
        self.drafts = drafts_on(self.channel, self.secrecy.redact_begun)
        self.telling = Telling(self.channel, lambda: self.mind.work, self.board)

    async def session(
        self, kind: type[_Session], stack: AsyncExitStack, exchange: Exchange
    ) -> _Session:
        """The whole, from agents to the Stream."""
        import pydantic_ai  # noqa: PLC0415 - costs half a second

        from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent, ScorerAgent  # noqa: PLC0415
        from silas.tools.toolset import approval_handler, build_chain  # noqa: PLC0415

        pydantic_ai.BANNER_ENABLED = False  # the terminal belongs to Silas and its owner
        config, clock, models = self.config, self.runtime.clock, self.config.models
        chain = build_chain(self.door, self.registry)
        pausing = [approval_handler(self.door, self.registry)]
        proxy = ProxyAgent(
            await self._enter(stack, models.proxy),
            clock,
            output=models.proxy.output,
            default_profile=config.context.default_profile,
            capabilities=pausing,
            listen=self.drafts.listener,
        )
        planner = PlannerAgent(
            await self._enter(stack, models.planner),
            clock,
            output=models.planner.output,
            capabilities=pausing,
            listen=self.drafts.listener,
        )
        worker = ExecutorAgent(
            await self._enter(stack, models.executor),
            clock,
            output=models.executor.output,
            capabilities=pausing,
        )
        crew = Crew(
            worker,
            chain,
            self.workers,
            hiring(self.runtime, models.executor, pausing),
            self.questions.calls,
            tools_of(self.registry),
            self.skills,
            self.audit,
            config.limits.max_delegation_depth,
        )
        offer_delegation(config, self.registry, crew.delegated)
        entry = entry_check(self, crew)
        scorer = ScorerAgent(
            await self._enter(stack, models.scorer), clock, output=models.scorer.output
        )

        self.mind = mind = mind_of(
            self._standing(),
            scorer,
            self.picks.put,
            overhead_of(config, self.registry, self.skills.catalogue()),
        )
        stack.push_async_callback(mind.review.stop)
        proposer = Proposer(
            PlanParser(),
            self.approval,
            self.binding,
            self.store,
            self.waiting,
            self.audit,
            clock,
            self._ready,
            entry.unable,
        )
        turns = TurnWiring(self, proxy, planner, proposer, chain, exchange)
        self.revising = revising = turns.revising(self._ask_about)
        runner = task_runner(self, crew, planner, entry)
        run = PausedByStop(runner.run, self.stop.halt, self.store)
        executor = WorkItemExecutor({WorkItemType.task: run}, self.audit)
        dispatcher = Dispatcher(executor, self.telling.show, revising.ended)
        steps = turns.steps(dispatcher.dispatch, revising)
        self.stream = Stream(
            partial(turns.processor, steps),
            executor,
            dispatcher,
            proposer,
            self.channel,
            Backpressure(
                config.backpressure.max_pending_turns_per_scope,
                config.backpressure.max_pending_turns_total,
            ),
            mind.arrivals,
            self.audit,
            clock,
            config.backpressure.shutdown_grace_seconds,
            self.stop.halt,
            self.drafts,
        )
        return kind(
            stream=self.stream,
            messages=OwnerMessages(
                self.channel.channel_name, self.sign_message, self.runtime.clock
            ),
            runs=self._plan_runs(proposer, dispatcher, executor, revising),
            proposer=proposer,
            executor=executor,
            store=self.store,
            undoing=self.undoing,
            undone=self.learning.undone,
            approval=self.approval,
            audit=self.audit,
            registry=self.registry,
            retriever=mind.remembered.retriever,
        )

    def _plan_runs(
        self,
        proposer: Proposer,
        dispatcher: Dispatcher,
        executor: WorkItemExecutor,
        revising: Revising,
    ) -> PlanRuns:
        return PlanRuns(
            proposer=proposer,
            dispatcher=dispatcher,
            executor=executor,
            store=self.store,
            holding=self.holding,
            policies=self.policies,
            stream=self.stream,
            channel=self.channel,
            halt=self.stop.halt,
            audit=self.audit,
            replacing=revising.replacing,
            result_of=self.mind.work.result,
        )

    def _standing(self) -> Standing:
        return Standing(
            self.config, self.db, self.runtime, self.audit, self.channel, self.approval, self.signer
        )

    def _ask_about(self, waiting: WaitingPlan) -> bool:
        return self.stream.ask_about(waiting)

    async def _search(
        self, scope_id: str, query: str, most: int, everything: bool
    ) -> Sequence[MemoryItem]:
        return await self.mind.search(scope_id, query, most, everything)

    def _look(self, scope_id: str) -> Sequence[ContextItem]:
        return self.mind.look(scope_id)

    async def _enter(self, stack: AsyncExitStack, choice: "ModelChoice") -> "Model":
        return await stack.enter_async_context(self.runtime.make_model(choice))

    def require_ready(self) -> None:
        """Before anything has an effect: raises `Stopped` where Silas is, or its record changed."""
        self.stop.sentinel.require_running()
        self.audit.require_whole()

    async def _ready(self, item: WorkItem) -> None:
        self.require_ready()
        if isinstance(self.runtime.sandbox, RefusingSandbox):
            raise self.runtime.sandbox.reason
        await self.undoing.files.require_whole(item.workspace)
