"""What a turn thinks with: the context in view, the chronicle, and what is remembered (spec 12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.cards import CardChannel
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.context import (
    ContextItem,
    ContextManager,
    FoundMemory,
    SqlChronicleStore,
    TokenCounter,
)
from silas.context.files import WorkspaceFiles
from silas.context.scoring import Scorer
from silas.db import Database
from silas.errors import SilasError
from silas.home.runtime import Runtime
from silas.keys import Signer
from silas.memory import MemoryItem
from silas.persona.engine import PersonalityEngine
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting import SqlWaitingPlans
from silas.services.memory import MemoryRooms, Surroundings, asked_on, memory_rooms, rules_within
from silas.services.persona import personality
from silas.services.review import review_queue
from silas.services.tools.prompt_overhead import Overhead
from silas.stream.arrivals import Interrupted, SqlArrivals
from silas.stream.followed import FollowedFiles
from silas.stream.interrupted import Aftermath, tell_interrupted
from silas.stream.items import CountTokens, Items
from silas.stream.review import ReviewQueue, Wish
from silas.stream.scopework import ScopeWork
from silas.stream.state import Conversations
from silas.stream.workview import WorkView
from silas.tools.outcomes import SqlOutcomeStore

_SAID = frozenset({"conversation_raw", "tool_output_raw"})
"""Raw records of what people said and tools returned; not of what Silas made of it."""

_DEEPER = 4  # times as many raw records are looked at, because most are Silas's own words
_HOUR = 3600.0
_FOLLOWED = 5  # memories that a subscription shows


@dataclass(frozen=True)
class Mind:
    """The rooms of thinking, wired over one database."""

    count_tokens: CountTokens
    context: ContextManager
    files: WorkspaceFiles
    followed: FollowedFiles
    chronicle: SqlChronicleStore
    remembered: MemoryRooms
    arrivals: SqlArrivals
    conversations: Conversations
    work: ScopeWork
    work_view: WorkView
    items: Items
    persona: PersonalityEngine
    review: ReviewQueue
    raw_in_reach: bool

    async def search(
        self, scope_id: str, query: str, most: int, everything: bool
    ) -> list[MemoryItem]:
        """What is remembered and fits; what was ever said, too, where that is asked for.

        Raw records come back in no other way than by such a question (spec 3.8, 6.1).
        """
        rooms = self.remembered
        found = [one.item for one in await rooms.retriever.recall(query, scope_id, most)]
        if everything and self.raw_in_reach:
            raw = await rooms.store.search_raw(query, most * _DEEPER, scope_id)
            found += [one for one in raw if one.source_kind in _SAID]
        return list({one.content: one for one in found}.values())[:most]

    def look(self, scope_id: str) -> Sequence[ContextItem]:
        """What is in view."""
        return self.context.in_view(scope_id)


class Standing(NamedTuple):
    """What the rooms of thinking stand on."""

    config: SilasConfig
    db: Database
    runtime: Runtime
    audit: Audit
    channel: CardChannel
    approval: ApprovalVerifier
    signer: Signer


def mind_of(on: Standing, scorer: Scorer, wish: Wish, overhead: Overhead) -> Mind:
    """The rooms over a database.

    Args:
        on: What they stand on.
        scorer: Advises on what may leave a full context.
        wish: Takes words that the owner picked as something to plan.
        overhead: What of every prompt is no context.
    """
    config, db, clock, audit = on.config, on.db, on.runtime.clock, on.audit
    count, files = TokenCounter().count, WorkspaceFiles()
    fit = rules_within(config, count)
    confirm = asked_on(on.channel, audit, clock)
    remembered = memory_rooms(
        config, db, clock, audit, Surroundings(on.signer, on.runtime.ring, confirm, count, fit)
    )

    async def followed(scope_id: str, query: str) -> Sequence[FoundMemory]:
        found = await remembered.retriever.recall(query, scope_id, _FOLLOWED)
        return [FoundMemory(one.memory_id, one.content, one.taint, one.sources) for one, _ in found]

    persona = personality(config, db, audit, clock)
    stored, answers = SqlWorkItemStore(db, clock), SqlOutcomeStore(db, clock)
    work = ScopeWork(db, stored, answers, remembered.store, clock)
    conversations = Conversations()
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
    )
    context = ContextManager(config.context, count, clock, scorer, files, followed, audit)
    context.reserve(overhead.reserved)
    items, chronicle = Items(count, clock), SqlChronicleStore(db, clock, config.context.chronicle)
    return Mind(
        count_tokens=count,
        context=context,
        files=files,
        followed=FollowedFiles(db),
        chronicle=chronicle,
        remembered=remembered,
        arrivals=SqlArrivals(db, clock),
        conversations=conversations,
        work=work,
        work_view=WorkView(work, context, chronicle, conversations, review, items),
        items=items,
        persona=persona,
        review=review,
        raw_in_reach=config.memory.raw_reingestion_enabled,
    )


async def tell_left(
    left: Sequence[Interrupted], mind: Mind, channel: CardChannel, db: Database, audit: Audit
) -> None:
    """Tell of what the last process left unanswered."""
    clock = SystemClock()  # nothing is written through these
    after = Aftermath(
        mind.arrivals,
        mind.chronicle,
        mind.remembered.store,
        mind.items,
        channel,
        db.write,
        audit,
        SqlWaitingPlans(db, clock),
        SqlWorkItemStore(db, clock),
    )
    await tell_interrupted(left, after)


async def prune_conversations(chronicle: SqlChronicleStore, clock: Clock, audit: Audit) -> None:
    """Keep conversations as long as is configured and no longer: now, and every hour."""
    while True:
        try:
            await chronicle.prune()
        except SilasError as error:  # the next hour tries again
            await audit.log("chronicle_not_pruned", code=error.code)
        await clock.sleep(_HOUR)
