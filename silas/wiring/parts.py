"""The objects of one Silas, made in the order of their dependencies (spec 12).

A mistake in the order is a crash at the start and not in the middle of a turn. The models are
opened first, then memory and review, then the tools and questions that ask them; what every prompt
holds is counted last, when all tools are registered.
"""

import asyncio
from functools import cached_property, partial
from typing import TYPE_CHECKING

from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import NonceStore, SqlNonceStore
from silas.audit.reader import AuditReader
from silas.audit.refusals import RefusalRecord
from silas.autonomy.store import SqlAutonomyStore
from silas.cards import Channel
from silas.channels.fallback import with_cards
from silas.config import SilasConfig
from silas.config.servers_file import ReadServers
from silas.db import Database
from silas.gates import GateRunner
from silas.home.audit_log import audit_log
from silas.home.effective_clock import effective_time
from silas.home.owner_signatures import owner_verified
from silas.home.runtime import Runtime
from silas.home.sandbox_tools import SandboxFacts, tool_search
from silas.home.secret_store import guard_sandbox
from silas.home.signer_client import announce_questions, message_signer
from silas.home.witnesses import message_to_owner
from silas.keys.secret_registry import SecretRegistry
from silas.memory.meter import MeteredSearch
from silas.plans.projects.questions import WorkQuestions
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting_plans import AnnouncedPlans
from silas.services.batches.service import execution_over
from silas.services.conversation_deletion import ConversationDeletion
from silas.services.conversations import ConversationService
from silas.services.emergency_stop import EmergencyStop
from silas.services.gates import gate_providers
from silas.services.memory import MemoryService
from silas.services.owner_key import CheckpointKeys
from silas.services.preconditions import Preconditions
from silas.services.review import Learning, able_to_plan
from silas.services.schedules.goals_when_needed import GoalsWhenNeeded
from silas.services.schedules.standing import configured_knobs
from silas.services.setup.models_in_force import Models
from silas.services.skills.catalogue import skill_loader
from silas.services.tools.bindings import lapsed_by, sandbox_limits
from silas.services.tools.look_tools import add_looking_tools
from silas.services.tools.toolsets import claims_of, scopes_of
from silas.services.work_progress import ProgressReporter
from silas.services.workers import worker_library
from silas.stream.ask import OwnerQuestions
from silas.stream.choices import OwnerChoices
from silas.stream.drafts import drafts_on
from silas.stream.sender_identity import SenderIdentity, TypedWords
from silas.tools.outcomes import SqlOutcomeStore
from silas.wiring.context_services import ContextServiceParts, context_services_of
from silas.wiring.tasks import build_holding
from silas.wiring.tools import plan_binding, tool_door, tool_registry
from silas.work.authority.run_policy import RunPolicies
from silas.work.changes.undo import Undo
from silas.work.left_waiting import LeftWaiting
from silas.work.progress_board import ProgressBoard

if TYPE_CHECKING:
    from silas.agents.call_meter import RecordedCalls
    from silas.goals.service import Goals
    from silas.jobs.notify import ProcessNotifier
    from silas.reminders.service import Reminders
    from silas.services.activity.entry_words import EntryWords
    from silas.services.activity.past_days import PastDays
    from silas.services.activity.under_way import UnderWay
    from silas.services.schedules.ahead import AheadService
    from silas.services.schedules.reminders import ReminderService
    from silas.tools.mcp.settings import MCPEntry
    from silas.work.authority.narrowing import ApprovalNarrowing
    from silas.work.batches.models import FileBatch
    from silas.work.batches.review import FolderReview

_KNOWN_CHANNELS = frozenset({"cli", "web"})  # the owner's own login, a browser he has paired


