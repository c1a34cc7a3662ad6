"""Questions in German, as the English ones that this package computes: whole or not at all."""

import re
from collections.abc import Mapping
from typing import Final

_WHOLE: Final[tuple[tuple[str, str], ...]] = (
    (
        r"(?:wie spät ist es|wie ?viel uhr (?:ist|haben wir)(?: es)?)(?: jetzt| gerade)?",
        "what time is it",
    ),
    (
        r"(?:welche[rsn]? (?:wochen)?tag|welches datum|was für ein tag|de[nr] wievielten?)"
        r"(?: ist| haben wir)? heute"
        r"|was (?:ist|haben wir) heute für ein(?:en)? (?:wochentag|tag|datum)"
        r"|(?:den wievielten|welchen tag) haben wir(?: heute)?",
        "what day is it today",
    ),
    (
        r"wie viele tage (?:sind es (?:noch )?)?(?:noch )?bis (?:zum |zur )?(?P<day>.+)",
        "how many days until {day}",
    ),
    (
        r"wie viele wochen (?:sind es (?:noch )?)?(?:noch )?bis (?:zum |zur )?(?P<day>.+)",
        "how many weeks until {day}",
    ),
    (r"wie lange (?:ist es )?(?:noch )?bis (?:zum |zur )?(?P<day>.+)", "how many days until {day}"),
    (r"wann ist (?P<day>.+)", "when is {day}"),
    (r"(?:wie ?viele?|was) (?:sind|ist|macht|machen) (?P<units>.+ in .+)", "{units}"),
    (r"(?:rechne|wandle) (?P<units>\d.* in .+?)(?: um)?", "{units}"),
    (r"(?P<units>\d[\d.,]* [a-zß° ]+ in [a-zß° ]+)", "{units}"),
    (r"(?:wie ?viel|was) (?:ist|sind|macht|ergibt) (?P<sum>.*\d.*)", "what is {sum}"),
    (r"(?:rechne|berechne) (?P<sum>.*\d.*)", "what is {sum}"),
)
_FORMS: Final = tuple((re.compile(form, re.IGNORECASE), english) for form, english in _WHOLE)

_DAYS: Final[Mapping[str, str]] = {
    "heiligabend": "christmas eve",
    "weihnachten": "christmas",
    "silvester": "new year's eve",
    "neujahr": "new year's day",
    "ostern": "easter",
    "ostersonntag": "easter sunday",
    "ostermontag": "easter monday",
    "karfreitag": "good friday",
    "pfingsten": "pentecost",
    "christi himmelfahrt": "ascension day",
    "nächstes jahr": "next year",
    "nächsten jahres": "next year",
    "dieses jahr": "this year",
    "heute": "today",
    "morgen": "tomorrow",
    "übermorgen": "the day after tomorrow",
    "montag": "monday",
    "dienstag": "tuesday",
    "mittwoch": "wednesday",
    "donnerstag": "thursday",
    "freitag": "friday",
    "samstag": "saturday",
    "sonntag": "sunday",
    "januar": "january",
    "jänner": "january",
    "februar": "february",
    "märz": "march",
    "mai": "may",
    "juni": "june",
    "juli": "july",
    "oktober": "october",
    "dezember": "december",
}
_SUMS: Final[Mapping[str, str]] = {
    "mal": "times",
    "minus": "minus",
    "geteilt durch": "divided by",
    "durch": "divided by",
    "prozent": "%",
    "von": "of",
    "und": "plus",
    "hoch": "to the power of",
}
_UNITS: Final[Mapping[str, str]] = {
    "meile": "mile",
    "meilen": "miles",
    "kilometern": "kilometers",
    "metern": "meters",
    "zentimeter": "centimeters",
    "zoll": "inches",
    "fuß": "feet",
    "unzen": "ounces",
    "kilo": "kilograms",
    "kilogramm": "kilograms",
    "gramm": "grams",
    "tassen": "cups",
    "tasse": "cup",
    "litern": "liters",
    "grad celsius": "celsius",
    "grad fahrenheit": "fahrenheit",
    "stunde": "hour",
    "stunden": "hours",
    "minuten": "minutes",
    "sekunden": "seconds",
}
_WORDS: Final = {"day": _DAYS, "sum": _SUMS, "units": _UNITS}


def in_english(said: str) -> str | None:
    """The English question for a German one; None where it is none of these.

    Args:
        said: A request without its courtesies.
    """
    for form, english in _FORMS:
        if (found := form.fullmatch(said)) is not None:
            given = {
                name: _translate_value(name, value) for name, value in found.groupdict().items()
            }
            words = english.format(**given)
            # nothing in it was German: small letters alone would make another unit of "Mb"
            return None if words.casefold() == said.casefold() else words
    return None


def _translate_value(kind: str, value: str) -> str:
    """Its words in English; in a number the comma is the decimal point, and the point groups."""
    text = value.lower()
    if kind == "day":
        text = re.sub(r"(\d)\. (?=[a-zä])", r"\1 ", text)
    else:
        text = re.sub(r"(?<=\d)\.(?=\d{3}(?!\d))", "", text)
        text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    for german, english in _WORDS[kind].items():
        text = re.sub(rf"(?<!\w){german}(?!\w)", english, text)
    return text
