"""What the built-in model says to "undo that" and "stop": it may do neither, and says who can."""

import re
from collections.abc import Sequence
from typing import Final

from silas.agents.models import AgentResponse
from silas.agents.runbook.door_words import DoorWords, words_here
from silas.context import FramedSection
from silas.language import tr_later

_POLITE: Final = r"(?:(?:hey|ok|okay|no|please|bitte|silas|oh)[,!.]?\s+)*"
_END: Final = r"(?:,?\s+(?:please|bitte|now|again|at once|immediately|silas))*[\s.!]*\Z"
_THAT: Final = (
    r"(?:it|that|this|everything|all of it|"
    r"(?:the|my|your) (?:last|latest) (?:change|changes|work|step|one))"
)
_UNDO: Final = re.compile(
    rf"\A\s*{_POLITE}(?:(?:undo|revert|roll back)(?:\s+{_THAT})?|"
    rf"(?:take|roll|put)\s+{_THAT}\s+back|r(?:ü|ue)ckg(?:ä|ae)ngig|"
    rf"mach(?:e)? (?:das|es|alles) (?:wieder )?r(?:ü|ue)ckg(?:ä|ae)ngig|"
    rf"restore (?:it|that|everything|my files)){_END}",
    re.IGNORECASE,
)
_STOP: Final = re.compile(
    rf"\A\s*{_POLITE}(?:(?:stop|stopp|cancel|abort|halt|quit|abbrechen|halt an)"
    rf"(?:\s+(?:it|that|this|everything|all|(?:all |the |your )?work))?|hör auf(?: damit)?|"
    rf"stop (?:working|what you(?:'re| are) doing)){_END}",
    re.IGNORECASE,
)
_WORK: Final = re.compile(r"\Awork item (?P<id>[\w.-]+): ")
_STOPPING: Final = DoorWords(
    tr_later(
        "A word stops only what runs in the same `silas chat`, and nothing does. “Stop” in the "
        "cockpit, or `silas stop --now`, kills all work and voids every approval until “Resume” "
        "there, or `silas resume`."
    ),
    tr_later(
        "A word stops nothing here. “Stop this” at work that runs ends it alone; “Stop” on every "
        "page kills all work and voids every approval, until you choose “Resume”."
    ),
)
_UNDOING: Final = DoorWords(
    tr_later(
        "I undo nothing by words alone. “Undo” at its result in the cockpit, or `silas undo "
        "{last}`, puts back what {last} changed; `silas diff {last}` shows it first."
    ),
    tr_later(
        "I undo nothing by words alone. “Undo” at its result puts back what {last} changed; "
        "“What changed” there shows it first."
    ),
)
_UNDOING_OTHERS: Final = DoorWords(
    tr_later(
        "I undo nothing by words alone, and no work of this conversation is in view. “Work” under "
        "“More” in the cockpit lists all work, with its way back; so do `silas status` and "
        "`silas undo ID`."
    ),
    tr_later(
        "I undo nothing by words alone, and no work of this conversation is in view. “Work” under "
        "“More” lists all work, with its way back."
    ),
)


def asks_to_stop(text: str) -> bool:
    """Whether a message asks to stop what is done, and nothing else."""
    return _STOP.match(text) is not None


def asks_to_undo(text: str) -> bool:
    """Whether a message asks to undo what was done, and nothing else."""
    return _UNDO.match(text) is not None


def how_to_undo(last: str) -> str:
    """How the owner undoes that work, or where all of it is listed, at the door of this turn."""
    return words_here(_UNDOING, last=last) if last else words_here(_UNDOING_OTHERS)


def answer(text: str, shown: Sequence[FramedSection]) -> AgentResponse | None:
    """How to undo or to stop; None where a message asks for neither.

    Nothing is done, so it counts as not answered: only the owner's command undoes or stops.

    Args:
        text: The message.
        shown: What stands in view, the oldest first.
    """
    if asks_to_stop(text):
        return AgentResponse(message=words_here(_STOPPING), understood=False)
    if not asks_to_undo(text):
        return None
    found = [_WORK.match(one.text) for one in shown if one.kind == "execution_result"]
    last = next((match["id"] for match in reversed(found) if match), "")
    return AgentResponse(message=how_to_undo(last), understood=False)
