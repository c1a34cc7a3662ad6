"""Step 7 without a model: what runs and what waits for the owner, where no language model answers.

A language model may be asked about what was just spoken of, so that it answers such words itself.
"""

import re
from collections.abc import Callable
from typing import Final

from silas.audit import Audit
from silas.language import said_at, tr_later
from silas.stream.owner_words import Answered, OwnerWords
from silas.stream.plan_review import ReviewPlans
from silas.stream.ports import TellsUnderWay
from silas.stream.state import Turn
from silas.stream.turn_modes import TurnModes
from silas.types import InteractionMode

_NOW: Final = r"(?: now| right now| at the moment| gerade| jetzt| im moment)?"
_ASKS: Final = re.compile(
    r"status|stand|wie ist der stand"
    rf"|what(?: is|'s| are you) (?:running|waiting|pending|open|working on|doing)(?: for me)?{_NOW}"
    r"|(?:is|are) (?:there )?(?:anything|something) (?:running|waiting|pending|open)(?: for me)?"
    rf"{_NOW}|what (?:is|are) you(?: doing| up to){_NOW}|are you (?:busy|done)(?: yet)?"
    rf"|was läuft{_NOW}|läuft{_NOW} etwas|was wartet(?: auf mich)?|wartet etwas(?: auf mich)?"
    rf"|was machst du{_NOW}|woran arbeitest du{_NOW}|bist du (?:beschäftigt|fertig)"
)


class StatusWords(OwnerWords[bool]):
    """Answers the owner's own "what are you doing?".

    Args:
        under_way: Tells what runs and what waits.
        plans: Whether a language model plans, and so answers what code does not.
        audit: Where the turn is recorded.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    reason = "status"
    interaction = InteractionMode.default_and_offer
    owners_only = tr_later("Only Silas's owner can ask what runs. Nothing was changed.")

    def __init__(
        self,
        under_way: Callable[[], TellsUnderWay],
        plans: ReviewPlans,
        audit: Audit,
        modes: TurnModes,
        profile: str,
    ) -> None:
        super().__init__(audit, modes, profile)
        self._under_way = under_way
        self._plans = plans

    def _parse_request(self, text: str) -> bool | None:
        said = " ".join(text.lower().replace("’", "'").split()).rstrip(" ?.!")
        return True if _ASKS.fullmatch(said) and not self._plans.marks else None

    async def _do(self, turn: Turn, asked: bool) -> Answered:
        del asked
        return said_at(turn.door, await self._under_way().words()), "answered"
