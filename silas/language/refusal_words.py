"""Refusals with values in them, told in the owner's language (spec 0.5, 8.2).

An error keeps its English, which terminals, records and programs read.
"""

from typing import Final

from silas.language.catalogue import tr, tr_later
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


def refusal_words(message: str) -> str:
    """An error's sentence in the owner's language."""
    told = tr(message)
    return told if told != message else retold(message, WITH_VALUES)
