"""Which goal its owner means: by its id, or by words of its title or of its files (5.2.3).

Nobody says an id aloud, so "the pdf goal" is the one goal whose title has these words; of
goals of one title, the one whose plan changes or looks at files so named. Endings do
not count: "moving" is "move", "pdfs" are "pdf". Where several have them nothing is guessed.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from silas.goals.models import GoalRefused
from silas.language import tr
from silas.plans import WorkItem
from silas.plans.characters import show

_WORD: Final = re.compile(r"\w+")
_SAYS_NOTHING: Final = frozenset(
    [
        "a",
        "about",
        "all",
        "am",
        "and",
        "any",
        "at",
        "aus",
        "called",
        "der",
        "die",
        "das",
        "dem",
        "den",
        "for",
        "from",
        "goal",
        "goals",
        "in",
        "ins",
        "into",
        "it",
        "its",
        "me",
        "mein",
        "meine",
        "meinen",
        "my",
        "named",
        "of",
        "off",
        "on",
        "our",
        "out",
        "the",
        "this",
        "to",
        "up",
        "von",
        "um",
        "zu",
        "und",
        "your",
        "you",
        "ziel",
        "ziele",
        "dass",
        "please",
        "bitte",
    ]
)
"""Words that tell no goal from another."""
_SHORTEST: Final = 3
"""Letters that two words have in common at their beginning, at least, to be forms of one."""


class GoalName(NamedTuple):
    """A goal as it is named.

    Attributes:
        id: Of the goal.
        title: What its plan calls it; empty where the plan is not there.
        files: What its plan changes and looks at, which tells two goals of one title apart.
    """

    id: str
    title: str
    files: str = ""


def goal_name(goal_id: str, item: WorkItem | None) -> GoalName:
    """How a goal is named whose plan this is; None where the plan is not there."""
    if item is None:
        return GoalName(goal_id, "")
    looked_at = [PurePath(one).name for one in (item.workspace or "", *(item.read or ()))]
    return GoalName(goal_id, item.title, " ".join((*(item.writes or ()), *looked_at)))


def goals_named(which: str, goals: Iterable[GoalName]) -> tuple[GoalName, ...]:
    """Those that are meant: the one of this id, else all whose titles have these words, else all
    whose titles and files have them.

    Args:
        which: As the owner said it; nothing is found by words that every goal could have.
        goals: Those that there are.
    """
    there = tuple(goals)
    if of_id := tuple(one for one in there if one.id.casefold() == which.strip().casefold()):
        return of_id
    if not (words := _words(which)):
        return ()
    titled = tuple(one for one in there if _has_all(_words(one.title), words))
    return titled or tuple(
        one for one in there if _has_all(_words(f"{one.title} {one.files}"), words)
    )


def name_words(goal: GoalName, there: Iterable[GoalName]) -> str:
    """What its owner calls a goal: its title, and its id where another one has that title.

    Args:
        goal: Which.
        there: Those that it could be taken for; it may be among them.
    """
    if not goal.title:
        return goal.id
    if any(one.id != goal.id and _is_same(one.title, goal.title) for one in there):
        return tr("“{title}” ({id})", title=show(goal.title), id=goal.id)
    return tr("“{title}”", title=show(goal.title))


def the_one(which: str, found: Sequence[GoalName]) -> GoalName | None:
    """The goal that is meant; None where none is.

    Args:
        which: As the owner said it.
        found: Those that `goals_named` found.

    Raises:
        GoalRefused: Several are.
    """
    if len(found) > 1:
        raise GoalRefused(several_words(which, found), code="E_GOAL_SEVERAL")
    return found[0] if found else None


def several_words(which: str, found: Sequence[GoalName]) -> str:
    """Why none of several is taken, in English."""
    named = "; ".join(f"“{one.title}” ({one.id})" for one in found)
    return f"“{which}” fits {len(found)} goals; say more of the title, or the id: {named}."


def _is_same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold())) - _SAYS_NOTHING


def _has_all(title: frozenset[str], words: frozenset[str]) -> bool:
    return all(any(_is_form_of(word, one) for one in title) for word in words)


def _is_form_of(one: str, other: str) -> bool:
    """Whether two words differ in their endings alone, as "moving" and "move" do."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    stem = max(_SHORTEST, len(short) - 1)
    return len(long) - len(short) <= _SHORTEST and short[:stem] == long[:stem]
