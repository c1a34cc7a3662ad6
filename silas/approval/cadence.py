"""Whether answers come too fast, or too many wait: a cue to notice, never a delay (spec 0.5.4)."""

from collections.abc import Iterable
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from silas.types import Risk

WINDOW = 10
"""Decisions that are looked at together: the last ten."""

ENOUGH = 5
"""Fewer say nothing about a habit."""

TOO_FAST_SECONDS = 1.0
"""A median below this is no reading."""

TOO_MANY = 5
"""More than this many waiting decisions are a pile."""

_COUNTED = frozenset({Risk.medium, Risk.high, Risk.irreversible})


class AttentionCue(StrEnum):
    """What to draw attention to."""

    none = "none"
    cadence = "cadence"
    """Decisions are made faster than they can be read."""
    density = "density"
    """Many decisions wait at once."""


class Cadence(NamedTuple):
    """How fast the last decisions of medium risk and more were made, the newest last."""

    seconds: tuple[float, ...] = ()

    def after(self, risk: Risk, seconds: float) -> "Cadence":
        """The cadence with one more decision; low risk does not count."""
        if risk not in _COUNTED:
            return self
        return Cadence((*self.seconds, seconds)[-WINDOW:])

    @property
    def too_fast(self) -> bool:
        """Whether the median says that nobody reads any more."""
        return len(self.seconds) >= ENOUGH and median(self.seconds) < TOO_FAST_SECONDS

    def cue(self, waiting: Iterable[Risk]) -> AttentionCue:
        """What to draw attention to now, given the risks of the decisions that wait."""
        if self.too_fast:
            return AttentionCue.cadence
        many = sum(risk in _COUNTED for risk in waiting) > TOO_MANY
        return AttentionCue.density if many else AttentionCue.none


CUE_WORDS = {
    AttentionCue.none: "",
    AttentionCue.cadence: "Your last answers took less than a second each; take the time you want.",
    AttentionCue.density: "Many decisions wait; you can leave them, nothing runs without you.",
}
"""What each cue says to the owner."""
