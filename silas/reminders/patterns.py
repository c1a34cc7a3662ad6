"""What words for times look like, in English and German: the parts that a phrase is made of."""

import re
from typing import Final, NamedTuple

from silas.reminders.numerals import NUMBER, ORDINAL

WEEKDAYS: Final[dict[str, int]] = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5,
    "sunday": 6, "mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6,
    "montag": 0, "dienstag": 1, "mittwoch": 2, "donnerstag": 3, "freitag": 4, "samstag": 5,
    "sonnabend": 5, "sonntag": 6,
}  # fmt: skip

UNITS: Final[dict[str, str]] = {
    "second": "seconds", "sekunde": "seconds",
    "minute": "minutes", "min": "minutes",
    "hour": "hours", "hr": "hours", "h": "hours", "stunde": "hours", "std": "hours",
    "day": "days", "tag": "days",
    "week": "weeks", "woche": "weeks", "fortnight": "fortnights",
    "month": "months", "monat": "months",
    "year": "years", "jahr": "years",
}  # fmt: skip

PARTS_OF_DAY: Final[dict[str, tuple[int, bool]]] = {
    "morning": (9, False), "morgens": (9, False), "früh": (8, False), "vormittag": (10, False),
    "afternoon": (15, True), "nachmittag": (15, True), "evening": (19, True), "abend": (19, True),
    "night": (21, True), "nacht": (21, True), "tonight": (20, True), "mittag": (12, True),
    "lunchtime": (12, True), "morgen": (9, False),
}  # fmt: skip
"""Each word's hour where none is said, and whether a bare hour there is one of the afternoon."""

MONTH = (
    r"(?:jan(?:uary|uar)?|jän(?:ner)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|"
    r"juni|july?|juli|aug(?:ust)?|sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|"
    r"de[cz](?:ember)?)\b\.?"
)
WEEKDAY = r"(?:" + "|".join(sorted(WEEKDAYS, key=len, reverse=True)) + r")\b"
UNIT = (
    r"(?:seconds?|sekunden?|minutes?|minuten?|mins?|hours?|hrs?|h|stunden?|std|days?|tag(?:en?)?|"
    r"weeks?|wochen?|fortnights?|months?|monat(?:en?|s)?|years?|jahr(?:en?)?)\b"
)
_PART = (
    r"(?:morning|afternoon|evening|night|lunchtime|früh|(?:vor|nach)?mittags?|abends?|nachts?|"
    r"morgens)\b"
)
DATE = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}\.\s?\d{{1,2}}\.(?:\s?\d{{4}}|\s?\d{{2}}\b)?|"
    rf"\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.)?\s*(?:of\s+)?{MONTH}(?:,?\s+\d{{4}})?|"
    rf"{MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?)"
)
_OF_MONTH = r"(?:of\s+(?:the|every|each)\s+month|im\s+monat|de[sr]\s+monats|jedes\s+monats)"
ABOUT: Final = r"(?:about|approximately|approx\.?|roughly|circa|ca\.?|etwa|ungefähr|so)"
"""What says that a time is not meant to the minute; it is taken at its word."""

_AT = rf"(?:(?:{ABOUT}\s+)?(?:at|um|gegen|around|by|@)\s*(?:(?:{ABOUT}|around)\s+)?)"
_MERIDIEM = r"(?:[ap]\.?m\b\.?)"


class PhrasePattern(NamedTuple):
    """What one part of a phrase looks like, and what it is."""

    kind: str
    expression: re.Pattern[str]


def _pattern(kind: str, expression: str) -> PhrasePattern:
    return PhrasePattern(kind, re.compile(expression, re.IGNORECASE))


