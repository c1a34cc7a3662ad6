"""What a turn needs of suggestions, and their absence (spec 4.22)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol


class Suggestions(Protocol):
    """What Silas proposes by itself; never what it does by itself."""

    async def idle(self, scope: str, now: datetime) -> list[str]:
        """What waits for the owner before the next message is looked at."""
        ...

    async def after_result(
        self, scope: str, result_status: str, next_steps: Sequence[str]
    ) -> list[str]:
        """What to offer after a piece of work ended."""
        ...


class NoSuggestions:
    """Suggests nothing. The suggestion engine comes with a later version."""

    async def idle(self, scope: str, now: datetime) -> list[str]:
        """Nothing waits."""
        return []

    async def after_result(
        self, scope: str, result_status: str, next_steps: Sequence[str]
    ) -> list[str]:
        """Nothing is offered."""
        return []
