"""Questions that the memory or the texts of the folder may answer: the memory goes first."""

from collections.abc import Callable
from typing import Final

from silas.agents.models import AgentResponse
from silas.agents.runbook import folder, memory
from silas.agents.runbook.folder import LookAnswer
from silas.language import tr, tr_later

NO_LOOK: Final = tr_later("I may not look into my memory here.")
_NAMES: Final = ("named", "named_loose")


def question(text: str, *, other: bool) -> memory.RecallQuestion | None:
    """What the memory is asked for a message; None where something else answers it.

    Args:
        text: The message.
        other: Whether it can be done, computed or looked at.
    """
    if of_owner := memory.owner_question(text):
        return of_owner
    implied, look = memory.implied_recall(text), folder.lookup_request(text)
    if implied is not None:
        return None if other else implied
    named = folder.look_request(text) or folder.loose_request(text)
    # `find my lease` asks for a file, and may be answered by what was told as well
    if look is None or (named is None and other) or (named and named.kind not in _NAMES):
        return None
    return memory.RecallQuestion(" ".join(folder.lookup_words(look)), everything=False)


def fits(text: str) -> Callable[[str], bool] | None:
    """Which memories answer what is as well a question about files: those with every word."""
    look = folder.lookup_request(text)
    if look is None or memory.implied_recall(text) is not None:
        return None
    words = folder.lookup_words(look)
    return lambda told: folder.has_all(told, words)


def enough(text: str, found: str) -> bool:
    """Whether the memory's answer needs no look at the folder beside it."""
    told = found not in (tr(memory.NOTHING), tr(NO_LOOK))
    asked = memory.recall_question(text) is not None
    return asked or (told and memory.close(text, found))


def answer(
    text: str, found: str, look: LookAnswer | None, rest: str, cannot: Callable[[str], str]
) -> AgentResponse:
    """What is remembered, then what stands in the folder; what is missing where neither is.

    Args:
        text: The question.
        found: What the memory says.
        look: What the look at the folder says; None where none was taken.
        rest: What of the message is left out; nothing where all of it is answered.
        cannot: The words for what is missing, with the reason.
    """
    left_out = f"\n{rest}" if rest else ""
    told = found not in (tr(memory.NOTHING), tr(NO_LOOK))
    if look is not None and look.understood:
        return AgentResponse(message=(f"{found}\n\n{look.text}" if told else look.text) + left_out)
    if told or memory.recall_question(text) is not None:
        return AgentResponse(message=found + left_out, understood=found != tr(NO_LOOK))
    if look is not None and "\n" in look.text:  # lines that are near to it
        return AgentResponse(message=look.text + left_out, understood=False)
    if found == tr(NO_LOOK) and look is None:
        return AgentResponse(message=found, understood=False)
    why = found if look is None else f"{found} {look.text}"
    return AgentResponse(message=cannot(why), understood=False)
