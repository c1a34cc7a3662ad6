"""English sentences stand in the code; a catalogue has them in another language (spec 0.5, 8.2).

A sentence that is not in the catalogue is said in English: a card shows everything in any language.
Only sentences of Silas's own go through `tr`; names, paths and anybody's text are values of it and
are never looked up.
"""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final

ENGLISH: Final = "en"

LANGUAGE_NAMES: Final = {ENGLISH: "English", "de": "German"}
"""What Silas speaks, by the codes of ISO 639-1, with the names that models know them by."""

LANGUAGES: Final = tuple(LANGUAGE_NAMES)

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides (POSIX)

_SPOKEN = {"language": ENGLISH}  # of the process, like a locale
_ASKED: Final[ContextVar[str]] = ContextVar("asked_language", default="")  # of one answer


class _Numbers(Formatter):
    """Numbers with separators, as every language here but English has them: `10.000`, `10,5 %`."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """As ever, with point and comma in each other's place."""
        written: str = super().format_field(value, format_spec)
        numeric = format_spec and isinstance(value, int | float)
        return written.translate(_SWAPPED) if numeric else written


_SWAPPED: Final = str.maketrans(",.", ".,")
_NUMBERS: Final = _Numbers()


def tr(english: str, **values: object) -> str:
    """A sentence in the owner's language, with its values in it.

    Args:
        english: The sentence as the catalogue has it, with `{name}` where a value stands.
        values: What stands there, as it is.
    """
    language = spoken_language()
    if language == ENGLISH:
        return english.format(**values) if values else english
    words = _catalogue(language).get(english, english)
    return _NUMBERS.vformat(words, (), values) if values else words


def tr_many(count: int, one: str, many: str) -> str:
    """How many of something: `one` or `many`, each with `{count}` in it.

    English and German tell one from all others; a language with more forms needs more than this.
    """
    return tr(one if count == 1 else many, count=group_digits(count))


def tr_later(english: str) -> str:
    """A sentence of a table that stands in a module: the catalogue has it, and `tr` says it."""
    return english


def decimal(number: float, places: int = 1) -> str:
    """A number with so many decimal places, as the owner's language writes it: `10.3` or `10,3`."""
    written = f"{number:.{places}f}"
    return written if spoken_language() == ENGLISH else written.replace(".", ",")


def group_digits(number: int) -> str:
    """A whole number in groups of three digits: `180,000` in English, `180.000` in German."""
    written = f"{number:,}"
    return written if spoken_language() == ENGLISH else written.replace(",", ".")


def as_part(heading: str) -> str:
    """A heading inside a sentence: in English without its capital; German keeps those of nouns."""
    return heading.lower() if spoken_language() == ENGLISH else heading


def speak(language: str) -> None:
    """Say everything from now on in this language; it is the whole process's, like a locale.

    Raises:
        ValueError: Silas does not speak it.
    """
    if language not in LANGUAGES:
        raise ValueError(f"Silas does not speak {language!r}; it speaks {', '.join(LANGUAGES)}")
    _SPOKEN["language"] = language


def spoken_language() -> str:
    """The code of the language in which `tr` answers."""
    return _ASKED.get() or _SPOKEN["language"]


@contextmanager
def speaking_as_asked(accepted: str) -> Generator[None]:
    """Speak, within this, the first language of an `Accept-Language` header that Silas speaks.

    For whoever has no session yet: what is said to the owner is in the language of Silas.
    """
    codes = (one.partition(";")[0].partition("-")[0].strip().lower() for one in accepted.split(","))
    token = _ASKED.set(next((code for code in codes if code in LANGUAGES), ""))
    try:
        yield
    finally:
        _ASKED.reset(token)


def language_of(environ: Mapping[str, str]) -> str:
    """The language of a locale as `LANG` names it (`de_DE.UTF-8`); English where it is no other."""
    locale = next((environ[name] for name in _VARIABLES if environ.get(name)), "")
    code = locale.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else ENGLISH


def speak_as_configured(language: str | None, environ: Mapping[str, str]) -> None:
    """Speak this from now on, or as the locale has it where the configuration names none."""
    speak(language or language_of(environ))


def ways_of_saying(english: str) -> tuple[str, ...]:
    """A sentence of a table in each language that Silas speaks."""
    others = (_catalogue(one).get(english, "") for one in LANGUAGES if one != ENGLISH)
    return (english, *(one for one in others if one))


@cache
def _catalogue(language: str) -> Mapping[str, str]:
    file = Path(__file__).with_name(f"{language}.json")
    return json.loads(file.read_text(encoding="utf-8"))