PATTERNS: Final = (
    _pattern(
        "in",
        rf"in\s+(?P<minus>minus\s+|[-−–]\s*)?"
        rf"(?P<half>half\s+an?|einer\s+halben|(?:anderthalb|eineinhalb)|\d{{5,12}}|{NUMBER}"
        rf"(?:\s+and\s+a\s+half)?)\s*(?P<unit>{UNIT})(?P<andhalf>\s+and\s+a\s+half)?"
        rf"(?:\s*(?:and|und|,)?\s*(?P<more>{NUMBER})\s*(?P<moreunit>{UNIT}))?",
    ),
    _pattern(
        "every",  # the second Friday of every month, am letzten Freitag im Monat
        rf"(?:(?:on|every|each|jede[nrs]?|am)\s+)?(?:the\s+)?(?P<nth>{ORDINAL})\s+"
        rf"(?P<nthday>{WEEKDAY})\s+{_OF_MONTH}",
    ),
    _pattern(
        "every",  # on the 5th of every month, jeden Monat am 5.
        rf"(?:(?:on\s+the|am|every)\s+(?P<monthday>\d{{1,2}})(?:st|nd|rd|th|\.)\s+{_OF_MONTH}|"
        rf"(?:every|each|jeden?)\s+(?:month|monat)\s+(?:on|am)\s+(?:the\s+)?"
        rf"(?P<monthday2>\d{{1,2}})(?:st|nd|rd|th|\.))",
    ),
    _pattern(
        "every",  # every year on 3 May, every 3 May
        rf"(?:every|each|jede[ns]?)\s+(?:(?:year|jahr)\s+(?:on|am)\s+)?(?P<date>{DATE})",
    ),
    _pattern(
        "every",  # every second Friday, alle zwei Wochen, jeden Montag und Donnerstag
        rf"(?:every|each|jede[nrsm]?|alle)\s+(?:(?P<step>{ORDINAL}|{NUMBER})\s+)?"
        rf"(?:(?P<days>{WEEKDAY}s?(?:\s*(?:,|and|und|,\s*and)\s*{WEEKDAY}s?)*)|"
        rf"(?P<work>weekdays?|workdays?|(?:werk|arbeits)tag(?:en?)?\b)|"
        rf"(?P<weekend>weekends?|wochenenden?)|(?P<unit>{UNIT})|(?P<part>{_PART}|morgen|"
        rf"(?:vor|nach)mittag|abend))",
    ),
    _pattern(
        "every",  # every 31st, an jedem 31.
        r"(?:(?:on|an)\s+)?(?:every|each|jede[nm])\s+(?P<monthday>\d{1,2})(?:st|nd|rd|th|\.)"
        r"(?=[\s,;!?]|$)",
    ),
    _pattern(
        "every",
        r"(?P<adverb>daily|weekly|monthly|yearly|annually|hourly|täglich|wöchentlich|monatlich|"
        r"jährlich|stündlich|werktags|(?:on\s+)?weekdays)\b",
    ),
    _pattern(
        "until",
        rf"(?:until|till|bis(?:\s+zum)?)\s+(?:the\s+)?(?P<end>{DATE}|tomorrow|"
        rf"(?:next\s+)?{WEEKDAY})",
    ),
    _pattern(
        "clock",  # half past nine, halb zehn, Viertel nach drei
        rf"(?:{_AT})?(?:(?P<past>half|a?\s*quarter|{NUMBER}(?:\s+minutes?)?)\s+"
        rf"(?P<side>past|after|to|before)|"
        rf"(?P<halb>halb)|(?P<viertel>(?:viertel|{NUMBER}(?:\s+minuten)?)\s+(?:nach|vor)))\s+"
        rf"(?P<of>{NUMBER})\b(?:\s*(?P<meridiem>{_MERIDIEM}|uhr\b))?",
    ),
    _pattern(
        "clock",  # 9:30, 9.30 Uhr, at 9:30 pm
        rf"(?:{_AT})?\b(?P<hour>\d{{1,2}})[:h](?P<minute>\d{{2}})(?:\s*(?P<meridiem>{_MERIDIEM}|"
        r"uhr\b))?",
    ),
    _pattern(
        "clock",
        rf"(?:{_AT})?\b(?P<hour>\d{{1,2}})\.(?P<minute>\d{{2}})\s*(?P<meridiem>{_MERIDIEM}|uhr\b)",
    ),
    _pattern(
        "clock",  # 9 Uhr 30, nine o'clock, 9pm
        rf"(?:{_AT})?\b(?P<hour>{NUMBER})\s*(?P<meridiem>{_MERIDIEM}|uhr\b|o[’']?clock\b)"
        r"(?:\s*(?P<minute>\d{2})\b)?",
    ),
    _pattern("clock", r"(?:at\s+|um\s+)?\b(?P<named>noon|midday|midnight|mitternacht|mittags)\b"),
    _pattern(
        "day",  # Friday 13 May, Friday the 13th, Freitag, den 13.
        rf"(?:(?:on|am|den|the|this|next|diesen|nächsten)\s+)*(?P<named>{WEEKDAY}),?\s+"
        rf"(?:(?:the|den|dem)\s+)?(?:(?P<date>{DATE})|"
        r"(?P<monthday>\d{1,2})(?:st|nd|rd|th|\.)(?=[\s,;!?]|$))",
    ),
    _pattern("day", rf"(?:(?:on|am|den|the)\s+)*(?P<date>{DATE})"),
    _pattern(
        "day",
        r"(?P<plain>(?:the\s+)?day\s+after\s+tomorrow|today|tomorrow|tonight|yesterday|heute|übermorgen|gestern|"
        r"morgen)\b",
    ),
    _pattern(
        "day",
        rf"(?:(?:on|this|coming|next|the|am|diesen|kommenden|nächsten)\s+)*(?P<weekday>{WEEKDAY})"
        r"(?:\s+(?P<week>next\s+week|nächste[rn]?\s+woche))?",
    ),
    _pattern(
        "day",
        rf"(?P<week>next\s+week|nächste\s+woche)(?:\s+(?:on\s+|am\s+)?(?P<weekday>{WEEKDAY}))?",
    ),
    _pattern("day", r"(?P<month>next\s+month|nächsten\s+monat)\b"),
    _pattern("day", r"(?:on\s+the|am)\s+(?P<monthday>\d{1,2})(?:st|nd|rd|th|\.)(?=[\s,;!?]|$)"),
    _pattern(
        "part",
        rf"(?:(?:in\s+the|this|at|in\s+der|am|zu)\s+)?(?P<part>{_PART})|am\s+(?P<part2>morgen)\b",
    ),
    _pattern("clock", rf"{_AT}(?P<hour>{NUMBER})\b(?!\s*(?:{UNIT}|%|\d|people|leute))"),
)
"""In the order in which they are tried at a place: what is longer or says more stands first."""
