"""Messages that go on from what was said long ago: what they refer to may not be in view."""

import re
from typing import Final

_EARLIER: Final = re.compile(
    r"\b(?:again|earlier|before|previously|back then|once more|last time|the other day|yesterday|"
    r"last (?:week|month|year|night)|(?:days?|weeks?|months?|years?) ago|"
    r"remember (?:when|what|which|where|who|how)|"
    r"(?:did|do|have|had) (?:i|we|you) (?:ever )?"
    r"(?:say|said|tell|told|mention(?:ed)?|talk(?:ed)?|discuss(?:ed)?|agreed?|decided?|"
    r"suggest(?:ed)?|recommend(?:ed)?|advised?|call(?:ed)?|promised?)|"
    r"(?:i|we|you) (?:said|told|mentioned|talked|discussed|agreed|decided|suggested|recommended|"
    r"advised|promised)|"
    r"nochmals?|noch (?:ein)?mal|wieder|vorhin|früher|damals|neulich|gestern|vorgestern|"
    r"letzte[nsrm]? (?:mal|woche|monat|jahr|nacht)|"
    r"vor (?:\w+ )?(?:tagen|wochen|monaten|jahren)|weißt du noch|"
    r"(?:gesagt|erzählt|erwähnt|besprochen|vereinbart|beschlossen|ausgemacht|entschieden|"
    r"vorgeschlagen|empfohlen|geraten|versprochen|geredet|gesprochen))\b",
    re.IGNORECASE,
)
_REACHES: Final = 400
"""Characters of a message that are looked for in memory."""


def earlier_query(text: str) -> str:
    """What to look for in memory before a message is answered; empty where it goes on from nothing
    that was said before.
    """
    said = " ".join(text.split())
    return said[:_REACHES] if _EARLIER.search(said) else ""
