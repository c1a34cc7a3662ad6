"""Numbers as words, in English and German, as far as times and dates use them."""

from typing import Final

NUMBERS: Final[dict[str, int]] = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "twenty-five": 25, "thirty": 30, "thirty-five": 35, "forty": 40, "forty-five": 45, "fifty": 50,
    "sixty": 60, "ninety": 90, "a couple of": 2,
    "ein": 1, "eine": 1, "einer": 1, "einem": 1, "einen": 1, "eins": 1, "zwei": 2, "drei": 3,
    "vier": 4, "fünf": 5, "fuenf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "elf": 11, "zwölf": 12, "zwoelf": 12, "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15,
    "sechzehn": 16, "siebzehn": 17, "achtzehn": 18, "neunzehn": 19, "zwanzig": 20,
    "fünfundzwanzig": 25, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfundvierzig": 45,
    "fünfzig": 50, "sechzig": 60, "neunzig": 90,
}  # fmt: skip

_GERMAN_ORDINALS: Final = {
    "erst": 1, "zweit": 2, "dritt": 3, "viert": 4, "fünft": 5, "sechst": 6, "letzt": -1,
}  # fmt: skip

ORDINALS: Final[dict[str, int]] = {
    "first": 1, "second": 2, "other": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6,
    "last": -1,
} | {
    f"{stem}e{ending}": value
    for stem, value in _GERMAN_ORDINALS.items()
    for ending in ("n", "r", "s", "m", "")
}  # fmt: skip


def words_of(table: dict[str, int]) -> str:
    """A regular expression for the words of a table, the longest first."""
    return "|".join(sorted(table, key=len, reverse=True)).replace(" ", r"\s+")


NUMBER: Final = rf"(?:\d{{1,4}}|{words_of(NUMBERS)})"
"""A number, in digits or as a word."""

ORDINAL: Final = rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.)|{words_of(ORDINALS)})"
"""A place in an order; the last is -1."""


def number_of(word: str) -> int:
    """The value of what `NUMBER` or `ORDINAL` found."""
    plain = " ".join(word.lower().split())
    digits = plain.rstrip("stndrh.")
    if digits.isdecimal():
        return int(digits)
    return NUMBERS[plain] if plain in NUMBERS else ORDINALS[plain]
