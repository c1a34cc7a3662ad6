"""What the cockpit shows of what is to come and of what may run without asking."""

from pydantic import AwareDatetime

from silas.types import FrozenModel


class UpcomingRow(FrozenModel):
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


class UnattendedGoalRow(FrozenModel):
    """A goal whose approval starts work without asking.

    Attributes:
        id: Of the goal.
        title: What its plan is called.
        does: What it may do, in one sentence made from the signed fields.
        left: How much is left of the approval, in words.
        uses_left: How often more it starts work.
        lapsed: Whether what it was given for is not as it was; `left` then says why.
    """

    id: str
    title: str
    does: str
    left: str
    uses_left: int
    lapsed: bool = False


class PausedGoalRow(FrozenModel):
    """A goal that does not run, or whose work asks each time; `why` is empty where its owner
    paused it, and what does not pause yet cannot be resumed.
    """

    id: str
    title: str
    why: str
    resumes: bool = True


class ProjectTaskView(FrozenModel):
    """One task of a project.

    Attributes:
        id: Its id.
        title: Of its plan.
        state: `done`, `running`, `pending`, `waiting` (for a yes), `failed`, `never` (begun),
            `undone` or `over`.
        words: How it stands, in words.
        after: The titles of the tasks that it waits for.
    """

    id: str
    title: str
    state: str
    words: str
    after: tuple[str, ...]


class ProjectRow(FrozenModel):
    """A project; `steps` is its graph, from what begins first on."""

    id: str
    title: str
    done: int
    steps: tuple[tuple[ProjectTaskView, ...], ...]


class AheadView(FrozenModel):
    """What is to come within `days`, what may run alone, what is paused.

    Attributes:
        coming: The first to come first.
        later: How many more come after those days.
        alone: What may run without asking.
        asking: Goals that run and whose approval is over, and why.
        paused: What does not run.
        projects: What runs in several steps, or waits for a yes in one of them.
        words: Why nothing is told or run, where that is so.
        asks: That work of a goal waits for an answer in Review, a sentence for each goal.
    """

    days: int
    coming: tuple[UpcomingRow, ...]
    later: int
    alone: tuple[UnattendedGoalRow, ...]
    paused: tuple[PausedGoalRow, ...]
    projects: tuple[ProjectRow, ...] = ()
    asking: tuple[PausedGoalRow, ...] = ()
    words: str = ""
    asks: tuple[str, ...] = ()
