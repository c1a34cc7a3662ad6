"""That a goal's approval covers nothing any more, because what it binds is not as it was (D305)."""

from collections.abc import Awaitable, Callable
from typing import Final

from silas.language import RUN_AS_IT_IS, RUN_UNDER_ANOTHER_ID, tr
from silas.plans.models import WorkItem

Lapsed = Callable[[WorkItem], Awaitable[str]]
"""Why an item's approval covers nothing as things are now, and what to do; else nothing."""


NOT_SIGNED: Final = frozenset({"E_APPROVAL_SIGNATURE", "E_APPROVAL_TOKEN_ID"})
"""Verdicts on a stored approval that nobody signed. It does not tell which plan was approved, so
that may be another one than what is stored, and its id taken.
"""


def lapse_words(why: str, code: str = "") -> str:
    """Why a goal does nothing, and what to do.

    Args:
        why: What is not as it was, in one sentence.
        code: Of the verdict that says so.
    """
    words = why.rstrip(".").removesuffix(tr("; ask again"))  # it is said what to do below
    if code in NOT_SIGNED:
        return tr("{why}; {way}", why=words, way=tr(RUN_UNDER_ANOTHER_ID))
    return tr("{why}; {way}", why=words, way=tr(RUN_AS_IT_IS))
