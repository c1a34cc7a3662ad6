"""The owner's language: every sentence of cards and results, and the catalogue of the cockpit's."""

from silas.language.catalogue import (
    ENGLISH,
    LANGUAGE_NAMES,
    LANGUAGES,
    as_part,
    decimal,
    group_digits,
    language_of,
    speak,
    speak_as_configured,
    speaking_as_asked,
    spoken_language,
    tr,
    tr_later,
    tr_many,
)
from silas.language.doors import (
    COCKPIT,
    RUN_ANEW,
    RUN_AS_IT_IS,
    RUN_PLAN_AGAIN,
    RUN_PROJECT_AGAIN,
    RUN_UNDER_ANOTHER_ID,
    said_at,
)
from silas.language.refusal_words import refusal_words
from silas.language.retranslation import retell, retranslate

__all__ = [
    "COCKPIT",
    "ENGLISH",
    "LANGUAGES",
    "LANGUAGE_NAMES",
    "RUN_ANEW",
    "RUN_AS_IT_IS",
    "RUN_PLAN_AGAIN",
    "RUN_PROJECT_AGAIN",
    "RUN_UNDER_ANOTHER_ID",
    "as_part",
    "decimal",
    "group_digits",
    "language_of",
    "refusal_words",
    "retell",
    "retranslate",
    "said_at",
    "speak",
    "speak_as_configured",
    "speaking_as_asked",
    "spoken_language",
    "tr",
    "tr_later",
    "tr_many",
]
