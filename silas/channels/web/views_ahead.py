"""What the cockpit shows of what is to come and of what may run without asking."""

from pydantic import AwareDatetime

from silas.types import Frozen


class ComingRow(Frozen):
    """Something that comes at a moment.

    Attributes:
        kind: `reminder` or `goal`.
        id: Of the reminder or the goal.
        title: What will be said, or what the plan is called.
        due: The next moment.
        day: The day of it in the owner's zone, in words: `Today`.
        time: The time of day there: `09:00`.
        again: How it comes again, in words; empty where it comes once.
        more: How often more it comes within the days that are shown.
    """

    kind: str
    id: str
    title: str
    due: AwareDatetime
    day: str
    time: str
    again: str
    more: int


class AloneRow(Frozen):
    """A goal whose approval starts work without asking.

    Attributes:
        id: Of the goal.
        title: What its plan is called.
        does: What it may do, in one sentence made from the signed fields.
        left: How much is left of the approval, in words.
    """

    id: str
    title: str
    does: str
    left: str


class PausedRow(Frozen):
    """A goal that does not run; `why` is empty where its owner paused it."""

    id: str
    title: str
    why: str


class AheadShown(Frozen):
    """What is to come within `days`, what may run alone, what is paused.

    Attributes:
        coming: The first to come first.
        later: How many more come after those days.
        alone: What may run without asking.
        paused: What does not run.
        words: Why nothing is told or run, where that is so.
    """

    days: int
    coming: tuple[ComingRow, ...]
    later: int
    alone: tuple[AloneRow, ...]
    paused: tuple[PausedRow, ...]
    words: str = ""
