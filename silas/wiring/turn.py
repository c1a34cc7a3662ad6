"""The steps of a turn, each made with the ports that it uses and no others (spec 5.1).

Without a container there is nothing to copy with one field changed. The wiring asks
`PortReplacement` once for each port, so that all steps share what a test put in its place, and
`Ports` of the test kit fails for a name that no step has: nothing is exchanged in vain.
"""

from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from silas.agents.runbook import calculator
from silas.home.prompt_facts import profiles
from silas.memory.meter import MeteredOperations, MeteredRetriever
from silas.memory.recorded import RecordedOperations
from silas.services.access import access_of
from silas.stream.agenda_words import AgendaWords
from silas.stream.answering import Answering
from silas.stream.approval_words import ApprovalWords
from silas.stream.escalate import Escalator
from silas.stream.file_follower import FileFollower
from silas.stream.forgetting import Forgetting
from silas.stream.former_plans import FormerPlans
from silas.stream.goal_name_words import GoalNameWords
from silas.stream.goals_in_view import GoalsInView
from silas.stream.intake import Intake
from silas.stream.look_answers import LookAnswers
from silas.stream.look_permission import WorkspaceLooks
from silas.stream.past_words import PastWords
from silas.stream.person_queue import PersonQueues
from silas.stream.plan_flow import Dispatch, PlanFlow
from silas.stream.planning import Planning, TurnPlanner
from silas.stream.propose import Proposer
from silas.stream.recall import Recall
from silas.stream.remember import Remembering
from silas.stream.reminding import Reminding
from silas.stream.rest_words import RestWords
from silas.stream.revising import Revising
from silas.stream.routing import AnswersWords, Router
from silas.stream.scopes import ConversationRestorer
from silas.stream.status_words import StatusWords
from silas.stream.tidy_words import TidyWords
from silas.stream.tools import turn_tools
from silas.stream.toolset import TurnToolset
from silas.stream.turn import TurnProcessor, TurnSteps
from silas.stream.turn_modes import TurnModes
from silas.stream.turn_writer import TurnWriter
from silas.stream.undo_words import UndoWords
from silas.stream.view import Viewing
from silas.tools import AutonomyLevel
from silas.types import whose
from silas.wiring.plan_review import plan_review
from silas.wiring.tasks import rests_of

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

    from silas.agents import PlannerAgent, ProxyAgent
    from silas.stream.plan_review import ReviewPlans
    from silas.stream.ports import MakeToolRun
    from silas.tools.toolset import ToolRun
    from silas.wiring.parts import Parts

T = TypeVar("T")


class PortReplacement(Protocol):
    """Puts another port in place of one that the steps of a turn use; what a test looks through."""

    def __call__(self, name: str, port: T) -> T:
        """The port that is used under this name."""
        ...


def keep_port(name: str, port: T) -> T:
    """Every port as it was wired."""
    del name
    return port


