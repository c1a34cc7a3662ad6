"""Items of a context as a turn makes them, each with where it came from (spec 3.5)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from silas.clock import Clock
from silas.context import ContextItem, ContextZone
from silas.context.models import ItemKind
from silas.memory.port import as_sources
from silas.types import TaintLevel, new_id

CountTokens = Callable[[str], int]
"""How many tokens a text is, about."""


class ItemOrigin(NamedTuple):
    """Where an item comes from: its trust, its source, and what that source rests on."""

    taint: TaintLevel
    source: str
    sources: Sequence[str] = ()


class ItemPosition(Protocol):
    """Where in a conversation an item belongs, as `Standing` and `ScopeState` say it."""

    @property
    def turn_number(self) -> int:
        """The turn."""
        ...

    @property
    def folder(self) -> str:
        """The directory that it is about."""
        ...

    @property
    def conversation(self) -> str:
        """The conversation of the scope."""
        ...


class ItemFactory:
    """Makes items."""

    def __init__(self, count_tokens: CountTokens, clock: Clock) -> None:
        self._count = count_tokens
        self._clock = clock

    def make(
        self,
        stands: ItemPosition,
        zone: ContextZone,
        kind: ItemKind,
        text: str,
        origin: ItemOrigin,
        *,
        ctx_id: str = "",
        pinned: bool = False,
        succeeded: bool = False,
    ) -> ContextItem:
        """An item that stands there; the context makes external text harmless."""
        return ContextItem(
            ctx_id=ctx_id or new_id("ctx"),
            zone=zone,
            content=text,
            token_count=self._count(text),
            created_at=self._clock.now(),
            turn_number=stands.turn_number,
            source=origin.source,
            taint=origin.taint,
            kind=kind,
            pinned=pinned,
            succeeded=succeeded,
            sources=as_sources(origin.source, origin.sources),
            folder=stands.folder if zone is ContextZone.chronicle else "",
            conversation=stands.conversation,
        )
