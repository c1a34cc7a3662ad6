"""Step 7 without a model: the owner asks for the rest of a project, which code makes a plan of.

The plan goes the way of every other one: with a card, and with an approval and a budget of its own.
"""

import re
from typing import Final

from silas.audit import Audit
from silas.language import tr_later
from silas.stream.owner_words import Answered, OwnerWords
from silas.stream.state import Turn
from silas.stream.turn_modes import TurnModes
from silas.types import InteractionRegister
from silas.work.projects.rest import ProjectRests

_ID: Final = r"(?P<project>[A-Za-z0-9_.\-]+)"
_ASKS: Final = (
    re.compile(
        r"(?:please )?(?:run|do|finish|ask (?:me )?(?:for|about)|go on with|continue(?: with)?) "
        rf"the rest of (?:the |my )?(?:project )?{_ID}(?: please)?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:bitte )?(?:mache?|tue?|erledige?|führe?|starte?|frage? (?:mich )?nach|"
        r"mache? weiter mit) (?:den|dem) rest (?:von|des|vom) (?:projekte?s? )?"
        rf"{_ID}(?: aus| weiter| bitte)*",
        re.IGNORECASE,
    ),
)
_HINT: Final = "rest"


class RestWords(OwnerWords[str]):
    """Answers the owner's own messages that ask for the rest of a project.

    Args:
        rests: Makes the plan.
        audit: Where the turn is recorded.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    reason = "rest of a project"
    owners_only = tr_later(
        "Only Silas's owner can ask for the rest of a project: with `silas projects rest`, in "
        "`silas chat` or in the cockpit. Nothing was changed."
    )
    register = InteractionRegister.execution

    def __init__(self, rests: ProjectRests, audit: Audit, modes: TurnModes, profile: str) -> None:
        super().__init__(audit, modes, profile)
        self._rests = rests

    def _parse_request(self, text: str) -> str | None:
        if _HINT not in text.lower():
            return None
        said = " ".join(text.split()).rstrip(".!?")
        found = next((match for one in _ASKS if (match := one.fullmatch(said))), None)
        return None if found is None else found["project"]

    async def _do(self, turn: Turn, asked: str) -> Answered | None:
        del turn
        if await self._rests.find(asked) is None:
            return None  # it is no project: somebody else answers
        return (await self._rests.of(asked)).words, "answered"

    async def _plan(self, asked: str) -> str:
        return (await self._rests.of(asked)).text
