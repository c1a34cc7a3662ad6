"""Words that the owner gives to be remembered as they stand, by whatever door (spec 3.2, 5.12)."""

from silas.errors import MemoryRefused
from silas.memory.port import OpBasis
from silas.types import OWNER, TaintLevel

LONGEST_WORDS = 4_000
"""Characters that are taken at once, at every door alike."""


def checked_words(text: str) -> str:
    """The words without the space around them.

    Raises:
        MemoryRefused: There are none, or more than are taken at once (`E_MEM_WORDS`).
    """
    words = text.strip()
    if not words:
        raise _words_error("There is nothing to remember: the text is empty. Give the words.")
    if len(words) > LONGEST_WORDS:
        raise _words_error(
            f"The text has {len(words):,} characters, and a memory holds {LONGEST_WORDS:,}; "
            "give it in parts."
        )
    return words


def owners_own(source: str) -> OpBasis:
    """Nothing but the owner's own words is in view, and they are what is to be remembered."""
    return OpBasis(
        scope_id=OWNER,
        session_id="",
        taint=TaintLevel.owner,
        sources=(source,),
        owners_words=True,
        owner_asks=True,
    )


def _words_error(words: str) -> MemoryRefused:
    return MemoryRefused(words, code="E_MEM_WORDS", scope_id=OWNER)
