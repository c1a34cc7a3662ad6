"""Step 7 without a model: what runs and what waits for the owner, where no language model answers.

A language model may be asked about what was just spoken of, so that it answers such words itself.
"""

import re
from typing import Final

from silas.language import tr_later
from silas.stream.owner_words import LookupWords
from silas.stream.ports import TellsUnderWay
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


class StatusWords(LookupWords[bool, TellsUnderWay]):
    """Answers the owner's own "what are you doing?"."""

    reason = "status"
    interaction = InteractionMode.default_and_offer
    owners_only = tr_later("Only Silas's owner can ask what runs. Nothing was changed.")

    def _parse_question(self, said: str) -> bool | None:
        return True if _ASKS.fullmatch(said) and not self._plans.marks else None

    async def _look_up(self, asked: bool) -> str:
        del asked
        return await self._source().words()
