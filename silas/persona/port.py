"""What a turn needs of a personality (spec 4.17, 5.1.4)."""

from typing import NamedTuple, Protocol

from silas.types import TaintLevel


class SpeakingStyle(NamedTuple):
    """How to speak in one turn.

    Attributes:
        context_key: The situation that was recognised.
        directives: Prose for the system zone, without any number; empty for no wishes.
        initiative: How proactive to be, 0 to 1; only a bias inside what is allowed.
    """

    context_key: str
    directives: str
    initiative: float


class TurnSummary(NamedTuple):
    """How a turn went, for the mood.

    Attributes:
        outcome: `Reply.outcome`.
        text: What was said.
        taint: Whose words they were: only the owner's move the baseline.
    """

    outcome: str
    text: str
    taint: TaintLevel


class Persona(Protocol):
    """Shapes wording and pace; never what is allowed (spec 3.10). Neither call ever fails."""

    async def manner(self, scope_id: str, text: str) -> SpeakingStyle:
        """How to speak in this turn; neutral where anything goes wrong (spec 5.14)."""
        ...

    async def after_turn(self, scope_id: str, happened: TurnSummary) -> None:
        """Take note of how the turn went, and let the mood decay (step 15)."""
        ...


NEUTRAL = 0.5
"""The middle of every axis."""
