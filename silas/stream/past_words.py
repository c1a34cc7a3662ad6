"""Step 7 without a model: what was done on a day, which the record knows and no model does."""

import re
from typing import Final

from silas.language import tr_later
from silas.stream.owner_words import LookupWords
from silas.stream.ports import LooksBack
from silas.types import InteractionMode

_DAYS: Final = {
    "today": (0, 1),
    "so far today": (0, 1),
    "this morning": (0, 1),
    "yesterday": (-1, 1),
    "last night": (-1, 2),
    "overnight": (-1, 2),
    "since yesterday": (-1, 2),
    "heute": (0, 1),
    "heute morgen": (0, 1),
    "heute früh": (0, 1),
    "gestern": (-1, 1),
    "heute nacht": (-1, 2),
    "letzte nacht": (-1, 2),
    "seit gestern": (-1, 2),
}
"""How many days from today the first one is, and how many there are; else the last 7 days."""
_WEEK: Final = (-6, 7)

_DAY: Final = (
    r"(?P<day>today|so far today|this morning|yesterday|since yesterday|last night|overnight"
    r"|lately|recently|this week|so far)"
)
_TAG: Final = (
    r"(?P<day>heute|heute morgen|heute früh|gestern|seit gestern|heute nacht|letzte nacht"
    r"|diese woche|bisher|zuletzt|in letzter zeit|in dieser woche)"
)
_ASKS: Final = tuple(
    re.compile(form)
    for form in (
        rf"what (?:did|have) you (?:do|done)(?: for me)?(?: {_DAY})?",
        rf"what(?: has|'s)? (?:happened|been done)(?: {_DAY})?",
        rf"what was done(?: {_DAY})?",
        rf"(?:show|tell) me what (?:you (?:did|have done)|happened|was done)(?: {_DAY})?",
        rf"(?:did|has) anything happen(?:ed)?(?: {_DAY})?",
        rf"was (?:ist|war)(?: {_TAG})? (?:passiert|geschehen|los)",
        rf"was hast du(?: {_TAG})?(?: für mich)? (?:gemacht|getan|erledigt)",
        rf"was (?:wurde|ist)(?: {_TAG})? (?:gemacht|getan|erledigt)(?: worden)?",
        rf"(?:zeige?|sage?) mir,? was (?:du(?: {_TAG})? (?:gemacht|getan) hast"
        r"|passiert ist|geschehen ist)",
        rf"ist(?: {_TAG})? etwas (?:passiert|geschehen)",
    )
)


class PastWords(LookupWords[tuple[int, int], LooksBack]):
    """Answers the owner's own "what did you do today?" from the record."""

    reason = "past"
    interaction = InteractionMode.default_and_offer
    owners_only = tr_later("Only Silas's owner can ask what was done. Nothing was changed.")

    def _parse_question(self, said: str) -> tuple[int, int] | None:
        found = next((match for one in _ASKS if (match := one.fullmatch(said))), None)
        if found is None:
            return None
        day = found.groupdict().get("day") or ""
        return None if self._plans.marks and not day else _DAYS.get(day, _WEEK)

    async def _look_up(self, asked: tuple[int, int]) -> str:
        return await self._source().tell_done(*asked)
