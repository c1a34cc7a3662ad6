"""What a turn needs of a personality, and the personality that is none (spec 4.17)."""

from typing import Protocol

NEUTRAL = 0.5
"""The middle of every axis."""


class Persona(Protocol):
    """Shapes wording and pace; never what is allowed (spec 3.10)."""

    def directives(self, scope: str, text: str) -> str:
        """How to speak in this turn, as prose; empty for no wishes."""
        ...

    def initiative(self, scope: str) -> float:
        """How proactive to be, 0 to 1."""
        ...

    async def after_turn(self, scope: str, event: str) -> None:
        """Take note of how the turn ended."""
        ...


class NoPersona:
    """Neutral always, as 5.14 asks on failure. Moods come with a later version."""

    def directives(self, scope: str, text: str) -> str:
        """No wishes."""
        return ""

    def initiative(self, scope: str) -> float:
        """Neither reactive nor proactive."""
        return NEUTRAL

    async def after_turn(self, scope: str, event: str) -> None:
        """Nothing changes a mood that is not there."""
