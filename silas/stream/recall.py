"""Steps 4 and 9: memories into view, each with its own trust and never twice (spec 5.1)."""

from collections.abc import Iterable

from silas.audit import Audit
from silas.context import ContextItem, ContextZone
from silas.errors import SilasError
from silas.memory import MemoryItem, MemoryRetriever, MemoryType, RankedMemory
from silas.memory.meter import TOO_MANY
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import ModelView
from silas.stream.state import ScopeState, Turn, need
from silas.tools.builtin.recall import EVICTED

_RECALLED = 5  # memories brought into view for one message
_MOST_QUERIES = 3  # of one answer (spec 3.2)


def name_of(memory_id: str) -> str:
    """How a memory is named as a source."""
    return f"memory:{memory_id}"


class Recall:
    """Brings memories into view."""

    def __init__(
        self, retriever: MemoryRetriever, context: ModelView, items: ItemFactory, audit: Audit
    ) -> None:
        self._retriever = retriever
        self._context = context
        self._items = items
        self._audit = audit

    # 4
    async def for_message(self, turn: Turn) -> None:
        """What fits the message, best first."""
        found = await self._retriever.recall(turn.message.text, turn.scope_id, _RECALLED)
        self.into_view(turn.seat.scope, found, turn.number)

    # 9
    async def for_queries(self, turn: Turn) -> None:
        """What the agent asked for; it sees it from the next turn on."""
        for query in need(turn.answer.response, "step 7").memory_queries[:_MOST_QUERIES]:
            try:
                found = await self._retriever.retrieve(
                    query, turn.scope_id, turn.seat.scope.session_id
                )
            except SilasError as error:  # a question that cannot be asked ends no turn
                if error.code != TOO_MANY:  # which is on record already
                    await self._audit.log("memory_query_failed", turn_id=turn.id, code=error.code)
                continue
            ranked = [RankedMemory(item, 1 - n / len(found)) for n, item in enumerate(found)]
            self.into_view(turn.seat.scope, ranked, turn.number + 1)

    def into_view(
        self, scope: ScopeState, found: Iterable[RankedMemory], number: int, *, pinned: bool = False
    ) -> None:
        """Take memories into view, none of them twice.

        Args:
            scope: Whose view.
            found: The memories.
            number: The turn that they are for; in it they leave after all other memories.
            pinned: Whether they never leave.
        """
        context = self._context
        known = {item.source for item in context.get_zone(scope.address, ContextZone.memory)}
        for item, relevance in found:
            if item.source_kind == EVICTED and not scope.has(item.session_id or ""):
                continue  # it stood in the view of another conversation, and stays with that
            source = name_of(item.memory_id)
            if source in known:
                context.renew(scope.address, source, relevance, number)
            elif not _is_a_rule(item):
                block = self._block(scope, item, source, pinned)
                changed = {"relevance": relevance, "turn_number": number}
                context.add(scope.address, block.model_copy(update=changed))

    def _block(self, scope: ScopeState, item: MemoryItem, source: str, pinned: bool) -> ContextItem:
        made = self._items.make(
            scope,
            ContextZone.memory,
            "memory",
            item.content,
            ItemOrigin(item.taint, source, item.sources),
            ctx_id=source,
            pinned=pinned,
        )
        return made.model_copy(update={"created_at": item.created_at})


def _is_a_rule(item: MemoryItem) -> bool:
    """Rules stand in every prompt already, all of them in one place."""
    return item.memory_type is MemoryType.preference and item.trust_level != "working"
