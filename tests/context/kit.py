"""What the context's tests say often: items, and a manager over fakes."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from silas.context import (
    ContextConfig,
    ContextItem,
    ContextManager,
    ContextProfile,
    ContextZone,
    FoundMemory,
    ReadFile,
    RenderedContext,
    Scorer,
    no_files,
    no_scorer,
)
from silas.testing import FakeTokenCounter, MemoryAudit, MockClock
from silas.types import TaintLevel

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
A, B = "owner", "customer-1"


def item(ctx_id: str = "c-1", content: str = "Good morning.", **fields: Any) -> ContextItem:
    """A message of the owner in turn 1, unless it is said otherwise."""
    given: dict[str, Any] = {
        "zone": ContextZone.chronicle,
        "token_count": 0,
        "created_at": NOW,
        "turn_number": 1,
        "source": "channel:web",
        "taint": TaintLevel.owner,
        "kind": "message",
    }
    return ContextItem(ctx_id=ctx_id, content=content, **{**given, **fields})


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def config(**fields: Any) -> ContextConfig:
    """A window of a thousand words, of which each zone has a good part."""
    given: dict[str, Any] = {
        "total_tokens": 1000,
        "system_max": 400,
        "profiles": {
            "conversation": ContextProfile(chronicle_pct=0.4, memory_pct=0.2, workspace_pct=0.2),
            "coding": ContextProfile(chronicle_pct=0.2, memory_pct=0.2, workspace_pct=0.4),
        },
    }
    return ContextConfig(**{**given, **fields})


def text_of(rendered: RenderedContext) -> str:
    """All that a context shows, one after the other."""
    parts = (rendered.lasting, *(one.text for one in rendered.said), rendered.present)
    return "\n\n".join(filter(None, parts))


def answered(one: ContextItem) -> bool:
    """Whether an item is shown as a message of Silas's own."""
    own = one.source == "silas" or one.source.startswith("agent:")
    spoken = own and one.kind == "message" and one.zone is ContextZone.chronicle
    return spoken and bool(one.content.removeprefix("Silas: ").strip())


ABOVE = "(the assistant's message above)"


def blocks_of(items: Sequence[ContextItem]) -> list[tuple[ContextItem, str]]:
    """Items that are shown in a block, and its text; of an answer only how it is trusted."""
    shown = [one for one in items if not answered(one) or one.taint is not TaintLevel.owner]
    return [(one, ABOVE if answered(one) else one.content) for one in shown]


class Memories:
    """What a subscription finds, and how often it was asked."""

    def __init__(self, *found: FoundMemory) -> None:
        self.found: Sequence[FoundMemory] = found
        self.asked = 0

    async def __call__(self, scope_id: str, query: str) -> Sequence[FoundMemory]:
        self.asked += 1
        return self.found


class Context:
    """A manager, and what it stands on."""

    def __init__(
        self,
        scorer: Scorer = no_scorer,
        read_file: ReadFile = no_files,
        memories: Memories | None = None,
        **fields: Any,
    ) -> None:
        self.audit = MemoryAudit()
        self.clock = MockClock()
        self.memories = memories or Memories()
        self.config = config(**fields)
        self.manager = ContextManager(
            self.config,
            FakeTokenCounter().count,
            self.clock,
            scorer,
            read_file,
            self.memories,
            self.audit,
            UTC,
        )

    def ids(self, scope_id: str = A) -> list[str]:
        return [one.ctx_id for one in self.manager.in_view(scope_id)]
