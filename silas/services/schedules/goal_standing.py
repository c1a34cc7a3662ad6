"""How a goal and its approval stand, in words, for every door (spec 5.2.3, 5.9)."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from silas.approval import ApprovalToken
from silas.goals.models import Cycle, Goal, GoalState, Outcome
from silas.language import RUN_ANEW, tr, tr_later
from silas.language.calendar import day_words
from silas.plans import WorkItem, WorkItemStatus, WorkItemStore
from silas.plans.characters import show
from silas.services.approvals import SignedApproval
from silas.stream.goal_words import NO_APPROVAL, OVER

if TYPE_CHECKING:
    from silas.services.schedules.ahead import Ahead, UnattendedGoal

HowItStands = Callable[[WorkItem, ApprovalToken], Awaitable[SignedApproval]]
"""How the approval of a piece of work stands now."""

_OVER: Final = {
    "expired": OVER["E_APPROVAL_EXPIRED"],
    "used": OVER["E_APPROVAL_SPENT"],
    "void": OVER["E_APPROVAL_VOID"],
}
_GONE: Final = tr_later("Its approval was taken back, so it pauses at its next cycle.")
_ASKS: Final = tr_later("What it starts asks you each time, because {why}; {way}")
_BY_OWNER: Final = tr_later(
    "{goal} is paused, by you; “Resume” on the page Ahead, or `silas goals resume` with words of "
    "its title, has it run again."
)
_PAUSED: Final = tr_later("{goal} is paused. {why}")
_ENDED: Final = tr_later("The one moment of {goal} is past; it comes no more.")
_ASKS_OWNER: Final = tr_later(
    "“{goal}” waits for your answer to what its work asks; what comes due meanwhile is one cycle "
    "after that."
)
_RUNS: Final = tr_later("{goal} did not stop: it runs next on {coming}.")
_REPAIRED: Final = tr_later("It repaired what it watches, and checks it again on {coming}.")
_REPAIRED_ONE: Final = tr_later("{goal} repaired what it watches, and checks it again on {coming}.")
_RUNS_BUT: Final = tr_later("{goal} runs next on {coming}, but: {why}")


TAKEN_BACK: Final = frozenset({"revoked", "declined"})
"""States of an approval whose goal pauses at its next cycle, and asks nothing."""

AUTHORISES: Final = frozenset({"in force", "at work", "lapsed"})
"""States of an approval that can be taken back: what lapsed begins again where everything is put
back as it was."""


def used_words(used: int, uses: int, end: datetime, zone: ZoneInfo) -> str:
    """How much of the owner's yes is used, and until when it holds, by his clock."""
    until = end.astimezone(zone)
    told = f"{day_words(until)}, {until:%H:%M}"
    return tr("used {used} of {uses}, until {until}", used=used, uses=uses, until=told)


async def why_words(goal: Goal, item: WorkItem | None, last: Cycle | None, how: HowItStands) -> str:
    """Why a goal is paused, or starts nothing without asking as things are now; else nothing.

    Args:
        goal: Which.
        item: Its plan; None where it is not there.
        last: Its newest cycle.
        how: How its approval stands.
    """
    if goal.why or goal.state is not GoalState.active or item is None:
        return goal.why
    if item.approval_token is None:
        return tr(NO_APPROVAL)
    given = await how(item, item.approval_token)
    if given.why:
        return given.why
    if given.state in _OVER:
        return tr(_ASKS, why=tr(_OVER[given.state]), way=tr(RUN_ANEW))
    if given.state in TAKEN_BACK:
        return tr(_GONE)
    return last.words if last is not None and last.outcome is Outcome.over_budget else ""


async def question_words(goal_id: str, store: WorkItemStore) -> str:
    """That work of a goal waits for its owner's answer; empty where none does."""
    for name in sorted(store.asking()):
        task = await store.get(name)
        if task is not None and task.parent == goal_id and task.status is WorkItemStatus.running:
            goal = await store.get(goal_id)
            return tr(_ASKS_OWNER, goal=show(task.title if goal is None else goal.title))
    return ""


def repaired_words(goal: Goal, coming: str) -> str:
    """That what a goal watches was repaired, and when it is checked again; else nothing.

    Args:
        goal: Which.
        coming: When it runs next, in words; empty where it does not.
    """
    repaired = goal.standing == "repaired" and coming
    return tr(_REPAIRED, coming=coming) if repaired else ""


def stands_words(goal: Goal, name: str, why: str, coming: str) -> str:
    """How a goal stands, in one or two sentences.

    Args:
        goal: Which.
        name: What its owner calls it.
        why: As `why_words` says it.
        coming: When it runs next, in words.
    """
    if goal.state is GoalState.paused:
        return tr(_PAUSED if why else _BY_OWNER, goal=name, why=why)
    if goal.state is GoalState.ended:
        return tr(_ENDED, goal=name)
    if not why and repaired_words(goal, coming):
        return tr(_REPAIRED_ONE, goal=name, coming=coming)
    return tr(_RUNS_BUT if why else _RUNS, goal=name, coming=coming, why=why)


def alone_words(
    found: "Ahead", left: "Callable[[UnattendedGoal], str]", names: Mapping[str, str]
) -> str:
    """What may run without asking, a line for each goal.

    Args:
        found: How things stand.
        left: How much is left of an approval, in words.
        names: What each goal is called, by its id.
    """
    runs = [one for one in found.alone if not one.lapsed]
    head = tr("Without asking you I may do this; everything else asks first.")
    if not runs:
        head = tr("Nothing. Each piece of work asks you first.")
    lines = [
        tr("{goal}: {does} {left}.", goal=names[one.id], does=one.does, left=left(one))
        for one in runs
    ]
    lines += [
        tr("{goal} starts nothing: {why}", goal=names[one.id], why=one.lapsed)
        for one in found.alone
        if one.lapsed
    ]
    pausing = [one for one in found.paused if not one.resumes]
    lines += [f"{names[one.id]}: {one.why}" for one in (*found.asking, *pausing)]
    return "\n".join((head, *(f"- {line}" for line in lines)))
