"""A time and what it is for, and no word of what shall be done then: `in two hours laundry`."""

import re
from typing import Final

from silas.language import tr, tr_later
from silas.reminders.phrase import is_at_end, phrases_in
from silas.reminders.request import said_text

_MOST: Final = 120  # characters
_MOST_WORDS: Final = {"in": 5, "day": 5, "clock": 5, "every": 10}
"""How many words may be told at each kind of time; what recurs is seldom said by chance."""

_ASKS: Final = re.compile(
    r"\A(?:what|which|who|whom|when|where|why|how|is|are|was|were|do|does|did|can|could|will|has|"
    r"have|am|was|welche[rnsm]?|wer|wen|wem|wann|wo|warum|wieso|wie|ist|sind|war|waren|kann|hat|"
    r"habe|haben|gibt|steht|no|not|nein|nicht)\b",
    re.IGNORECASE,
)

_IN_ENGLISH: Final = tr_later("remind me {when}: {what}")
_IN_GERMAN: Final = "erinnere mich {when}: {what}"
_ENGLISH: Final = re.compile(
    r"\b(?:at|on|every|each|today|tomorrow|tonight|next|hours?|minutes|days?|weeks?|o'clock|\w+day)\b",
    re.IGNORECASE,
)
_GERMAN: Final = re.compile(
    r"\b(?:um|am|jede[nrs]?|heute|morgen|übermorgen|nächste[nrs]?|stunden?|minuten|tag(?:en)?|"
    r"wochen?|uhr|abends?|morgens|\w+(?:tag|woch)s?)\b",
    re.IGNORECASE,
)
"""Words of a time that are of one language alone."""


def ask_to_remind(text: str, orders: frozenset[str]) -> str:
    """How to be reminded of what was said with a time alone; empty for every other message.

    Args:
        text: The message.
        orders: Verbs that ask for work: what begins with one is no thing to be told of.
    """
    said = text.strip()
    found = phrases_in(said)
    if len(said) > _MOST or "?" in said or "\n" in said or len(found) != 1:
        return ""
    phrase = found[0]
    if phrase.start and not is_at_end(said, phrase):
        return ""
    what = said_text(said, phrase)
    words = re.findall(r"[\w'’-]+", what)
    most = max((_MOST_WORDS.get(part.kind, 0) for part in phrase.parts), default=0)
    if not 0 < len(words) <= most or _ASKS.match(what):
        return ""
    if words[0].casefold() in orders:
        return ""
    when = said[phrase.start : phrase.end].strip()
    # in the language of the message, whichever Silas speaks
    german = _GERMAN.search(when) is not None
    form = _IN_GERMAN if german else _IN_ENGLISH if _ENGLISH.search(when) else tr(_IN_ENGLISH)
    example = form.format(when=when, what=what)
    return tr("If I shall remind you, say “{example}”.", example=example)
