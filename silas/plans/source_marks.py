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
    return with_kept(why, KeptMarks(tuple(marks))) if marks else why


class KeptMarks(NamedTuple):
    """The marks that a reason carries.

    Attributes:
        marks: Each mark.
        more: How many were left out.
        unknown: Whether they cannot be told any more: any word may be from elsewhere.
    """

    marks: tuple[PlanMark, ...] = ()
    more: int = 0
    unknown: bool = False


def is_cut(kept: KeptMarks) -> bool:
    """Whether words may have been marked that these marks do not hold."""
    cut = any(len(mark.text) >= _LONGEST for mark in kept.marks)
    return cut or kept.unknown or kept.more > 0


NO_MARKS: Final = KeptMarks()
UNKNOWN_MARKS: Final = KeptMarks(unknown=True)


def with_kept(why: str, kept: KeptMarks) -> str:
    """A reason without marks, and behind it these."""
    return why if kept == NO_MARKS else why + _BEHIND + dump_marks(kept)


def dump_marks(kept: KeptMarks) -> str:
    """Marks as JSON; of very many the first."""
    rows = [[mark.where, mark.source, mark.text[:_LONGEST]] for mark in kept.marks[:_MOST]]
    more = kept.more + len(kept.marks) - len(rows)
    told = {"marks": rows, "more": more, **({"unknown": True} if kept.unknown else {})}
    return json.dumps(told, ensure_ascii=False)


def load_marks(text: str) -> KeptMarks:
    """Marks from JSON; damaged ones are unknown."""
    try:
        kept = cast(dict[str, Any], json.loads(text))
        rows = tuple(PlanMark(*map(str, row)) for row in kept["marks"])
        return KeptMarks(rows, int(kept["more"]), bool(kept.get("unknown", False)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return UNKNOWN_MARKS


def kept_marks(rationale: str) -> tuple[str, KeptMarks]:
    """The reason alone, and the marks that it carries; of damaged ones that they are unknown."""
    why, behind, told = rationale.partition(_BEHIND)
    if not behind:
        return why, NO_MARKS
    return why, load_marks(told)


def split_marks(rationale: str) -> tuple[str, tuple[Detail, ...]]:
    """The reason for the card, and the part of the card that shows the marks."""
    why, kept = kept_marks(rationale)
    if kept == NO_MARKS:
        return why, ()
    lines = _mark_lines(_once(kept.marks))
    if kept.unknown:
        lines += (tr("cannot be told any more; take all of it as read elsewhere"),)
    elif kept.more:
        lines += (tr("and {more} more; take all of it as read elsewhere", more=kept.more),)
    return f"{why} {tr(_LOOK)}", (Detail(heading=tr(HEADING), lines=lines),)


_LOOK = tr_later("Parts of the plan repeat what was read; look at what is marked.")


def _once(marks: Sequence[PlanMark]) -> list[PlanMark]:
    """Without what another mark of the same field and source says whole: a card that says a path
    five times hides the one line that matters.
    """
    shown = list[PlanMark]()
    for mark in sorted(marks, key=lambda one: -len(one.text)):  # stable: the first of its length
        held = (one for one in shown if one[:2] == mark[:2])
        if not any(f" {_bare(mark.text)} " in f" {_bare(one.text)} " for one in held):
            shown.append(mark)
    return [mark for mark in marks if any(mark is one for one in shown)]


def _bare(text: str) -> str:
    return " ".join(word.strip("`\"'.,;:()") for word in text.split())


def _mark_lines(marks: Sequence[PlanMark]) -> tuple[str, ...]:
    """The same words once, below all places that have them and all where they were read."""
    places: dict[str, dict[str, list[str]]] = {}
    for mark in marks:
        places.setdefault(mark.text, {}).setdefault(mark.source, []).append(show(mark.where))
    lines: list[str] = []
    for text, sources in places.items():
        for source, where in sources.items():
            lines.append(f"{', '.join(dict.fromkeys(where))}: {show_exactly(source)}")
        lines += [f"  | {line}" for line in show_lines(text, show_exactly)]
    return tuple(lines)
