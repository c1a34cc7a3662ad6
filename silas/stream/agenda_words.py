"""Step 7 without a model: what a day brings by the clock, where no language model answers.

A language model may know a calendar, so that it is asked; the built-in one knows none.
"""

import re
from typing import Final

from silas.language import tr_later
from silas.stream.owner_words import LookupWords
from silas.stream.ports import LooksAhead

_DAYS: Final = {
    "today": (0, 1),
    "heute": (0, 1),
    "tomorrow": (1, 1),
    "morgen": (1, 1),
    "this week": (0, 7),
    "the week": (0, 7),
    "next days": (0, 7),
    "diese woche": (0, 7),
    "nächsten tagen": (0, 7),
    "": (0, 7),
}
"""How many days from today the first one is, and how many there are."""

_DAY: Final = r"(?: (?:for |in the )?(?P<day>today|tomorrow|this week|the week|next days))"
_TAG: Final = r"(?: (?:für |in den )?(?P<day>heute|morgen|diese woche|nächsten tagen))"
_ASKS: Final = tuple(
    re.compile(form)
    for form in (
        rf"what(?: is|'s|s) (?:on|coming up|ahead|planned|due){_DAY}?",
        rf"what(?: is|'s|s) on (?:my|the) (?:list|agenda|calendar|schedule|plate){_DAY}",
        rf"what(?: is|'s|s) (?:my|the) (?:agenda|schedule|plan){_DAY}",
        rf"(?:show|tell|give)(?: me)? (?:my|the) (?:agenda|schedule){_DAY}",
        rf"what (?:do|must|should) i (?:have to |need to )?(?:do|remember){_DAY}",
        rf"what do i have(?: planned| to do| on| coming up)?{_DAY}",
        r"what (?:comes|happens) (?P<day>today|tomorrow|this week)",
        rf"was (?:steht|kommt|ist|liegt){_TAG} (?:an|bevor|geplant|fällig|los)",
        r"was (?:steht|kommt|ist) (?:als nächstes |demnächst )?(?:an|bevor|geplant|fällig)",
        rf"was (?:steht|liegt){_TAG} auf (?:der|meiner) (?:liste|agenda)",
        rf"was steht auf (?:der|meiner) (?:liste|agenda){_TAG}",
        rf"was (?:habe|muss) ich{_TAG} (?:vor|zu tun|zu erledigen|tun|erledigen|machen)",
        rf"was kommt{_TAG}",
        rf"(?:zeige?|nenne?)(?: mir)? (?:meine|die) (?:agenda|termine){_TAG}",
    )
)


class AgendaWords(LookupWords[tuple[int, int], LooksAhead]):
    """Answers the owner's own "what's on tomorrow?" with reminders and goals."""

    reason = "agenda"
    owners_only = tr_later("Only Silas's owner can ask what is to come. Nothing was changed.")

    def _parse_question(self, said: str) -> tuple[int, int] | None:
        found = next((match for one in _ASKS if (match := one.fullmatch(said))), None)
        if found is None or self._plans.marks:
            return None
        return _DAYS[found.groupdict().get("day") or ""]

    async def _look_up(self, asked: tuple[int, int]) -> str:
        return await self._source().agenda(*asked)