class TurnWiring:
    """Makes the steps of a turn; steps that share a port share the exchanged one.

    Args:
        parts: What they are made of; its rooms of thinking are there.
        proxy, planner: The agents of a turn.
        proposer: Issues approvals.
        chain: The PydanticAI wrapper chain that ends at the tool door.
        exchange: Exchanges ports.
    """

    def __init__(
        self,
        parts: "Parts",
        proxy: "ProxyAgent",
        planner: "PlannerAgent",
        proposer: Proposer,
        chain: "AbstractToolset[ToolRun]",
        exchange: PortReplacement,
    ) -> None:
        services, self._parts, self._at = parts.context_services, parts, exchange
        self._audit = exchange("audit", parts.audit)
        self._clock = exchange("clock", parts.runtime.clock)
        self._together = exchange("together", parts.db.write)
        self._discreet = exchange("discreet", parts.secrecy.redact)
        self._context = exchange("context", services.context)
        self._chronicle = exchange("chronicle", services.chronicle)
        self._memory = exchange("memory", services.remembered.store)
        self._arrivals = exchange("arrivals", services.conversations.arrivals)
        self._items = exchange("items", services.items)
        self._work = exchange("work", services.work)
        self._work_view = exchange("work_view", services.work_view)
        self._review = exchange("review", services.review)
        self._persona = exchange("persona", services.persona)
        self._skills = exchange("skills", parts.skills)
        self._gates = exchange("gates", parts.gates)
        self._system_gates = exchange("system_gates", parts.config.gates.system)
        self._proposer = exchange("proposer", proposer)
        self._plans: ReviewPlans = exchange("plans", plan_review(parts, proposer))
        self._toolset = exchange("toolset", chain)
        self._tool_run = exchange("tool_run", self._tool_runs())
        self._proxy = exchange("proxy", proxy)
        self._planner = TurnPlanner(exchange("planner", planner), self._toolset, self._tool_run)
        self._modes = TurnModes(exchange("interaction", parts.config.interaction))
        self._conversations = exchange("conversations", services.conversations.open)
        self._access = exchange(
            "access", access_of(parts.config, parts.registry, parts.runtime.clock, parts.audit)
        )

    def processor(self, steps: TurnSteps, address: str) -> TurnProcessor:
        """Runs the turns of one conversation."""
        return TurnProcessor(steps, self._conversations.of(address), self._access(whose(address)))

    def revising(self) -> Revising:
        """What asks the planner for another plan when work has failed."""
        return Revising(
            self._planner,
            self._plans,
            self._proposer,
            self._modes,
            self._work,
            self._work_view,
            self._gates,
            self._system_gates,
            self._discreet,
            self._audit,
            self._clock,
        )

    def steps(self, dispatch: Dispatch, revising: Revising) -> TurnSteps:
        """The steps of every turn."""
        exchange, config = self._at, self._parts.config
        services = self._parts.context_services
        keeper = TurnWriter(
            self._items,
            self._context,
            self._chronicle,
            self._memory,
            self._arrivals,
            self._together,
            self._clock,
        )
        retriever = exchange(
            "retriever",
            MeteredRetriever(services.remembered.retriever, services.remembered.meter),
        )
        recall = Recall(retriever, self._context, self._items, self._audit)
        following = FileFollower(
            exchange("files", services.files),
            exchange("followed", services.followed),
            self._context,
            self._clock,
            config.context.subscription_ttl_turns,
            self._looks.is_allowed,
        )
        operations = exchange(
            "memory_ops",
            MeteredOperations(
                RecordedOperations(services.remembered.ops, self._parts.db, self._audit.log_now),
                services.remembered.meter,
            ),
        )
        most = config.limits.max_memory_ops_per_turn
        router = self._router()
        return TurnSteps(
            waking=self._waking(recall, following),
            intake=self._intake(),
            review=self._review,
            keeper=keeper,
            following=following,
            recall=recall,
            toolset=TurnToolset(
                self._tool_run,
                exchange("looks", self._looks.of),
                self._skills,
                self._parts.servers.follow,
            ),
            router=router,
            answering=Answering(
                router, keeper, self._arrivals, self._audit, self._together, self._discreet
            ),
            remembering=Remembering(operations, keeper, self._audit, most),
            plan_flow=PlanFlow(
                self._proposer,
                self._plans,
                self._modes,
                keeper,
                self._work,
                self._work_view,
                exchange("dispatch", dispatch),
                exchange("remember", revising.remember),
                self._review.note_signal,
                self._audit,
            ),
            persona=self._persona,
        )

    def _intake(self) -> Intake:
        parts = self._parts
        people = self._at("people", PersonQueues(parts.db, parts.audit, parts.runtime.clock))
        return Intake(
            self._system_gates,
            self._gates,
            self._at("escalator", Escalator(parts.audit, {})),
            people.transfer,
            self._proposer.keep,
            self._at("sign_in", parts.sign_in),
            self._audit,
            self._clock,
        )

    def _waking(self, recall: Recall, following: FileFollower) -> ConversationRestorer:
        return ConversationRestorer(
            Forgetting(self._memory, self._context, self._chronicle),
            recall,
            following,
            self._work_view,
            GoalsInView(self._parts.ahead_service, self._work, self._context, self._items),
            self._proposer.to_change,
            self._work,
            self._context,
            self._chronicle,
            self._memory,
            self._items,
            self._parts.config.rehydration.max_chronicle_entries,
        )

    def _by_code(self, profile: str, reminding: Reminding) -> tuple[AnswersWords, ...]:
        """What is understood without a model."""
        audit, modes = self._audit, self._modes
        batches = self._at("batches", self._parts.batches)
        return (
            reminding,
            TidyWords(batches, audit, self._clock, modes, profile),
            ApprovalWords(
                self._parts.ahead_service,
                self._parts.narrowing,
                self._parts.goals,
                audit,
                modes,
                profile,
            ),
            AgendaWords(self._parts.ahead_service, self._plans, audit, modes, profile),
            PastWords(self._parts.past_days, self._plans, audit, modes, profile),
            StatusWords(self._parts.under_way, self._plans, audit, modes, profile),
            UndoWords(self._context, audit, modes, profile),
            GoalNameWords(self._parts.ahead_service, self._parts.goals, audit, modes, profile),
            RestWords(self._at("rests", rests_of(self._parts)), audit, modes, profile),
        )

    def _router(self) -> Router:
        facts = self._at("facts", self._parts.surroundings.facts)
        offered = profiles(self._parts.config)
        reminders = self._at("reminders", self._parts.reminders)
        reminding = Reminding(reminders, self._audit, self._clock, self._modes, offered[0])
        return Router(
            Viewing(self._context, self._memory, self._persona, self._items),
            self._by_code(offered[0], reminding),
            self._proxy,
            self._toolset,
            Planning(
                self._planner,
                self._plans,
                facts,
                self._at("plan tools", self._parts.surroundings.for_proxy),
                self._work,
                self._context,
                self._skills,
                FormerPlans(self._context, self._chronicle),
                self._audit,
            ),
            self._modes,
            self._context,
            offered,
            self._audit,
            partial(self._parts.config.scheduler.now, self._clock),
            partial(calculator.answer, zone=self._parts.config.scheduler.zone),
            reminding.as_a_model_reads_it,
        )

    def _tool_runs(self) -> "MakeToolRun":
        parts = self._parts
        return turn_tools(
            parts.config.gates.system,
            AutonomyLevel.A2,
            parts.scopes,
            parts.approval,
            parts.registry,
            parts.questions.look_ups,
        )

    @cached_property
    def _looks(self) -> WorkspaceLooks:
        parts, clock = self._parts, self._parts.runtime.clock
        return WorkspaceLooks(
            parts.models.shown_to,
            LookAnswers(parts.db, clock),
            parts.channel,
            parts.audit,
            clock,
            parts.context_services.conversations.attachments.folder_of,
        )
