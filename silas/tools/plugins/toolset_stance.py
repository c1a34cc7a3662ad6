"""What a toolset says about one call, read with least trust: what is not understood blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, cast, runtime_checkable

from silas.tools.models import Stance

_STANCES: Final = {
    "blocked": Stance.blocked,
    "ask": Stance.ask,
    "pre_approved": Stance.pre_approved,
}


@runtime_checkable
class RicherAnswer(Protocol):
    """What `needs_approval` may return beside a bool and a dict; known by its attributes."""

    @property
    def stance(self) -> str:
        """`blocked`, `ask` or `pre_approved`."""
        ...

    @property
    def description(self) -> str:
        """What the call would do or why it is blocked, in the toolset's words."""
        ...


@dataclass(frozen=True)
class Opinion:
    """The richer result, for toolsets that import Silas; anything of this shape will do."""

    stance: Literal["blocked", "ask", "pre_approved"]
    description: str = ""


class NeedsApprovalMethod(Protocol):
    """A `needs_approval` method."""

    def __call__(self, name: str, tool_args: dict[str, Any]) -> object:
        """A bool, a dict with a description, or a `RicherAnswer`."""
        ...


@dataclass(frozen=True)
class ToolsetStance:
    """A toolset's stance on one call, and its words for it."""

    stance: Stance
    description: str = ""


BLOCKED: Final = ToolsetStance(Stance.blocked)


@runtime_checkable
class OpinionatedTool(Protocol):
    """A tool whose own code has a stance, and words, on each call."""

    def opinion(self, request: dict[str, Any]) -> ToolsetStance:
        """For validated arguments; never raises."""
        ...


def parse_stance(answer: object) -> ToolsetStance:
    """What an answer of `needs_approval` means.

    False is pre-approved, True asks, `{"description": text}` asks with words, and an object with a
    known `stance` says it itself. Everything else, a coroutine included, blocks.
    """
    if answer is False:
        return ToolsetStance(Stance.pre_approved)
    if answer is True:
        return ToolsetStance(Stance.ask)
    if isinstance(answer, Mapping):
        words = dict(cast(Mapping[object, object], answer))
        description = words.pop("description", "")
        return BLOCKED if words or not isinstance(description, str) else _asks(description)
    if isinstance(answer, RicherAnswer):
        stance, description = answer.stance, answer.description
        known = _STANCES.get(stance) if type(stance) is str else None
        if known is not None and type(description) is str:
            return ToolsetStance(known, description)
    return BLOCKED


def _asks(description: str) -> ToolsetStance:
    return ToolsetStance(Stance.ask, description)
