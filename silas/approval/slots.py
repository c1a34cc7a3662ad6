"""What may stand in the slot of a grant: a table of types, each a small strict check.

Strict means: the value is of the type and nothing else is in it. An integer is no text with digits,
an email address has no display name, and a URL brings no credentials.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from silas.language import tr_later

LIST_OF: Final = "list of "
"""`list of email`: a list whose every item is of the type."""

MAX_ITEMS: Final = 20
"""Items of a list where the plan does not say how many: as many as a person reads."""

MOST_ITEMS: Final = 1000
"""Items of a list that a plan may allow at most."""

_EXACT: Final = 1 << 53
"""Beyond it readers of JSON disagree about which number is meant."""

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
_DATETIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
)
_ATOM: Final = r"[A-Za-z0-9_][A-Za-z0-9_+&'=~-]*"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL: Final = re.compile(rf"(?P<local>{_ATOM}(?:\.{_ATOM})*)@{_LABEL}(?:\.{_LABEL})+")
_PLACE: Final = re.compile(rf"(?P<host>{_LABEL}(?:\.{_LABEL})*)(?::[0-9]{{1,5}})?")
_URL: Final = re.compile(r"https?://[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+")
"""Printable ASCII but for blanks and `"<>\\^{|}` and the grave accent."""


class SlotType(NamedTuple):
    """One row of the table.

    Attributes:
        words: What the card calls it.
        fits: Whether a value is of the type; total for any JSON.
        chars: The greatest length where the plan does not say one; 0 where the type is no text or
            has a length of its own.
        most: The greatest length that a plan may allow; 0 as above.
    """

    words: str
    fits: Callable[[object], bool]
    chars: int = 0
    most: int = 0


def slot_type(kind: str) -> SlotType:
    """The row of a type, or of the items of a list. Raises `KeyError` for what is no type."""
    return SLOT_TYPES[kind.removeprefix(LIST_OF)]


def _text_that(fits: Callable[[str], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and bool(value) and fits(value)


def _has_no(categories: frozenset[str], allowed: str = "") -> Callable[[str], bool]:
    return lambda text: all(c in allowed or unicodedata.category(c) not in categories for c in text)


def _boolean(value: object) -> bool:
    return isinstance(value, bool)


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _EXACT


def _number(value: object) -> bool:
    # NaN and the infinities fail the comparison
    return _integer(value) or (isinstance(value, float) and abs(value) <= _EXACT)


def _read_by(shape: re.Pattern[str], read: Callable[[str], object]) -> Callable[[object], bool]:
    """Text of a shape that also names a moment there is: no 30th of February."""

    def fits(text: str) -> bool:
        if shape.fullmatch(text) is None:
            return False
        try:
            read(text)
        except ValueError:
            return False
        return True

    return _text_that(fits)


def _email(text: str) -> bool:
    found = _EMAIL.fullmatch(text) if len(text) <= 254 else None
    return found is not None and len(found["local"]) <= 64


def _url(text: str) -> bool:
    if _URL.fullmatch(text) is None:
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    place = _PLACE.fullmatch(parts.netloc)  # no credentials, no bracket, no other alphabet
    return place is not None and len(place["host"]) <= 253 and port != 0


def _path(text: str) -> bool:
    return (
        text.isprintable() and not text.startswith(("~", "-", " ")) and ".." not in text.split("/")
    )


def _identifier(text: str) -> bool:
    return text.isprintable() and not any(map(str.isspace, text))


_CONTROLS: Final = frozenset({"Cc", "Cs"})
_BREAKS: Final = frozenset({*_CONTROLS, "Zl", "Zp"})

SLOT_TYPES: Final[Mapping[str, SlotType]] = {
    "text": SlotType(tr_later("text"), _text_that(_has_no(_CONTROLS, "\n\r\t")), 2000, 100_000),
    "line": SlotType(tr_later("one line of text"), _text_that(_has_no(_BREAKS)), 200, 2000),
    "number": SlotType(tr_later("a number"), _number),
    "integer": SlotType(tr_later("a whole number"), _integer),
    "boolean": SlotType(tr_later("true or false"), _boolean),
    "date": SlotType(tr_later("a date like 2026-01-31"), _read_by(_DATE, date.fromisoformat)),
    "time": SlotType(tr_later("a time like 09:30"), _read_by(_TIME, time.fromisoformat)),
    "datetime": SlotType(
        tr_later("a date and time like 2026-01-31T09:30"),
        _read_by(_DATETIME, datetime.fromisoformat),
    ),
    "email": SlotType(tr_later("one email address"), _text_that(_email)),
    "url": SlotType(tr_later("a web address"), _text_that(_url), 2000, 8000),
    "path": SlotType(tr_later("a path without `..`"), _text_that(_path), 1000, 4096),
    "identifier": SlotType(tr_later("one word without blanks"), _text_that(_identifier), 128, 512),
}
"""Every type of a slot; there is no other."""
