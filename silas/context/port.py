"""What a turn needs of the context, and the context that keeps nothing (spec 4.3)."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from silas.context.models import Evicted
from silas.types import TaintLevel


class InView(NamedTuple):
    """One item of a context, without its words.

    Attributes:
        id: Names it.
        zone: The zone it lies in.
        kind: What kind of item.
        source: Where it came from.
        taint: How far it is trusted.
        characters: Its size.
    """

    id: str
    zone: str
    kind: str
    source: str
    taint: TaintLevel
    characters: int


class ContextKeeper(Protocol):
    """What the model sees, per scope; no scope ever sees another's."""

    def add(
        self, scope: str, *, kind: str, text: str, taint: TaintLevel, source: str, turn: int
    ) -> None:
        """Take an item into the context of a scope."""
        ...

    def render(self, scope: str, turn: int) -> str:
        """The context as text, each item in framing that names its origin."""
        ...

    def inspect(self, scope: str) -> Sequence[InView]:
        """What is in view of a scope, in the order it is rendered."""
        ...

    async def enforce_budget(self, scope: str, turn: int) -> list[Evicted]:
        """Make room where the context is too full; returns what had to go."""
        ...

    def set_profile(self, scope: str, name: str) -> None:
        """Divide the window as this profile says from now on."""
        ...


class NoContext:
    """Keeps nothing: every turn stands alone. The context manager comes with a later version."""

    def add(
        self, scope: str, *, kind: str, text: str, taint: TaintLevel, source: str, turn: int
    ) -> None:
        """Dropped."""

    def render(self, scope: str, turn: int) -> str:
        """Empty."""
        return ""

    def inspect(self, scope: str) -> Sequence[InView]:
        """Nothing is in view."""
        return ()

    async def enforce_budget(self, scope: str, turn: int) -> list[Evicted]:
        """Nothing is kept, so nothing has to go."""
        return []

    def set_profile(self, scope: str, name: str) -> None:
        """Nothing to divide."""
