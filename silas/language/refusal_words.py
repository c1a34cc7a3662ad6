"""Refusals with values in them, told in the owner's language (spec 0.5, 8.2).

An error keeps its English, which terminals, records and programs read.
"""

from collections.abc import Callable, Mapping
from typing import Final

from silas.language.calendar import retold_wall
from silas.language.catalogue import ENGLISH, spoken, tr, tr_later
from silas.language.retold import retold

WITH_VALUES: Final = (
    tr_later("“{words}” is no date."),
    tr_later("“{words}” is no time."),
    tr_later("No month has a day {number}."),
    tr_later("{wall} is past; say a time to come."),
    tr_later("{wall} is more than 50 years away; say an earlier date."),
    tr_later("A reminder has {most} characters at most."),
    tr_later("There are {most} reminders already; cancel some."),
    tr_later("No reminder that waits is called “{which}”; `silas remind list` shows them."),
    tr_later("“{which}” fits {many} reminders; say which number: {numbers}."),
    tr_later("No plan {name} waits for your answer; see `silas status`."),
    tr_later("There is no goal {name}; `silas goals list` shows them."),
    tr_later("{name} is not paused."),
    tr_later("The moment of {name} is past."),
    tr_later("A cycle of {name} is under way; `silas goals history {again}`."),
    tr_later("It failed {failing} times in a row."),
    tr_later(
        "Silas cannot tell when “{words}” is; say it as “every second Friday” or “on the 5th of "
        "every month”."
    ),
    tr_later("The reminder “{text}” was told or cancelled meanwhile."),
    tr_later("{name} has no schedule."),
    tr_later("{name} is {state} already."),
    tr_later("{name} is {state}; `silas goals resume {again}` first."),
    tr_later("The moment of {name} is past; give it a later `schedule`."),
    tr_later("There is no project {name}; `silas projects list` has the ids."),
    tr_later("There is no approval for {name}; `silas approvals list` has the ids."),
    tr_later("{name} has no standing approval in force ({why}); nothing was changed."),
    tr_later("{name} has no approval that authorises anything any more; nothing was changed."),
    tr_later("The approval of {name} was used or changed meanwhile; try again."),
    tr_later("{why} `silas approvals revoke {name}` takes all of it back."),
    tr_later("It has {left} uses left, and narrowing adds none."),
    tr_later("It ends on {ends} UTC, and narrowing puts no end off."),
    tr_later("There is no folder {path}; name one that is there."),
    tr_later("{path} is a file and no folder; name the folder that it lies in."),
    tr_later(
        "{path} cannot be tidied: {why}; give yourself the right to it, or name another folder."
    ),
    tr_later("{path} holds folders that programs look for; name one below it, such as Downloads."),
    tr_later("{path} holds Silas's own data, or is part of it; name another folder."),
    tr_later("{path} is hidden ({part}), where programs keep things; name another folder."),
    tr_later("{path} is a project or holds what programs start from; name another folder."),
    tr_later(
        "{path} holds {many} files, and Silas looks at {most} at most: say which, for example "
        "--only '*.pdf'."
    ),
    tr_later("There is no batch {which}; `silas batch list` has the ids."),
    tr_later("There is more than one batch {which}; `silas batch list` has the ids."),
    tr_later("This batch has no file number {number}; it has 1 to {many}."),
    tr_later(
        "The time to undo this batch ended at {time} on {day}; `silas batch show` names each file "
        "and where it is, to move it by hand."
    ),
    tr_later("{path} cannot be opened any more ({why}); nothing was moved."),
    tr_later("{path} is another folder than the one you were asked about; nothing was moved."),
    tr_later(
        "There is nothing to undo for {name}: no task of it changed a file, or all was undone "
        "already."
    ),
    tr_later("The task {name} was not undone, nor what came before it: {why}"),
    tr_later("The record has no entry {number} that can be read."),
    tr_later("Nothing was stored: {why}"),
    tr_later("The change in {folder} is {phase}; there is nothing to undo."),
    tr_later(
        "Nothing was undone: {named}. Move your own version aside and put back what the work left "
        "there; then undo again."
    ),
    tr_later("The changes could not be written ({why}); the directory is as before."),
)
"""Those that an owner meets on a page or in a conversation; the first that fits. Any other
with values is English.
"""

_STATES: Final = (tr_later("active"), tr_later("paused"), tr_later("ended"))
"""Of goals."""


def refusal_words(message: str) -> str:
    """An error's sentence in the owner's language."""
    if spoken() == ENGLISH:
        return message
    told = tr(message)
    return told if told != message else retold(message, WITH_VALUES, _VALUES)


_VALUES: Final[Mapping[str, Callable[[str], str]]] = {
    "wall": retold_wall,
    "state": tr,
    "why": refusal_words,
}
"""Values of those that are words of Silas's own, too."""
