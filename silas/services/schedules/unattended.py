"""A goal that runs without asking, and one that does not: as the look ahead lists them."""

from datetime import datetime
from typing import NamedTuple


class UnattendedGoal(NamedTuple):
    """A goal whose approval still starts work without asking.

    Attributes:
        id: Of the goal.
        title: What its plan calls it.
        does: What it may do, in one sentence made from the signed fields.
        used: How many uses of the approval are spent, before it was narrowed, too.
        uses: How many it has, with those.
        until: When it ends, in UTC.
        lapsed: Why it starts nothing as things are now, and what to do; empty where it does.
    """

    id: str
    title: str
    does: str
    used: int
    uses: int
    until: datetime
    lapsed: str = ""


class PausedGoal(NamedTuple):
    """A goal that does not run, or whose work asks each time, and why.

    Attributes:
        id: Of the goal.
        title: What its plan calls it.
        why: Empty where its owner paused it.
        resumes: Whether its owner can resume it; one whose approval was taken back pauses first.
    """

    id: str
    title: str
    why: str
    resumes: bool = True