class Parts:
    """The objects of one Silas, each made after those that it uses."""

    def __init__(
        self,
        config: SilasConfig,
        runtime: Runtime,
        db: Database,
        channel: Channel,
        models: Models,
        read_servers: ReadServers,
    ) -> None:
        clock = runtime.clock
        self.config, self.runtime, self.db, self.models = config, runtime, db, models
        self.channel = with_cards(channel, clock)
        self.signer = signer = announce_questions(config, runtime.signer, self.channel)
        keys = CheckpointKeys(signer, runtime.ring)
        self.audit = audit_log(config, db, clock, keys, message_to_owner(self.channel))
        self.stop = EmergencyStop.of(config, db, clock)
        self.time = effective_time(db, clock, self.audit)
        self.nonces: NonceStore = SqlNonceStore(db, self.time, config.nonce_store)
        self.approval = approval_engine(self)
        self.store = SqlWorkItemStore(db, clock)
        self.undoing = Undo(config.data_dir / "undo", self.audit)
        self.shown_batches: dict[str, FileBatch] = {}
        self.moving = execution_over(config, db, self.audit, self.time)
        self.waiting = AnnouncedPlans(db, clock, config.data_dir / "wake" / "plans")
        self.outcomes = SqlOutcomeStore(db, self.time)
        evaluations = config.limits.max_gate_evals_per_turn
        self.gates = GateRunner(gate_providers(config), self.audit, evaluations)
        self.secrecy = SecretRegistry(runtime.secrets, clock.now)
        self.secrecy.refresh()  # asked for here, where a passphrase can be typed
        self.sandbox = guard_sandbox(runtime.sandbox, self.secrecy, self.audit)
        self.registry, self.servers = tool_registry(self, read_servers)
        self.preconditions = Preconditions(
            self.stop.sentinel, self.audit, runtime.sandbox, self.undoing, self.servers.follow
        )
        self.scopes = scopes_of(config)
        self.door = tool_door(self)
        self.skills = skill_loader(config, signer.verify)
        self.picks: asyncio.Queue[str] = asyncio.Queue()
        self.context_services = services = context_services_of(
            context_service_parts(self),
            models.make_scorer(self.meter),
            self.picks.put,
            able_to_plan(config, models.choices, clock),
        )
        self.learning = Learning(services.review, services.work.scope_of)
        self.questions = OwnerQuestions(
            self.channel, self.audit, clock, claims_of(self.registry), self.learning.call
        )
        self.policies = RunPolicies()
        self.holding = build_holding(self)
        self.sign_in = SenderIdentity(
            owner_verified(signer, db, clock), self.nonces, self.audit, clock, _KNOWN_CHANNELS
        )
        self.sign_message = message_signer(config, runtime.signer)
        typed = TypedWords(self.channel.channel_name, self.sign_message, self.sign_in, clock)
        self.board = ProgressBoard(self.secrecy.redact, self.secrecy.redact_begun, clock)
        add_looking_tools(
            self.registry,
            MeteredSearch(services.search.find, services.remembered.meter).find,
            services.context.in_view,
            OwnerChoices(
                self.channel, self.audit, clock, typed.taint_of, self.store, self.asked, self.board
            ).ask,
        )
        self.limits, self.workers = sandbox_limits(config), worker_library(config)
        self.tools, known = tool_search(config), self.registry
        self.surroundings = SandboxFacts(config, models.choices, self.sandbox, self.tools, known)
        self.binding = plan_binding(self)
        self.drafts = drafts_on(self.channel, self.secrecy.redact_begun)
        self.telling = ProgressReporter(self.channel, services.work, self.board)

    @cached_property
    def meter(self) -> "RecordedCalls":
        """Counts requests to models, and records whom it refused."""
        return self.models.meter.recording(RefusalRecord(self.audit, self.runtime.clock))

    @cached_property
    def asked(self) -> LeftWaiting:
        """What running work asks its owner, and what of it an orderly end leaves."""
        questions = WorkQuestions(self.db, self.runtime.clock, self.secrecy.redact)
        return LeftWaiting(questions, self.stop.halt.require_running)

    @cached_property
    def notifier(self) -> "ProcessNotifier":
        """How processes of this home tell each other that jobs changed."""
        from silas.services.schedules.reminders import notifier_of  # noqa: PLC0415 - few turns need it

        return notifier_of(self.config)

    def server_entries(self) -> "tuple[MCPEntry, ...]":
        """The servers of others, as they are in force."""
        return self.servers.entries

    def reminders(self) -> "Reminders":
        """The service of reminders; a turn that is about none loads nothing of it."""
        from silas.services.schedules.reminders import reminders_over  # noqa: PLC0415 - as above

        changed = self.notifier.notify
        whole = self.audit.require_whole
        return reminders_over(self.config, self.db, self.time, self.audit, changed, whole)

    def reminder_service(self) -> "ReminderService":
        """What `silas remind` works with, for the cockpit."""
        from silas.services.schedules.reminders import ReminderService  # noqa: PLC0415 - as above

        return ReminderService(self.reminders(), self.time, self.config)

    def conversation_service(self) -> ConversationService:
        """What `silas conversations` works with, for the cockpit."""
        services = self.context_services
        memories, kept = services.remembered.store, services.conversations.store
        return ConversationService(
            kept,
            services.chronicle,
            services.conversations.attachments,
            self.audit,
            self.secrecy.redact,
            memories.search_raw,
            ConversationDeletion(
                self.db, kept, services.conversations.attachments, memories, self.audit
            ),
        )

    def memory_service(self) -> MemoryService:
        """What `silas memory` works with, for the cockpit."""
        services = self.context_services
        return MemoryService(
            services.remembered,
            self.db,
            self.runtime.clock,
            self.audit,
            services.chronicle,
            self.reminders(),
        )

    def narrowing(self) -> "ApprovalNarrowing":
        """What makes approvals smaller; few turns are about that."""
        from silas.work.authority.narrowing import ApprovalNarrowing  # noqa: PLC0415 - as above

        return ApprovalNarrowing(
            self.approval,
            self.nonces,
            self.store,
            self.audit,
            self.time,
            partial(self.db.write, durable=True),
            SqlAutonomyStore(self.db),
            configured_knobs(self.config),
            self.config.scheduler.zone,
        )

    def goals(self) -> "Goals":
        """The service of goals; a turn that is about none loads nothing of it."""
        from silas.services.schedules.goals import goals_over  # noqa: PLC0415 - as above

        return goals_over(self.config, self.db, self.time, self.audit, self.notifier.notify)

    @cached_property
    def goals_when_needed(self) -> GoalsWhenNeeded:
        """The same service, for what asks it about a plan that is a goal."""
        return GoalsWhenNeeded(self.goals)

    def batches(self) -> "FolderReview":
        """What asks about batches of files; a turn that is about none loads nothing of it."""
        from silas.services.batches.service import review_over  # noqa: PLC0415 - as above

        return review_over(
            self.config,
            self.db,
            self.approval,
            self.moving,
            self.context_services.review.note_signal,
            self.audit,
            self.time,
            self.shown_batches,
        )

    def ahead_service(self) -> "AheadService":
        """What `silas ahead` looks at, for the cockpit."""
        from silas.services.schedules.ahead import AheadService  # noqa: PLC0415 - as above

        return AheadService(
            self.reminders(),
            self.goals(),
            self.store,
            self.nonces,
            self.stop.epochs,
            self.time,
            self.audit,
            self.config,
            lapsed_by(self.binding, self.signer, self.runtime.ring, self.config.scheduler.zone),
        )

    def entry_words(self) -> "EntryWords":
        """Tells an entry of the record by titles."""
        from silas.services.activity.entry_words import EntryWords  # noqa: PLC0415 - as above

        return EntryWords(
            self.store,
            self.waiting,
            self.context_services.conversations.store.one,
            self.reminders().store.get,
            self.secrecy.redact,
        )

    def past_days(self) -> "PastDays":
        """What tells what was done on a day."""
        from silas.services.activity.past_days import PastDays  # noqa: PLC0415 - as above

        zone = self.config.scheduler.zone
        return PastDays(AuditReader(self.db), self.entry_words(), self.runtime.clock, zone)

    def under_way(self) -> "UnderWay":
        """What tells what runs and what waits."""
        from silas.services.activity.under_way import UnderWay  # noqa: PLC0415 - as above

        return UnderWay(self.store, self.waiting, self.holding.held)


def approval_engine(parts: Parts) -> ApprovalEngine:
    """What signs and verifies approvals, with the owner's keys and by effective time."""
    return ApprovalEngine(
        parts.signer,
        parts.nonces,
        parts.audit,
        parts.time,
        parts.config.approval,
        parts.stop.epochs,
        parts.runtime.ring,
        parts.config.scheduler.zone,
    )


def context_service_parts(parts: Parts) -> ContextServiceParts:
    """What the rooms of thinking are made of."""
    return ContextServiceParts(
        parts.config,
        parts.db,
        parts.runtime,
        parts.audit,
        parts.channel,
        parts.approval,
        parts.signer,
    )
