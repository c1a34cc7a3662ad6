"""What of a plan repeats words that were read elsewhere; kept and shown with why it is proposed.

Wherever a plan waits or is shown, its reason is: in the database, at both doors, after a restart.
So the marks travel in the same text, behind a character that no reason can hold.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from silas.cards.models import Detail
from silas.language import tr, tr_later
from silas.plans.characters import show, show_exactly, show_lines

HEADING: Final = tr_later("Words of this plan that were read elsewhere")
_BEHIND: Final = "\x1e"  # the ASCII record separator
_MOST: Final = 200  # marks on one card
_LONGEST: Final = 500  # characters of one mark


class PlanMark(NamedTuple):
    """A stretch of a plan and where the same words were read.

    Attributes:
        where: The field of the plan.
        source: Where they were read, in words.
        text: The words, as the plan has them.
    """

    where: str
    source: str
    text: str


def with_marks(rationale: str, marks: Sequence[PlanMark]) -> str:
    """A reason that carries marks; without any it is the reason alone."""
    why = rationale.replace(_BEHIND, " ")
    if not marks:
        return why
    rows = [[mark.where, mark.source, mark.text[:_LONGEST]] for mark in marks[:_MOST]]
    more = len(marks) - len(rows)
    return why + _BEHIND + json.dumps({"marks": rows, "more": more}, ensure_ascii=False)


def split_marks(rationale: str) -> tuple[str, tuple[Detail, ...]]:
    """The reason for the card, and the part of the card that shows the marks."""
    why, behind, told = rationale.partition(_BEHIND)
    if not behind:
        return why, ()
    try:
        kept = cast(dict[str, Any], json.loads(told))
        rows = [PlanMark(*map(str, row)) for row in kept["marks"]]
        more = int(kept["more"])
    except (ValueError, TypeError, KeyError):
        lines: tuple[str, ...] = (tr("cannot be told any more; take all of it as read elsewhere"),)
        return f"{why} {tr(_LOOK)}", (Detail(heading=tr(HEADING), lines=lines),)
    lines = tuple(line for row in rows for line in _lines(row))
    if more:
        lines += (tr("and {more} more; take all of it as read elsewhere", more=more),)
    return f"{why} {tr(_LOOK)}", (Detail(heading=tr(HEADING), lines=lines),)


_LOOK = tr_later("Parts of the plan repeat what was read; look at what is marked.")


def _lines(mark: PlanMark) -> tuple[str, ...]:
    shown = tuple(f"  | {line}" for line in show_lines(mark.text, show_exactly))
    return (f"{show(mark.where)}: {show_exactly(mark.source)}", *shown)
