"""What a turn thinks with: the context in view, the chronicle, and what is remembered (spec 12)."""

from collections.abc import Sequence
from dataclasses import dataclass

from silas.audit import Audit
from silas.clock import Clock
from silas.config import SilasConfig
from silas.context import (
    ContextItem,
    ContextManager,
    FoundMemory,
    SqlChronicleStore,
    TokenCounter,
    no_scorer,
)
from silas.context.subscribe import no_files
from silas.db import Database
from silas.memory import MemoryItem, NoVectors
from silas.memory.operations import Operations, RulesFit
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.plans import WorkItem, WorkItemResult
from silas.plans.store import SqlWorkItemStore
from silas.stream.arrivals import SqlArrivals
from silas.stream.items import CountTokens, Items
from silas.stream.ports import Review
from silas.stream.scopework import ScopeWork
from silas.stream.state import Conversations
from silas.stream.workview import WorkView

_SAID = frozenset({"conversation_raw", "tool_output_raw"})
"""Raw records of what people said and tools returned; not of what Silas made of it."""

_DEEPER = 4  # times as many raw records are looked at, because most are Silas's own words
_FOLLOWED = 5  # memories that a subscription shows


class NothingWaits:
    """A review queue that is never filled."""

    async def poll(self, scope_id: str) -> None:
        """Nothing waits."""

    async def after_result(self, item: WorkItem, result: WorkItemResult) -> None:
        """Nothing is offered."""


@dataclass(frozen=True)
class Mind:
    """The rooms of thinking, wired over one database."""

    count_tokens: CountTokens
    context: ContextManager
    chronicle: SqlChronicleStore
    memory: SqlMemoryStore
    retriever: HybridRetriever
    operations: Operations
    arrivals: SqlArrivals
    conversations: Conversations
    work: ScopeWork
    items: Items
    review: Review

    @property
    def work_view(self) -> WorkView:
        """Work in view of its conversation."""
        return WorkView(self.work, self.context, self.conversations, self.review, self.items)

    async def search(
        self, scope_id: str, query: str, most: int, everything: bool
    ) -> list[MemoryItem]:
        """What is remembered and fits; what was ever said, too, where that is asked for."""
        found = [one.item for one in await self.retriever.recall(query, scope_id, most)]
        if everything:
            raw = await self.memory.search_raw(query, most * _DEEPER, scope_id)
            found += [one for one in raw if one.source_kind in _SAID]
        return list({one.content: one for one in found}.values())[:most]

    def look(self, scope_id: str) -> Sequence[ContextItem]:
        """What is in view."""
        return self.context.in_view(scope_id)


def mind_of(config: SilasConfig, db: Database, clock: Clock, audit: Audit) -> Mind:
    """The rooms over a database."""
    count = TokenCounter().count
    store = SqlMemoryStore(db, clock)
    retriever = HybridRetriever(store, NoVectors(), count, clock)

    async def followed(scope_id: str, query: str) -> Sequence[FoundMemory]:
        found = await retriever.recall(query, scope_id, _FOLLOWED)
        return [FoundMemory(one.memory_id, one.content, one.taint, one.sources) for one, _ in found]

    return Mind(
        count_tokens=count,
        context=ContextManager(config.context, count, clock, no_scorer, no_files, followed, audit),
        chronicle=SqlChronicleStore(db, clock, config.context.chronicle),
        memory=store,
        retriever=retriever,
        operations=Operations(store, clock, _rules_fit(config, count)),
        arrivals=SqlArrivals(db, clock),
        conversations=Conversations(),
        work=ScopeWork(db, SqlWorkItemStore(db, clock), clock),
        items=Items(count, clock),
        review=NothingWaits(),
    )


def _rules_fit(config: SilasConfig, count: CountTokens) -> RulesFit:
    """Whether standing rules have room in every prompt together."""
    room = min(config.context.system_max, config.context.total_tokens // 3)

    def fit(rules: Sequence[MemoryItem]) -> bool:
        return count("\n".join(f"- {rule.content}" for rule in rules)) <= room

    return fit
