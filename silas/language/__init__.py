"""The owner's language: every sentence of cards and results, and the catalogue of the cockpit's."""

from silas.language.catalogue import (
    ENGLISH,
    LANGUAGES,
    as_part,
    language_of,
    speak,
    spoken,
    tr,
    tr_later,
    tr_many,
)

__all__ = [
    "ENGLISH",
    "LANGUAGES",
    "as_part",
    "language_of",
    "speak",
    "spoken",
    "tr",
    "tr_later",
    "tr_many",
]
