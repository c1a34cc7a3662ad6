"""That a goal's approval covers nothing any more, because what it binds is not as it was (D305)."""

from collections.abc import Awaitable, Callable

from silas.language import tr
from silas.plans.models import WorkItem

Lapsed = Callable[[WorkItem], Awaitable[str]]
"""Why an item's approval covers nothing as things are now; see `PlanBinding.lapsed`."""


def lapse_words(why: str) -> str:
    """Why a goal does nothing, and what to do.

    Args:
        why: What is not as it was, in one sentence.
    """
    words = why.rstrip(".").removesuffix(tr("; ask again"))  # it is said what to do below
    return tr("{why}; run its plan again to approve it as it is now.", why=words)
