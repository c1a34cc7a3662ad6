"""What a goal's cycle tells its owner, in his language (spec 5.2.3, 8.2)."""

from collections.abc import Iterable, Mapping
from typing import Final

from silas.language import refusal_words, tr, tr_later, tr_many
from silas.plans import WorkItem, WorkItemStatus
from silas.plans.characters import show

UNFORESEEN: Final = tr_later(
    "Silas itself failed at something it did not foresee; `silas audit show` has each attempt."
)
WORK_IS_DUE: Final = tr_later("Its work is due.")
NO_APPROVAL: Final = tr_later("There is no approval for this goal.")
NOT_APPROVED: Final = tr_later("It was not approved.")

OVER: Final[Mapping[str, str]] = {
    "E_APPROVAL_EXPIRED": tr_later("its approval has expired"),
    "E_APPROVAL_SPENT": tr_later("every use of its approval is spent"),
    "E_APPROVAL_VOID": tr_later(
        "its approval is void, since Silas was stopped or its clock jumped after it was given"
    ),
}
"""Why an approval is over without anybody having taken it back."""

_CHECKS_FAIL: Final = tr_later(
    "It is paused: {cycles} cycles in a row found a check that fails. `silas goals resume {goal}` "
    "goes on."
)
_WORK_FAILS: Final = tr_later(
    "It is paused: {cycles} cycles in a row did not do their work. `silas goals resume {goal}` "
    "goes on."
)
_COVERS_NOT: Final = tr_later("its approval does not cover this work")


def pause_words(why: str) -> str:
    """That a goal is paused, and why; a sentence of its own."""
    return tr("It is paused. {why}", why=why)


def unchecked_words(message: str) -> str:
    """That checks could not run."""
    return tr("It could not be checked: {why}", why=refusal_words(message))


def error_words(attempts: int, message: str) -> str:
    """That a cycle ended in an error that nobody expected."""
    why = refusal_words(message)
    return tr(
        "It could not be carried out in {attempts} attempts: {why}", attempts=attempts, why=why
    )


def condition_words(names: Iterable[str]) -> str:
    """That the condition of work does not hold."""
    return tr("Nothing to tell, because not: {names}.", names=", ".join(names))


def check_words(names: Iterable[str]) -> str:
    """Which checks fail."""
    return tr("These checks of it fail: {names}.", names=", ".join(names))


def card_words(found: str, goal: WorkItem, code: str) -> str:
    """Why a card is shown although the goal was approved.

    Args:
        found: What its checks found.
        goal: Whose work it is.
        code: Why its approval authorises nothing.
    """
    why = tr(OVER.get(code, _COVERS_NOT))
    title = show(goal.title)
    return tr("{found} “{goal}” asks for it, because {why}.", found=found, goal=title, why=why)


def sandbox_words() -> str:
    """What a check that fails from the beginning may ask for in vain."""
    return tr(
        "Checks run in a sandbox, which shows no processes, services or connections of this "
        "machine: a check that asks for those never passes."
    )


_NO_MORE: Final = tr_later(
    "{said} Nothing more of “{goal}” is asked about until its plan is run and approved again."
)
_NO_MORE_UNTIL: Final = tr_later(
    "{said} Nothing more of “{goal}” is asked about until its checks pass once, or its plan is "
    "run and approved again."
)


def declined_words(said: str, goal: WorkItem) -> str:
    """What the answer to the card of a goal's work means, where it is no yes.

    Args:
        said: What became of that card.
        goal: Whose work it was.
    """
    words = _NO_MORE_UNTIL if goal.cycle is None else _NO_MORE
    return tr(words, said=said, goal=show(goal.title))


def waiting_words(task_id: str) -> str:
    """That the owner has a card to answer."""
    return tr("Its card waits: {task}.", task=task_id)


def budget_words(times: int, again: str) -> str:
    """That the budget of a day is used up, and when there is room again."""
    return tr(
        "Its work of 24 hours has no room left within {times} times its budget; there is room "
        "again from {again} on.",
        times=times,
        again=again,
    )


def give_up_words(goal: WorkItem, cycles: int) -> str:
    """That a goal pauses because it keeps failing, and how it goes on."""
    words = _CHECKS_FAIL if goal.cycle is None else _WORK_FAILS
    return tr(words, cycles=cycles, goal=goal.id)


def result_words(task: WorkItem, status: WorkItemStatus) -> str:
    """How a cycle's work ended."""
    return tr("{task} is {status}.", task=task.id, status=tr(status.value))


def asked_already_words() -> str:
    """That a card about the folder is open."""
    return tr("Its files are being asked about already.")


def tidied_words(moved: int, *, lapsed: bool) -> str:
    """What became of a folder that was asked about."""
    said = tr_many(moved, "{count} file was moved.", "{count} files were moved.")
    said = said if moved else tr("Nothing was moved.")
    if not lapsed:
        return said
    return tr("{said} A card got no answer in its time; the next cycle shows it again.", said=said)


def told_words(goal: WorkItem, told: str) -> str:
    """What is told of a goal, with its title before it."""
    return tr("Goal “{goal}”: {told}", goal=show(goal.title), told=told)
