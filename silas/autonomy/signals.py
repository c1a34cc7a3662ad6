"""What the owner decided, as a signal that later decisions can be learned from (spec 5.9, 6.6)."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Literal, NamedTuple

from silas.approval import ApprovalScope
from silas.plans import WorkItem
from silas.types import OWNER

Decision = Literal["approved", "edit_selection", "declined", "undo", "dismissed"]
"""What became of something that Silas proposed or did."""

CORRECTIONS: frozenset[Decision] = frozenset({"edit_selection", "declined", "undo"})
"""What counts against how Silas proposes (spec 5.9)."""

_FAMILY = re.compile(r"[a-z]{2,16}:[A-Za-z0-9_.\-]{1,64}", re.ASCII)


class Signal(NamedTuple):
    """One decision of the owner's.

    Attributes:
        family: What kind of thing it was about: `plan:coding`, `tool:shell_exec`.
        outcome: What he decided.
        scope_id: In whose scope; only the owner's counts.
    """

    family: str
    outcome: Decision
    scope_id: str = OWNER


Noted = Callable[[Signal], Awaitable[None]]
"""Takes note of a decision; never fails, and never decides anything."""


async def ignore_signal(signal: Signal) -> None:
    """Nobody learns from decisions."""
    del signal


STANDING_FAMILY = "standing:goals"
"""The family of work that a goal's approval started without asking."""


USED_UP_FAMILY = "spent:goals"
"""The family of cards that came because every use of a goal's approval was spent."""

LAPSED_FAMILY = "lapsed:goals"
"""The family of cards that came because the time of a goal's approval was over."""

SAVED_CARDS: Mapping[str, str] = {
    "E_APPROVAL_SPENT": USED_UP_FAMILY,
    "E_APPROVAL_EXPIRED": LAPSED_FAMILY,
}
"""Which family a card belongs to that a wider approval would have saved, by what ended it."""


NARROWED_FAMILY = "narrowed:all"
"""The family of the owner's own narrowing: of a goal's approval, or of how much Silas asks."""

NARROWED: Final = Signal(NARROWED_FAMILY, "declined")


async def note_used_up(noted: Noted, code: str) -> None:
    """Take note of a card that more uses of an approval, or more time, would have saved.

    Args:
        noted: Takes note.
        code: Why the approval authorised nothing.
    """
    if code in SAVED_CARDS:
        await noted(Signal(SAVED_CARDS[code], "approved"))


def started_alone(item: WorkItem) -> bool:
    """Whether a standing approval started this work."""
    token = item.approval_token
    return item.parent is not None and token is not None and token.scope is ApprovalScope.standing


def plan_family(item: WorkItem) -> str:
    """The family of a plan: its domain where it has one, else its kind."""
    return f"plan:{item.domain or item.type.value}"


def tool_family(tool_name: str) -> str:
    """The family of a call."""
    return f"tool:{tool_name}"


def is_family(name: str) -> bool:
    """Whether this is a name of a family: nothing that could say more than a name does."""
    return _FAMILY.fullmatch(name) is not None
