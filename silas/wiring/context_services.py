"""What a turn thinks with: the context in view, the chronicle, and what is remembered (spec 12)."""

from dataclasses import dataclass
from typing import NamedTuple

from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.autonomy.suggest import Able
from silas.cards import CardChannel
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.context import (
    ContextManager,
    SqlChronicleStore,
    TokenCounter,
)
from silas.context.attachments import AttachmentStore
from silas.context.conversation_store import ConversationStore
from silas.context.files import WorkspaceFiles
from silas.context.scoring import Scorer
from silas.db import Database
from silas.home.runtime import Runtime
from silas.keys import Signer
from silas.persona.engine import PersonalityEngine
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.services.memory import MemoryPorts, MemoryRooms, ask_owner, memory_rooms, rules_within
from silas.services.memory_search import MemorySearch
from silas.services.persona import personality
from silas.services.review import review_queue
from silas.stream.followed_files import FollowedFiles
from silas.stream.inbox import SqlInbox
from silas.stream.interrupted import InterruptedTurns
from silas.stream.items import ItemFactory
from silas.stream.review import ReviewQueue, Wish
from silas.stream.scope_work import ScopeWork
from silas.stream.state import Conversations
from silas.stream.work_context import WorkContext
from silas.tools.outcomes import SqlOutcomeStore
from silas.work.changes.undo import Undo


class ConversationServices(NamedTuple):
    """What is kept of the owner's conversations.

    Attributes:
        store: Their names and what was said.
        open: Those that a turn runs in, with what they have in mind.
        attachments: Files that are attached to them.
        arrivals: Messages that no turn has answered yet.
    """

    store: ConversationStore
    open: Conversations
    attachments: AttachmentStore
    arrivals: SqlInbox


@dataclass(frozen=True)
class ContextServices:
    """The rooms of thinking, wired over one database."""

    context: ContextManager
    files: WorkspaceFiles
    followed: FollowedFiles
    chronicle: SqlChronicleStore
    remembered: MemoryRooms
    conversations: ConversationServices
    work: ScopeWork
    work_view: WorkContext
    items: ItemFactory
    persona: PersonalityEngine
    review: ReviewQueue
    search: MemorySearch


class ContextServiceParts(NamedTuple):
    """What the rooms of thinking stand on."""

    config: SilasConfig
    db: Database
    runtime: Runtime
    audit: Audit
    channel: CardChannel
    approval: ApprovalVerifier
    signer: Signer


def context_services_of(
    on: ContextServiceParts, scorer: Scorer, wish: Wish, able: Able
) -> ContextServices:
    """The rooms over a database.

    Args:
        on: What they stand on.
        scorer: Advises on what may leave a full context.
        wish: Takes words that the owner picked as something to plan.
        able: Whether such words can become a plan now.
    """
    config, db, clock, audit = on.config, on.db, on.runtime.clock, on.audit
    count, files = TokenCounter().count, WorkspaceFiles()
    fit = rules_within(config, count)
    confirm = ask_owner(on.channel, audit, clock)
    remembered = memory_rooms(
        config, db, clock, audit, MemoryPorts(on.signer, on.runtime.ring, confirm, count, fit)
    )
    search = MemorySearch(
        remembered.retriever,
        remembered.store,
        clock,
        raw_in_reach=config.memory.raw_reingestion_enabled,
    )
    persona = personality(config, db, audit, clock)
    undo = Undo(config.data_dir / "undo", audit)
    stored, answers = SqlWorkItemStore(db, clock), SqlOutcomeStore(db, clock)
    work = ScopeWork(db, stored, answers, remembered.store, clock)
    conversations, conversation_store = Conversations(), ConversationStore(db, clock)
    review = review_queue(
        config,
        db,
        clock,
        audit,
        on.channel,
        on.approval,
        remembered.store,
        fit,
        work.scope_of,
        persona.after_work,
        wish,
        able,
    )
    zone = config.scheduler.zone
    context = ContextManager(
        config.context, count, clock, scorer, files, search.search_subscription, audit, zone
    )
    items, chronicle = (
        ItemFactory(count, clock),
        SqlChronicleStore(db, clock, config.context.chronicle),
    )
    return ContextServices(
        context=context,
        files=files,
        followed=FollowedFiles(db),
        chronicle=chronicle,
        remembered=remembered,
        conversations=ConversationServices(
            conversation_store,
            conversations,
            AttachmentStore(db, clock, config.data_dir / "attachments"),
            SqlInbox(db, clock, conversation_store.note_words),
        ),
        work=work,
        work_view=WorkContext(work, context, chronicle, conversations, review, items, undo, zone),
        items=items,
        persona=persona,
        review=review,
        search=search,
    )


def aftermath(
    context_services: ContextServices, channel: CardChannel, db: Database, audit: Audit
) -> InterruptedTurns:
    """What tells of turns that the last process left unanswered."""
    clock = SystemClock()  # nothing is written through these
    return InterruptedTurns(
        context_services.conversations.arrivals,
        context_services.chronicle,
        context_services.remembered.store,
        context_services.items,
        channel,
        db.write,
        audit,
        SqlWaitingPlans(db, clock),
        SqlWorkItemStore(db, clock),
    )
